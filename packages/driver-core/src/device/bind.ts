/** Binds the arguments of a checked request to the backend's inputs and outputs, and stores the results afterwards. */
import type { InputBuffer, OutputBuffer, RunResult } from "@nnhal/backend";
import { combineDimensions, elementAt } from "@nnhal/operations";
import { ErrorStatus, type RequestArgument } from "@nnhal/types";
import { initialise, reset } from "../domains/device-buffer.ts";
import type { ModelRecord } from "../engine/record.ts";
import { sizeOf } from "../engine/value-size.ts";
import { failure, messageOf } from "../guard/refusal.ts";
import { type CheckedRequest, extentsOf, isDeviceBuffer, type Pool } from "./checked-request.ts";

/** Binds the inputs of a request; loads pools that are copies of files. Throws if loading fails. */
export function bindInputs(
  record: ModelRecord,
  { request, pools, bound }: CheckedRequest,
): readonly (InputBuffer | undefined)[] {
  if (bound !== undefined) return bound.inputs;
  return request.inputs.map((argument, index): InputBuffer | undefined => {
    if (argument.hasNoValue) return undefined;
    const { poolIndex, offset, length } = argument.location;
    const pool = elementAt(pools, poolIndex);
    const dimensions = extentsOf(record, elementAt(record.graph.inputs, index), argument);
    if (!isDeviceBuffer(pool)) {
      pool.load?.(offset, pool.opaque === undefined ? length : pool.bytes.length);
      const bytes = bytesAt(argument, pool);
      return pool.opaque === undefined ? { bytes, dimensions } : { bytes, dimensions, hardwareBuffer: pool.opaque };
    }
    const { bytes, place } = pool.storage;
    return { bytes, dimensions: pool.dimensions, ...(place && { buffer: place.place }) };
  });
}

/** Binds the outputs of a request. Throws OutOfMemory if there is no memory for a device buffer. */
export function bindOutputs(record: ModelRecord, { request, pools, bound }: CheckedRequest): readonly OutputBuffer[] {
  if (bound !== undefined) return bound.outputs;
  return request.outputs.map((argument, index): OutputBuffer => {
    const dimensions = extentsOf(record, elementAt(record.graph.outputs, index), argument);
    if (argument.hasNoValue) return { bytes: new Uint8Array(0), dimensions };
    const pool = elementAt(pools, argument.location.poolIndex);
    if (!isDeviceBuffer(pool)) {
      const bytes = bytesAt(argument, pool);
      return pool.opaque === undefined ? { bytes, dimensions } : { bytes, dimensions, hardwareBuffer: pool.opaque };
    }
    const { storage, operand, type } = pool;
    const known = combineDimensions(dimensions, operand.dimensions) ?? dimensions;
    storage.reserve(sizeOf(type, known) ?? 0);
    return { bytes: storage.bytes, dimensions: known, ...(storage.place && { buffer: storage.place.place }) };
  });
}

/**
 * The result of a run without running it, if all shapes of outputs are known and an output is too small; undefined if
 * it has to run. No time and memory are spent on a result that does not fit.
 */
export function shortOutput(
  record: ModelRecord,
  checked: CheckedRequest,
  outputs: readonly OutputBuffer[],
): RunResult | undefined {
  const { known } = checked;
  if (known?.isSufficient) return undefined;
  let short = -1;
  for (let index = 0; index < outputs.length; index++) {
    const fits = isSufficient(record, checked, outputs, index);
    if (fits === undefined) return undefined;
    if (!fits && short < 0) short = index;
  }
  if (short >= 0) return shortResult(record, checked, outputs, short);
  if (known !== undefined) known.isSufficient = true;
  return undefined;
}

/** Returns true if an output has room for its value; undefined if its shape is not known, or it is omitted. */
function isSufficient(
  { graph }: ModelRecord,
  { request }: CheckedRequest,
  outputs: readonly OutputBuffer[],
  index: number,
): boolean | undefined {
  const operand = graph.operands[elementAt(graph.outputs, index)];
  const { dimensions, bytes, buffer, hardwareBuffer } = elementAt(outputs, index);
  const needed = operand && sizeOf(operand.type, dimensions);
  if (needed === undefined || elementAt(request.outputs, index).hasNoValue) return undefined;
  return buffer !== undefined || hardwareBuffer !== undefined || needed <= bytes.length;
}

function shortResult(
  record: ModelRecord,
  checked: CheckedRequest,
  outputs: readonly OutputBuffer[],
  short: number,
): RunResult {
  const { dimensions, bytes } = elementAt(outputs, short);
  return {
    status: ErrorStatus.OUTPUT_INSUFFICIENT_SIZE,
    message: `output ${short} of shape [${dimensions}] does not fit its ${bytes.length} bytes`,
    outputShapes: outputs.map((output, index) => ({
      dimensions: output.dimensions,
      isSufficient: isSufficient(record, checked, outputs, index) === true,
    })),
  };
}

function bytesAt({ location }: RequestArgument, pool: Exclude<Pool, { storage: unknown }>): Uint8Array {
  // Offset and length of a hardware buffer's argument are 0: it is the whole buffer.
  if (pool.opaque !== undefined) return pool.bytes;
  const { offset, length } = location;
  const { bytes } = pool;
  return offset === 0 && length === bytes.length ? bytes : bytes.subarray(offset, offset + length);
}

/**
 * Enlarges device buffers that were too small. Returns whether that was the only reason for the failure, so that the
 * same run can succeed now; false if an output in another pool is too small.
 */
export function growOutputs({ written }: CheckedRequest, { status, outputShapes }: RunResult): boolean {
  if (status !== ErrorStatus.OUTPUT_INSUFFICIENT_SIZE) return false;
  let grown = false;
  for (const [index, { dimensions, isSufficient }] of outputShapes.entries()) {
    if (isSufficient) continue;
    const buffer = written.get(index);
    // A place in the backend's memory is always large enough.
    if (buffer === undefined || buffer.storage.place !== undefined) return false;
    const size = sizeOf(buffer.type, dimensions, true) ?? 0;
    if (size <= buffer.storage.bytes.length) return false;
    buffer.storage.reserve(size);
    grown = true;
  }
  return grown;
}

/** Stores results: writes files and marks device buffers as initialised, or as uninitialised if the run failed. */
export function settle(checked: CheckedRequest, result: RunResult): RunResult {
  if (checked.isPlain) return result;
  const settled = settledResult(checked, result);
  if (settled.status === ErrorStatus.NONE) {
    for (const [index, buffer] of checked.written)
      initialise(buffer, elementAt(settled.outputShapes, index).dimensions);
  } else resetOutputs(checked);
  return settled;
}

/** Marks the device buffers among the outputs as uninitialised. */
export function resetOutputs({ written }: CheckedRequest): void {
  for (const buffer of written.values()) reset(buffer);
}

function settledResult({ request, pools, written }: CheckedRequest, result: RunResult): RunResult {
  const { status, outputShapes } = result;
  if (status !== ErrorStatus.NONE) {
    const short = outputShapes.findIndex(({ isSufficient }, index) => !isSufficient && written.has(index));
    if (status !== ErrorStatus.OUTPUT_INSUFFICIENT_SIZE || short < 0) return result;
    return failWith(`output ${short} is too large for its device buffer`);
  }
  for (const [index, { operand }] of written) {
    const shape = outputShapes[index]?.dimensions;
    if (shape === undefined || combineDimensions(operand.dimensions, shape) === undefined) {
      return failWith(`output ${index} has dimensions [${shape}] where its device buffer has [${operand.dimensions}]`);
    }
  }
  for (const { hasNoValue, location } of request.outputs) {
    if (hasNoValue) continue;
    const pool = elementAt(pools, location.poolIndex);
    if (isDeviceBuffer(pool) || pool.store === undefined) continue;
    try {
      pool.store(location.offset, pool.opaque === undefined ? location.length : pool.bytes.length);
    } catch (error) {
      return failWith(`request pool ${location.poolIndex}: ${messageOf(error)}`);
    }
  }
  return result;
}

function failWith(message: string): RunResult {
  return { ...failure(message), outputShapes: [] };
}
