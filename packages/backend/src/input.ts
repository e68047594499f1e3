/** The inputs of a run: bytes of a request, with the type that the model declares. */
import { byteLength, elementCount, ensure, formatShape, type TensorInfo } from "@nnhal/operations";
import type { InputBuffer } from "./contract.ts";
import type { GraphView } from "./graph.ts";

/**
 * The facts of an input: the extents of the request and the type of the model. Throws an OperationError if the bytes are too few for the
 * extents, or if the type is an extension's.
 */
export function inputInfo(
  { operands }: Pick<GraphView, "operands">,
  index: number,
  { bytes, dimensions }: InputBuffer,
): TensorInfo {
  const operand = operands[index];
  ensure(operand !== undefined, () => `input operand ${index} is of an extension type`);
  const { type, scale, zeroPoint, channelQuant } = operand;
  const needed = byteLength(type, elementCount(dimensions));
  ensure(
    bytes.length >= needed,
    () => `input operand ${index} of shape ${formatShape(dimensions)} needs ${needed} bytes, not ${bytes.length}`,
  );
  return { type, dimensions, scale, zeroPoint, ...(channelQuant && { channelQuant }) };
}
