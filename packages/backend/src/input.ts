/** The inputs of a run: bytes of a request, with the type that the model declares. */
import { byteLength, elementCount, formatShape, OperationError, type TensorInfo, tensorInfo } from "@nnhal/operations";
import type { InputBuffer } from "./contract.ts";
import type { GraphView, OperandView } from "./graph.ts";

/**
 * The facts of an input: the extents of the request and the type of the model. Throws an OperationError if the bytes are too few for the
 * extents, or if no description of the type is known.
 */
export function inputInfo(graph: Pick<GraphView, "operands">, index: number, input: InputBuffer): TensorInfo {
  return tensorInfo(checkInput(graph, index, input), input.dimensions);
}

/** The operand of an input. Throws as `inputInfo`. */
export function checkInput(
  { operands }: Pick<GraphView, "operands">,
  index: number,
  { bytes, dimensions }: InputBuffer,
): OperandView {
  const operand = operands[index];
  if (operand === undefined) throw new OperationError(`input operand ${index} is of an unknown extension type`);
  const needed = byteLength(operand.type, elementCount(dimensions));
  if (bytes.length >= needed) return operand;
  const shape = formatShape(dimensions);
  throw new OperationError(`input operand ${index} of shape ${shape} needs ${needed} bytes, not ${bytes.length}`);
}
