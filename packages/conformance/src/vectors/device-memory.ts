/**
 * Executing a request with every argument in a buffer of the device: inputs are copied to theirs before, outputs from
 * theirs afterwards.
 */
import { byteSize, elementAt } from "@nnhal/operations";
import {
  canonicalHalVersion,
  type DataLocation,
  ErrorStatus,
  type ExecutionResult,
  type IBuffer,
  isAidl,
  type Memory,
  type Operand,
  type Outcome,
  operandTypeNames,
  operandTypes,
  type Request,
  type RequestArgument,
  type RequestMemoryPool,
} from "@nnhal/types";
import type { PathRequest, PathResult } from "./path-request.ts";

/** An argument that lies in a buffer; undefined if it is omitted. */
type Moved = { readonly buffer: IBuffer; readonly token: number } | undefined;

/** Executes a request on buffers of the device. */
export async function executeOnDeviceMemory(path: PathRequest): Promise<PathResult> {
  if (path.device.allocate === undefined) return { unsupported: "the device has no memory of its own" };
  const moved: Moved[] = [];
  try {
    return await executeMoved(path, moved);
  } finally {
    for (const argument of moved) argument?.buffer.close?.();
  }
}

/** `moved`: takes up the buffers as they are allocated, those of inputs first. */
async function executeMoved(path: PathRequest, moved: Moved[]): Promise<PathResult> {
  const { preparedModel, request, options, model } = path;
  const { operands, inputIndexes, outputIndexes } = model.main;
  for (const [index, argument] of request.inputs.entries()) {
    const input = await allocate(path, argument, index, "input", elementAt(operands, elementAt(inputIndexes, index)));
    if (input !== undefined && "status" in input) return failPath(input);
    moved.push(input);
    const dimensions = extentsOf(argument, elementAt(operands, elementAt(inputIndexes, index)));
    const copied = await input?.buffer.copyFrom(memoryAt(request, argument.location), dimensions);
    if (copied !== undefined && copied.status !== ErrorStatus.NONE) return failCopy(path, argument.location, copied);
  }
  for (const [index, argument] of request.outputs.entries()) {
    const output = await allocate(
      path,
      argument,
      index,
      "output",
      elementAt(operands, elementAt(outputIndexes, index)),
    );
    if (output !== undefined && "status" in output) return failPath(output);
    moved.push(output);
  }
  const outputs = moved.slice(request.inputs.length);
  const result = await preparedModel.execute(requestOn(request, moved), options);
  return result.status === ErrorStatus.NONE ? copyOut(path, outputs, result) : result;
}

async function allocate(
  { device, preparedModel }: PathRequest,
  argument: RequestArgument,
  ioIndex: number,
  side: "input" | "output",
  operand: Operand,
): Promise<Moved | Outcome> {
  if (argument.hasNoValue) return undefined;
  const dimensions = extentsOf(argument, operand);
  const roles = [{ modelIndex: 0, ioIndex, frequency: 1 }];
  const [inputRoles, outputRoles] = side === "input" ? [roles, []] : [[], roles];
  const result = await device.allocate?.({ dimensions }, [preparedModel], inputRoles, outputRoles);
  if (result?.buffer) return { buffer: result.buffer, token: result.token };
  return { status: result?.status ?? ErrorStatus.GENERAL_FAILURE, message: result?.message ?? "nothing was allocated" };
}

/** The extents of an argument: those that the request states, or else the model. */
function extentsOf(argument: RequestArgument, operand: Operand): readonly number[] {
  return argument.dimensions.length > 0 ? argument.dimensions : operand.dimensions;
}

/** The request with each argument that is not omitted in a separate pool. */
function requestOn({ inputs, outputs }: Request, moved: readonly Moved[]): Request {
  const pools: RequestMemoryPool[] = [];
  const place = (argument: RequestArgument, position: number): RequestArgument => {
    const buffer = moved[position];
    if (buffer === undefined) return argument;
    const poolIndex = pools.push({ kind: "token", token: buffer.token }) - 1;
    return { ...argument, location: { poolIndex, offset: 0, length: 0 } };
  };
  return {
    inputs: inputs.map(place),
    outputs: outputs.map((argument, index) => place(argument, inputs.length + index)),
    pools,
  };
}

/** Copies outputs to where the request wants them. */
async function copyOut(
  { request, model, device }: PathRequest,
  outputs: readonly Moved[],
  result: ExecutionResult,
): Promise<PathResult> {
  const { operands, outputIndexes } = model.main;
  for (const [index, output] of outputs.entries()) {
    const shape = result.outputShapes[index];
    // The comparison finds that the answer lacks shapes.
    if (shape === undefined) return result;
    const length = valueSize(elementAt(operands, elementAt(outputIndexes, index)), shape.dimensions);
    const { location } = elementAt(request.outputs, index);
    // As the plain call does: bytes beyond the output stay as they are.
    if (length > location.length) return failPath({ status: ErrorStatus.OUTPUT_INSUFFICIENT_SIZE });
    const copied = await output?.buffer.copyTo(memoryAt(request, { ...location, length }));
    if (copied !== undefined && copied.status !== ErrorStatus.NONE) return failCopy({ device }, { length }, copied);
  }
  return result;
}

function valueSize({ type }: Operand, dimensions: readonly number[]): number {
  const name = operandTypeNames.get(type);
  return name === undefined ? 0 : byteSize(operandTypes[name], dimensions);
}

/** The result of a copy that failed. AIDL has no memory of 0 bytes, so that a driver of it cannot be given one. */
function failCopy(
  { device }: Pick<PathRequest, "device">,
  { length }: Pick<DataLocation, "length">,
  copied: Outcome,
): PathResult {
  const { halVersion = canonicalHalVersion } = device;
  const isUnsendable = length === 0 && isAidl(halVersion) && copied.status === ErrorStatus.INVALID_ARGUMENT;
  return isUnsendable ? { unsupported: "a memory of 0 bytes cannot be sent through AIDL" } : failPath(copied);
}

/** The part of a request's pool that an argument lies in. */
function memoryAt({ pools }: Request, { poolIndex, offset, length }: DataLocation): Memory {
  const pool = elementAt(pools, poolIndex);
  if (pool.kind !== "memory" || pool.memory.handle?.kind !== "buffer") {
    throw new TypeError(`pool ${poolIndex} of the request is not a buffer of this process`);
  }
  const { name, handle } = pool.memory;
  return { name, size: length, handle: { ...handle, byteOffset: handle.byteOffset + offset } };
}

function failPath({ status, message }: Outcome): PathResult {
  return { status, ...(message !== undefined && { message }), outputShapes: [] };
}
