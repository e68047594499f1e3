/**
 * The multiply-adds of operators: of convolutions, matrix products and recurrent cells. All other operators have none.
 */
import type { TfliteOperator, TfliteSubgraph } from "../model.ts";

type Shape = readonly number[];

/** The shapes of an operator's tensors, and its options. */
interface Operands {
  readonly inputs: readonly (Shape | undefined)[];
  readonly output: Shape;
  readonly options: TfliteOperator["options"];
}

function size(shape: Shape): number {
  return shape.reduce((product, extent) => product * Math.max(extent, 0), 1);
}

/** For each element of the result, one filter without its first dimension. */
function filters({ inputs: [, filter = [0]], output }: Operands): number {
  return size(output) * size(filter.slice(1));
}

/** For each row of the input, all matrices of the cell once. */
function cell({ inputs: [input = [], ...others] }: Operands): number {
  const weights = others.filter((shape) => shape?.length === 2);
  return size(input.slice(0, -1)) * weights.reduce((sum, shape) => sum + size(shape ?? []), 0);
}

const counts: Readonly<Record<string, (operands: Operands) => number>> = {
  CONV_2D: filters,
  FULLY_CONNECTED: filters,
  DEPTHWISE_CONV_2D: ({ inputs: [, filter = [0]], output }) => size(output) * size(filter.slice(1, 3)),
  // Filters [units, height, width, depth]: each element of the input takes part in one for each unit.
  TRANSPOSE_CONV: ({ inputs: [, filter = [0], input = [0]] }) => size(input) * size(filter.slice(0, 3)),
  // Filters [depth, height, width, from, to].
  CONV_3D: ({ inputs: [, filter = [0]], output }) => size(output) * size(filter.slice(0, 4)),
  CONV_3D_TRANSPOSE: ({ inputs: [, filter = [0], input = [0]] }) => size(input) * size(filter.slice(0, 4)),
  BATCH_MATMUL: ({ inputs: [left = [0]], output, options }) =>
    size(output) * Math.max(left.at(options.adjX === true ? -2 : -1) ?? 0, 0),
  LSTM: cell,
  RNN: cell,
  SVDF: cell,
  UNIDIRECTIONAL_SEQUENCE_LSTM: cell,
  BIDIRECTIONAL_SEQUENCE_LSTM: cell,
  UNIDIRECTIONAL_SEQUENCE_RNN: cell,
  BIDIRECTIONAL_SEQUENCE_RNN: cell,
};

/** The multiply-adds of one execution of an operator, with the given shapes of tensors; an unknown extent counts as 0. */
export function multiplyAdds(
  { tensors }: TfliteSubgraph,
  { name, inputs, outputs, options }: TfliteOperator,
  usedShape: (tensor: number) => Shape | undefined = () => undefined,
): number {
  const shapeOf = (tensor: number) => usedShape(tensor) ?? tensors[tensor]?.shape;
  const count = counts[name];
  if (count === undefined) return 0;
  // State is multiplied with nothing.
  const shapes = inputs.map((index) => (tensors[index]?.isVariable ? undefined : shapeOf(index)));
  return count({ inputs: shapes, output: shapeOf(outputs[0] ?? -1) ?? [0], options });
}
