/**
 * Allocating buffers for a device's prepared models (HAL 1.3 IDevice.allocate).
 */
import type { BackendBuffer, BackendSession } from "@nnhal/backend";
import {
  type AllocateResult,
  type BufferDesc,
  type BufferRole,
  ErrorStatus,
  type OperandTypeName,
  operandTypeNames,
  operandTypes,
  type PreparedModel,
} from "@nnhal/types";
import { type BufferOperand, describeBuffer, type PreparedModelRecord } from "@nnhal/validation";
import { formatIssues } from "../device/check-model.ts";
import { messageOf } from "../device/refusal.ts";
import { bufferInterface } from "./buffer.ts";
import { type BufferUses, type DeviceBuffer, sizeOf } from "./device-buffer.ts";
import { createStorage } from "./storage.ts";
import { type BufferTracker, createBufferTracker } from "./tracker.ts";

/** The buffers of one client of a device, and the prepared models that they can be for. */
export interface BufferDomain {
  /** The client's own prepared models. */
  readonly records: WeakMap<PreparedModel, PreparedModelRecord>;
  readonly buffers: BufferTracker<DeviceBuffer>;
}

/** A client's domain with nothing in it. */
export function createBufferDomain(): BufferDomain {
  return { records: new WeakMap(), buffers: createBufferTracker() };
}

/** Sizes above this do not fit in the HAL's 32 bits. */
const greatestSize = 0xffff_ffff;

/** Allocates a buffer. Never throws. */
export function allocate(
  { records, buffers }: BufferDomain,
  session: Pick<BackendSession, "allocate">,
  desc: BufferDesc,
  preparedModels: readonly (PreparedModel | null)[],
  inputRoles: readonly BufferRole[],
  outputRoles: readonly BufferRole[],
): AllocateResult {
  const known = Array.isArray(preparedModels) ? preparedModels.map((model) => recordOf(records, model)) : [];
  const { issues, operand } = describeBuffer({ desc, preparedModels: known, inputRoles, outputRoles });
  if (operand === undefined) return refuse(ErrorStatus.INVALID_ARGUMENT, formatIssues(issues));
  const type = operandTypeNames.get(operand.type);
  if (type === undefined || operandTypes[type].elementSize === 0) {
    return refuse(
      ErrorStatus.GENERAL_FAILURE,
      `operands of type ${type ?? operand.type} have no size that is known here`,
    );
  }
  const size = sizeOf(type, operand.dimensions) ?? 0;
  if (size > greatestSize) {
    return refuse(ErrorStatus.GENERAL_FAILURE, `a ${type} of ${operand.dimensions.join("x")} takes ${size} bytes`);
  }
  try {
    const storage = createStorage(placeFor(session, type, operand), size);
    const buffer: DeviceBuffer = {
      type,
      operand,
      roles: usesOf(known, inputRoles, outputRoles),
      storage,
      dimensions: operand.dimensions,
      initialised: false,
      isClosed: false,
    };
    const token = buffers.add(buffer, () => storage.release());
    const inHostMemory = storage.place === undefined;
    return {
      status: ErrorStatus.NONE,
      buffer: bufferInterface(buffer, () => closeBuffer(buffer, buffers)),
      token,
      ...(inHostMemory && { inHostMemory }),
    };
  } catch (error) {
    return refuse(ErrorStatus.GENERAL_FAILURE, `${size} bytes cannot be had: ${messageOf(error)}`);
  }
}

/** Frees a buffer and its token, once executions that use it have ended. */
function closeBuffer(buffer: DeviceBuffer, buffers: BufferDomain["buffers"]): void {
  if (buffer.isClosed) return;
  buffer.isClosed = true;
  buffers.remove(buffer);
  buffer.storage.release();
}

/** Frees all buffers of a domain. */
export function closeBuffers({ buffers }: BufferDomain): void {
  for (const buffer of buffers.living()) closeBuffer(buffer, buffers);
}

function recordOf(records: BufferDomain["records"], model: PreparedModel | null): PreparedModelRecord | null {
  const isObject = typeof model === "object" && model !== null;
  return isObject ? (records.get(model) ?? null) : null;
}

function placeFor(
  { allocate: inBackend }: Pick<BackendSession, "allocate">,
  type: OperandTypeName,
  { dimensions, scale, zeroPoint }: BufferOperand,
): BackendBuffer | undefined {
  return inBackend?.({ type, dimensions, scale, zeroPoint });
}

function usesOf(
  known: readonly (PreparedModelRecord | null)[],
  inputRoles: readonly BufferRole[],
  outputRoles: readonly BufferRole[],
): Map<PreparedModelRecord, BufferUses> {
  const uses = new Map<PreparedModelRecord, { inputs: Set<number>; outputs: Set<number> }>();
  const note = (side: "inputs" | "outputs", { modelIndex, ioIndex }: BufferRole) => {
    const record = known[modelIndex];
    if (record === null) return;
    let use = uses.get(record);
    if (use === undefined) {
      use = { inputs: new Set(), outputs: new Set() };
      uses.set(record, use);
    }
    use[side].add(ioIndex);
  };
  for (const role of inputRoles) note("inputs", role);
  for (const role of outputRoles) note("outputs", role);
  return uses;
}

function refuse(status: ErrorStatus, reason: string): AllocateResult {
  return { status, message: `allocating a buffer: ${reason}`, buffer: null, token: 0 };
}
