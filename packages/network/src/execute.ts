/**
 * One run of a compiled model on bytes.
 */
import { encodeTensorData } from "@nnhal/backend";
import { createData, elementAt } from "@nnhal/operations";
import { type Compilation, Execution, NeuralNetworksError, ResultCode } from "@nnhal/runtime";
import { byteSize, elementsOf, type TensorShape } from "./tensor.ts";

/** The bytes of an input. */
export interface InputBytes {
  readonly bytes: Uint8Array;
  /** The extents, if the model leaves some open. */
  readonly shape?: readonly number[] | undefined;
}

/** An output with the shape that the run determined. */
export interface OutputBytes<Info extends TensorShape> {
  readonly info: Info;
  readonly bytes: Uint8Array;
}

/**
 * Runs once. `into`: memory for some outputs, which is used if its size is right. Rejects with a NeuralNetworksError. Outputs of open
 * shape have no room at first: the answer says how much they need, and the run is repeated.
 */
export async function execute<Info extends TensorShape>(
  compilation: Compilation,
  inputs: readonly InputBytes[],
  outputs: readonly Info[],
  into: readonly (Uint8Array | undefined)[] = [],
  mayGrow = true,
): Promise<OutputBytes<Info>[]> {
  const buffers = outputs.map((info, index) => {
    const given = into[index];
    const size = byteSize(info);
    return given?.length === size ? given : new Uint8Array(size);
  });
  const execution = new Execution(compilation);
  for (const [index, { bytes, shape }] of inputs.entries()) execution.setInput(index, bytes, shape);
  for (const [index, bytes] of buffers.entries()) execution.setOutput(index, bytes);
  const shapeOf = (index: number) =>
    execution.getOutputOperandRank(index) === 0 ? [] : execution.getOutputOperandDimensions(index);
  const shaped = () => outputs.map((info, index) => ({ ...info, shape: shapeOf(index) }));
  try {
    await execution.compute();
  } catch (error) {
    const isTooSmall = error instanceof NeuralNetworksError && error.code === ResultCode.OUTPUT_INSUFFICIENT_SIZE;
    if (isTooSmall && mayGrow) return execute(compilation, inputs, shaped(), into, false);
    throw error;
  }
  return shaped().map((info, index) => ({ info, bytes: elementAt(buffers, index).subarray(0, byteSize(info)) }));
}

/** Elements of the real value 0. */
export function zeros(info: TensorShape): Uint8Array {
  const { type, shape, zeroPoint } = info;
  const bytes = new Uint8Array(byteSize(info));
  // Elements of 64 bits are BigInts, and have no zero point.
  if (zeroPoint !== 0) encodeTensorData(type, createData(type, elementsOf(shape)).fill(zeroPoint), bytes);
  return bytes;
}
