/** The inputs of a run: bytes of a request, with the type that the model declares. */
import { byteLength, elementCount, ensure, formatShape, type TensorInfo, tensorInfo } from "@nnhal/operations";
import type { InputBuffer } from "./contract.ts";
import type { GraphView } from "./graph.ts";

/**
 * The facts of an input: the extents of the request and the type of the model. Throws an OperationError if the bytes are too few for the
 * extents, or if no description of the type is known.
 */
export function inputInfo(
  { operands }: Pick<GraphView, "operands">,
  index: number,
  { bytes, dimensions }: InputBuffer,
): TensorInfo {
  const operand = operands[index];
  ensure(operand !== undefined, () => `input operand ${index} is of an unknown extension type`);
  const needed = byteLength(operand.type, elementCount(dimensions));
  ensure(
    bytes.length >= needed,
    () => `input operand ${index} of shape ${formatShape(dimensions)} needs ${needed} bytes, not ${bytes.length}`,
  );
  return tensorInfo(operand, dimensions);
}
