/** Functions of one 8-bit element as tables, computed by the reference itself: so they cannot differ from it. */
import {
  type AnyArgs,
  type AnyOutputs,
  createData,
  integerRange,
  type KernelContext,
  type Operation,
  runToEnd,
  type Tensor,
  type TensorInfo,
} from "@nnhal/operations";

/** All values of a type of 8 bits, by their bytes. */
function everyByte({ type }: TensorInfo): Uint8Array | Int8Array {
  const bytes = Uint8Array.from({ length: 256 }, (_, byte) => byte);
  return integerRange(type)[0] < 0 ? new Int8Array(bytes.buffer) : bytes;
}

/** For each byte of an input the byte of the output, by the kernel of an operation with one tensor. `args` are its other arguments. */
export function tableOf(
  { reference, name }: Pick<Operation, "reference" | "name">,
  input: TensorInfo,
  output: TensorInfo,
  args: AnyArgs = {},
): Uint8Array {
  if (reference === undefined) throw new TypeError(`${name} has no reference kernel`);
  const data = everyByte(input);
  const result = { ...output, dimensions: [256], data: createData(output.type, 256) };
  const context: KernelContext = { random: () => 0 };
  const record: AnyOutputs = { output: result };
  const tensor: Tensor = { ...input, dimensions: [256], data };
  runToEnd(reference({ ...args, input: tensor }, record, context));
  return new Uint8Array(result.data.buffer, result.data.byteOffset, 256);
}
