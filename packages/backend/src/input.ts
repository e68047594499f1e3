/** What a run is given: bytes of a request as the tensor that the model declares. */
import {
  byteLength,
  decodeTensorData,
  elementCount,
  ensure,
  formatShape,
  type Tensor,
  type TensorInfo,
} from "@nnhal/operations";
import type { InputBuffer } from "./contract.ts";
import type { GraphView } from "./graph.ts";

/**
 * The tensor of an input, whose elements are a view on the bytes if their alignment allows it. Throws an OperationError if the
 * bytes are too few for its extents, or its type is an extension's.
 */
export function decodeInput(graph: Pick<GraphView, "operands">, index: number, input: InputBuffer): Tensor {
  const info = inputInfo(graph, index, input);
  return { ...info, data: decodeTensorData(info.type, input.bytes, elementCount(info.dimensions)) };
}

/** The facts of an input, and the same errors as `decodeInput`. */
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
