/**
 * A request that has been checked: all rules that a request can break before it runs, and its pools, each mapped or found
 * by its token (HAL 1.3 IDevice.allocate for the rules of tokens).
 */
import type { InputBuffer, OutputBuffer } from "@nnhal/backend";
import { combineDimensions, elementAt } from "@nnhal/operations";
import type { Request, RequestArgument } from "@nnhal/types";
import { type DeviceBuffer, usedByLateRun } from "../domains/device-buffer.ts";
import type { ModelRecord } from "../engine/record.ts";
import { type KnownRequest, knownRequest, repeatedRequest } from "../guard/known-request.ts";
import { failure, invalid, type Refusal } from "../guard/refusal.ts";
import { formatName } from "../memory/hardware-buffer.ts";
import type { Mapping } from "../memory/mapping.ts";
import { mapPool } from "../memory/memory.ts";
import { takeRequest } from "./arguments.ts";
import type { DeviceContext } from "./context.ts";

/** A pool of a request: a mapped memory or a device buffer. */
export type Pool = Mapping | DeviceBuffer;

/** Returns true if a pool is a device buffer. */
export function isDeviceBuffer(pool: Pool): pool is DeviceBuffer {
  return "storage" in pool;
}

/** A request that has passed all checks and can run. */
export interface CheckedRequest {
  readonly request: Request;
  readonly pools: readonly Pool[];
  /** True if all pools are shared, writable bytes: no further checks and no storing of results are needed. */
  readonly isPlain: boolean;
  /** The device buffers among the outputs, by output; empty for most requests. */
  readonly written: ReadonlyMap<number, DeviceBuffer>;
  /** The request that it repeats, if its outputs are plain bytes. */
  readonly known: KnownRequest | undefined;
  /** Its arguments, if they are bound once for many runs. */
  readonly bound?: { readonly inputs: readonly (InputBuffer | undefined)[]; readonly outputs: readonly OutputBuffer[] };
}

const nothing: CheckedRequest["written"] = new Map();

/** Copies and checks a request. `allowUnspecifiedOutput`: whether the execution may compute the shapes of outputs. */
export function checkRequest(
  record: ModelRecord,
  given: Request,
  allowUnspecifiedOutput: boolean,
  context: DeviceContext,
): CheckedRequest | Refusal {
  const { knownRequest: known } = record;
  // Executions allow unspecified outputs, which fenced ones do not.
  const repeated = allowUnspecifiedOutput && known !== undefined ? repeatedRequest(given, known) : undefined;
  const request = repeated ?? validRequest(record, given, allowUnspecifiedOutput);
  if ("status" in request) return request;
  const pools: Pool[] = new Array(request.pools.length);
  let isPlain = true;
  for (let index = 0; index < request.pools.length; index++) {
    const pool = poolOf(request, index, context);
    if ("status" in pool) return pool;
    isPlain &&= isOrdinary(pool);
    pools[index] = pool;
  }
  if (isPlain) return { request, pools, isPlain, written: nothing, known: repeated && known };
  const refusal = checkUses(record, request, pools, context);
  return refusal ?? { request, pools, isPlain, written: findWritten(request, pools), known: undefined };
}

/** Copies and checks a request by the rules that need no memory. */
function validRequest(record: ModelRecord, given: Request, allowUnspecifiedOutput: boolean): Request | Refusal {
  const request = takeRequest(given, record, allowUnspecifiedOutput);
  if ("status" in request) return request;
  const omitted = omissionProblem(record, request);
  if (omitted !== undefined) return invalid(omitted);
  if (allowUnspecifiedOutput) record.knownRequest = knownRequest(request);
  return request;
}

/** Why a request must not omit an input that it omits. */
function omissionProblem({ mandatory, model }: ModelRecord, { inputs }: Request): string | undefined {
  for (let index = 0; index < inputs.length; index++) {
    if (!elementAt(inputs, index).hasNoValue || mandatory[index] === undefined) continue;
    return `input ${index} (operand ${model.main.inputIndexes[index]}) is omitted, and ${mandatory[index]}`;
  }
  return undefined;
}

/** Returns true if a pool is shared, writable bytes in a public layout. */
function isOrdinary(pool: Pool): boolean {
  if (isDeviceBuffer(pool)) return false;
  const { writable, opaque, load, store } = pool;
  return writable && opaque === undefined && load === undefined && store === undefined;
}

function poolOf({ pools }: Request, index: number, { domain }: DeviceContext): Pool | Refusal {
  const pool = elementAt(pools, index);
  if (pool.kind === "token") {
    const buffer = domain.buffers.get(pool.token);
    if (buffer !== undefined && buffer.lateRuns > 0) return failure(`request pool ${index}: ${usedByLateRun}`);
    return buffer ?? invalid(`request pool ${index}: token ${pool.token} is not a buffer of this client`);
  }
  const mapping = mapPool(pool.memory);
  return "unmappable" in mapping ? failure(`request pool ${index}: ${mapping.unmappable}`) : mapping;
}

function findWritten({ outputs }: Request, pools: readonly Pool[]): Map<number, DeviceBuffer> {
  const written = new Map<number, DeviceBuffer>();
  for (const [index, { hasNoValue, location }] of outputs.entries()) {
    if (hasNoValue) continue;
    const pool = elementAt(pools, location.poolIndex);
    if (isDeviceBuffer(pool)) written.set(index, pool);
  }
  return written;
}

/** Checks that every argument may lie in its pool. */
function checkUses(
  record: ModelRecord,
  { inputs, outputs }: Request,
  pools: readonly Pool[],
  context: DeviceContext,
): Refusal | undefined {
  /** By buffer, the argument that uses it: the first input, or an output. */
  const users = new Map<DeviceBuffer, string>();
  for (const [index, { hasNoValue, location }] of inputs.entries()) {
    if (hasNoValue) continue;
    const pool = elementAt(pools, location.poolIndex);
    const what = `input ${index}`;
    if (isDeviceBuffer(pool)) {
      if (!pool.roles.get(record)?.inputs.has(index)) return withoutRole(what);
      users.set(pool, what);
    } else {
      const refusal = checkMapping(pool, what, false, context);
      if (refusal !== undefined) return refusal;
    }
  }
  for (const [index, { hasNoValue, location, dimensions }] of outputs.entries()) {
    if (hasNoValue) continue;
    const pool = elementAt(pools, location.poolIndex);
    const what = `output ${index}`;
    if (!isDeviceBuffer(pool)) {
      const refusal = checkMapping(pool, what, true, context);
      if (refusal !== undefined) return refusal;
      continue;
    }
    if (!pool.roles.get(record)?.outputs.has(index)) return withoutRole(what);
    const other = users.get(pool);
    if (other !== undefined) return invalid(`${what} and ${other} are one device buffer: an output needs its own`);
    users.set(pool, what);
    if (combineDimensions(dimensions, pool.operand.dimensions) === undefined) {
      const shown = `[${dimensions}] where its device buffer has [${pool.operand.dimensions}]`;
      return invalid(`${what} has dimensions ${shown}`);
    }
  }
  return undefined;
}

function withoutRole(what: string): Refusal {
  return invalid(`${what} is a device buffer that was not allocated for ${what} of this prepared model`);
}

function checkMapping(
  { writable, opaque }: Mapping,
  what: string,
  isOutput: boolean,
  { session, name }: DeviceContext,
): Refusal | undefined {
  if (isOutput && !writable) return invalid(`${what} lies in memory that is not writable`);
  if (opaque === undefined) return undefined;
  const support = session.supportsHardwareBuffer(opaque);
  if (support.supported) return undefined;
  const buffer = `a hardware_buffer of format ${formatName(opaque.format)}`;
  return failure(`${what} lies in ${buffer}, which ${name} does not support: ${support.reason}`);
}

/**
 * Checks that the device buffers among the inputs have values of the request's dimensions. The result holds only for
 * this moment.
 */
export function checkInputs({ model }: ModelRecord, { request, pools }: CheckedRequest): Refusal | undefined {
  for (let index = 0; index < request.inputs.length; index++) {
    const { hasNoValue, location, dimensions } = elementAt(request.inputs, index);
    if (hasNoValue) continue;
    const pool = elementAt(pools, location.poolIndex);
    if (!isDeviceBuffer(pool)) continue;
    if (!pool.initialised) return failure(`input ${index} is a device buffer that has no value`);
    const known =
      dimensions.length > 0
        ? dimensions
        : elementAt(model.main.operands, elementAt(model.main.inputIndexes, index)).dimensions;
    if (combineDimensions(known, pool.dimensions) === undefined) {
      return invalid(`input ${index} has dimensions [${known}] where its device buffer holds [${pool.dimensions}]`);
    }
  }
  return undefined;
}

/** Returns the known extents of an argument: the request's, else the model's. */
export function extentsOf(record: ModelRecord, operand: number, { dimensions }: RequestArgument): readonly number[] {
  return dimensions.length > 0 ? dimensions : (record.graph.operands[operand]?.dimensions ?? []);
}
