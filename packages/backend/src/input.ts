/** What a run is given: bytes of a request as the tensor that the model declares. */
import { byteLength, decodeTensorData, elementCount, ensure, formatShape, type Tensor } from "@nnhal/operations";
import type { InputBuffer } from "./contract.ts";
import type { GraphView } from "./graph.ts";

/**
 * The tensor of an input, whose elements are a view on the bytes where their alignment allows it. Throws an OperationError where the
 * bytes are too few for its extents, or its type is an extension's.
 */
export function decodeInput(
  { operands }: Pick<GraphView, "operands">,
  index: number,
  { bytes, dimensions }: InputBuffer,
): Tensor {
  const operand = operands[index];
  ensure(operand !== undefined, () => `input operand ${index} is of an extension type`);
  const { type, scale, zeroPoint, channelQuant } = operand;
  const count = elementCount(dimensions);
  const needed = byteLength(type, count);
  ensure(
    bytes.length >= needed,
    () => `input operand ${index} of shape ${formatShape(dimensions)} needs ${needed} bytes, not ${bytes.length}`,
  );
  const data = decodeTensorData(type, bytes, count);
  return { type, dimensions, scale, zeroPoint, ...(channelQuant && { channelQuant }), data };
}
