/**
 * Allocating buffers for a device's prepared models (HAL 1.3 IDevice.allocate).
 */
import { elementAt, operandTypeText, type TensorInfo, tensorInfo, typeText } from "@nnhal/operations";
import {
  type AllocateResult,
  type BufferRole,
  ErrorStatus,
  type Model,
  type Operand,
  type PreparedModel,
} from "@nnhal/types";
import { describeBuffer, sameExtraParams } from "@nnhal/validation";
import { bufferInterface } from "../domains/buffer.ts";
import type { BufferUses, DeviceBuffer } from "../domains/device-buffer.ts";
import { type BufferDomain, closeBuffer } from "../domains/domain.ts";
import { createStorage } from "../domains/storage.ts";
import type { Client } from "../engine/client.ts";
import type { GuardedSession } from "../engine/guarded-session.ts";
import type { ModelRecord } from "../engine/record.ts";
import { sizeOf } from "../engine/value-size.ts";
import { failedAllocation } from "../guard/failed.ts";
import { formatIssues } from "../guard/format-issues.ts";
import { messageOf } from "../guard/refusal.ts";
import type { AllocateArguments } from "./arguments.ts";

/** Sizes above this do not fit in the HAL's 32 bits. */
const greatestSize = 0xffff_ffff;

/** The parts that an allocation uses. */
export interface Allocator {
  readonly domain: BufferDomain;
  readonly session: Pick<GuardedSession, "allocate">;
  readonly client: Client;
}

/** Allocates a buffer. Never throws. */
export function allocate(
  { domain: { records, buffers, budget }, session, client }: Allocator,
  taken: AllocateArguments,
): AllocateResult {
  const { dimensions, inputRoles, outputRoles } = taken;
  const known = taken.preparedModels.map((model) => recordOf(records, model));
  const { issues, operand } = describeBuffer({ desc: { dimensions }, preparedModels: known, inputRoles, outputRoles });
  if (operand === undefined) return refuse(ErrorStatus.INVALID_ARGUMENT, formatIssues(issues));
  const users = [...usersOf(known, inputRoles, "inputs"), ...usersOf(known, outputRoles, "outputs")];
  const described = describeUsers(users);
  if (typeof described === "string") return refuse(ErrorStatus.GENERAL_FAILURE, described);
  const { type } = described;
  const size = sizeOf(type, operand.dimensions) ?? 0;
  if (size > greatestSize) {
    const shape = operand.dimensions.join("x");
    return refuse(ErrorStatus.GENERAL_FAILURE, `a ${typeText(type)} of ${shape} takes ${size} bytes`);
  }
  const place = session.allocate(tensorInfo(described, operand.dimensions));
  if (place !== undefined && "status" in place) {
    return refuse(ErrorStatus.GENERAL_FAILURE, `${size} bytes cannot be allocated: ${place.message}`);
  }
  try {
    const storage = createStorage(place, size, budget);
    const buffer: DeviceBuffer = {
      type,
      operand,
      roles: usesOf(known, inputRoles, outputRoles),
      storage,
      dimensions: operand.dimensions,
      initialised: false,
      isClosed: false,
      lateRuns: 0,
    };
    const token = buffers.add(buffer, () => storage.release());
    const inHostMemory = storage.place === undefined;
    return {
      status: ErrorStatus.NONE,
      buffer: bufferInterface(buffer, client, () => closeBuffer(buffer, buffers)),
      token,
      ...(inHostMemory && { inHostMemory }),
    };
  } catch (error) {
    // The HAL has no other status for a failed allocation.
    place?.close();
    return refuse(ErrorStatus.GENERAL_FAILURE, `${size} bytes cannot be allocated: ${messageOf(error)}`);
  }
}

function recordOf(records: BufferDomain["records"], model: unknown): ModelRecord | null {
  // Any other value in the list has no record.
  return (typeof model === "object" && model !== null && records.get(model as PreparedModel)) || null;
}

/** An operand that a buffer is for, and what its device knows of it. */
interface User {
  readonly operand: Operand;
  /** Undefined for a type of an unknown extension. */
  readonly info: TensorInfo | undefined;
  readonly prefixes: Model["extensionNameToPrefix"];
}

function usersOf(
  known: readonly (ModelRecord | null)[],
  roles: readonly BufferRole[],
  side: "inputs" | "outputs",
): User[] {
  return roles.flatMap(({ modelIndex, ioIndex }) => {
    const record = elementAt(known, modelIndex);
    if (record === null) return [];
    const { model, graph } = record;
    const index = elementAt(graph[side], ioIndex);
    const operand = elementAt(model.main.operands, index);
    return [{ operand, info: graph.operands[index], prefixes: model.extensionNameToPrefix }];
  });
}

/** The facts of a value for some users, or why the device has no memory for it. */
function describeUsers(users: readonly User[]): TensorInfo | string {
  const { operand, info, prefixes } = elementAt(users, 0);
  if (info === undefined || info.type === "OEM") {
    return `operands of type ${operandTypeText(operand.type, prefixes)} have no known size`;
  }
  // The HAL leaves extension data to the driver. A value has the parameters with which it was written.
  const isOne = users.every((user) => sameExtraParams(user.operand.extraParams, operand.extraParams));
  return isOne ? info : `the operands of the roles, of type ${typeText(info.type)}, have different extension data`;
}

function usesOf(
  known: readonly (ModelRecord | null)[],
  inputRoles: readonly BufferRole[],
  outputRoles: readonly BufferRole[],
): Map<ModelRecord, BufferUses> {
  const uses = new Map<ModelRecord, { inputs: Set<number>; outputs: Set<number> }>();
  const note = (side: "inputs" | "outputs", { modelIndex, ioIndex }: BufferRole) => {
    const record = elementAt(known, modelIndex);
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
  return failedAllocation({ status, message: `allocating a buffer: ${reason}` });
}
