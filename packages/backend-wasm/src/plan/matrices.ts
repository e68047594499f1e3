/** Products of stacks of matrices. */
import type { KernelTensor } from "@nnhal/backend";
import { elementCount, integerRange, isFloat, type TensorInfo } from "@nnhal/operations";
import { addMove, type Builder, operandOf, outputOf, transpose, type Value } from "./builder.ts";
import { rowsOf } from "./convolution.ts";
import { awayFromZero, limit } from "./elements.ts";
import { accumulator } from "./expression.ts";
import { calc, convertFormula, type Formula, integer } from "./formula.ts";
import { fillTile, fillTileOfIntegers, finishedFloat, type LoweringTable } from "./lowering.ts";
import { addRoutine } from "./routine.ts";
import { addProduct, boundSums, type Sums } from "./weighted.ts";

/** The arguments of BATCH_MATMUL. */
export interface Matrices {
  readonly x: KernelTensor;
  readonly y: KernelTensor;
  readonly adjX: boolean;
  readonly adjY: boolean;
}

const zeros = (count: number) => new Array<number>(count).fill(0);

/** Sums of floats without a bias. */
export const floatSums: Sums = (builder, { weights, activation }) => ({
  bias: builder.constant(fillTile(zeros(weights.columns))),
  value: finishedFloat(activation),
});

/** Sums of integers as they are. */
export const wholeSums: Sums = (builder, { input, weights }) => {
  boundSums(input, [], weights);
  return { bias: builder.constant(fillTileOfIntegers(zeros(weights.columns))), value: accumulator("i32") };
};

/** The place of the matrix of an operand for each batch of the output. */
function matrixPlaces(own: readonly number[], batches: readonly number[]): number[] {
  const missing = batches.length - own.length;
  return Array.from({ length: elementCount(batches) }, (_, batch) => {
    let [rest, place, step] = [batch, 0, 1];
    for (let axis = batches.length - 1; axis >= missing; axis--) {
      const [extent = 1, ownExtent = 1] = [batches[axis], own[axis - missing]];
      if (ownExtent > 1) place += (rest % extent) * step;
      rest = Math.floor(rest / extent);
      step *= ownExtent;
    }
    return place;
  });
}

/** Adds a product for each matrix of an output, and returns `target`, which is filled with the results. Batches of one matrix are repeated. */
export function addProducts(
  builder: Builder,
  { x, y, adjX, adjY }: Matrices,
  output: TensorInfo,
  target: Value,
  sums: Sums,
): Value {
  const [lefts = [], rights = []] = [x, y].map(({ dimensions }) =>
    matrixPlaces(dimensions.slice(0, -2), output.dimensions.slice(0, -2)),
  );
  const [rows = 1, columns = 1] = output.dimensions.slice(-2);
  const depth = x.dimensions.at(adjX ? -2 : -1) ?? 1;
  const order = [...x.dimensions.keys()];
  const last = order.splice(-2).reverse();
  const value = adjX ? transpose(builder, builder.read(x), [...order, ...last], "BATCH_MATMUL") : builder.read(x);
  for (const [batch, left] of lefts.entries()) {
    const result = lefts.length === 1 ? target : builder.value(target.type, [rows, columns]);
    const weights = {
      filter: y,
      depth,
      columns,
      depthStep: adjY ? 1 : columns,
      columnStep: adjY ? depth : 1,
      first: (rights[batch] ?? 0) * depth * columns,
    };
    const weighted = { input: x, weights, bias: undefined, output, activation: 0, sums };
    addProduct(builder, "BATCH_MATMUL", weighted, rows, rowsOf(value, rows, depth, left * rows * depth), result);
    if (result === target) continue;
    const to = operandOf(target, [columns, 1], batch * rows * columns);
    addMove(builder, "BATCH_MATMUL", [rows, columns], operandOf(result, [columns, 1]), to);
  }
  return target;
}

/** Products of integers of 32 bits, which wrap. A unit is a row of the result. */
function addWrapping(builder: Builder, { x, y, adjX, adjY }: Matrices, output: TensorInfo): Value {
  const [rows = 1, columns = 1] = output.dimensions.slice(-2);
  const depth = x.dimensions.at(adjX ? -2 : -1) ?? 1;
  const target = outputOf(builder, output);
  const [lefts, rights] = [builder.read(x), builder.read(y)];
  const at = (first: Formula, ...steps: readonly (readonly [Formula, number])[]) =>
    steps.reduce((sum, [index, step]) => calc("add", sum, calc("mul", index, step)), first);
  addRoutine(builder, "BATCH_MATMUL", elementCount(output.dimensions) / columns, 4 * columns * depth, (routine) => {
    const [left, right, to] = [routine.read(lefts), routine.read(rights), routine.write(target)];
    const batch = routine.local(calc("div", routine.unit, rows));
    const row = routine.local(calc("rem", routine.unit, rows));
    const [rowStep, depthStep] = adjX ? [1, rows] : [depth, 1];
    const leftFirst = routine.local(at(calc("mul", batch, rows * depth), [row, rowStep]));
    const rightFirst = routine.local(calc("mul", batch, depth * columns));
    routine.each(0, columns, (column) => {
      const rightColumn = routine.local(at(rightFirst, [column, adjY ? depth : 1]));
      const sum = routine.local(integer(0));
      routine.each(0, depth, (place) => {
        const factors = [
          left.at(at(leftFirst, [place, depthStep])),
          right.at(at(rightColumn, [place, adjY ? 1 : columns])),
        ];
        routine.set(sum, calc("add", sum, calc("mul", ...factors)));
      });
      routine.store(to, at(column, [routine.unit, columns]), sum);
    });
  });
  return target;
}

/** Sums of products of bytes, in units of the output's scale: rounded once, halves away from 0, as the reference does in 64 bits. */
function addQuantised(builder: Builder, args: Matrices, output: TensorInfo): Value {
  const { scale, zeroPoint, dimensions, type } = output;
  const sums = addProducts(builder, args, output, builder.value("i32", dimensions), wholeSums);
  const target = outputOf(builder, output);
  const columns = dimensions.at(-1) ?? 1;
  const multiplier = (args.x.scale * args.y.scale) / scale;
  addRoutine(builder, "BATCH_MATMUL", elementCount(dimensions) / columns, 8 * columns, (routine) => {
    const [from, to] = [routine.read(sums), routine.write(target)];
    const first = routine.local(calc("mul", routine.unit, columns));
    routine.each(0, columns, (column) => {
      const place = routine.local(calc("add", first, column));
      const steps = routine.local(calc("mul", convertFormula("toReal", from.at(place)), multiplier));
      const rounded = routine.local(calc("add", awayFromZero(steps), zeroPoint));
      routine.store(to, place, limit(rounded, ...integerRange(type)));
    });
  });
  return target;
}

/** The lowering. `checkMatrices` of `deferred.ts` says what is refused. */
export const matrices: LoweringTable = {
  BATCH_MATMUL(args, { output }, builder) {
    if (output.type === "TENSOR_INT32") return addWrapping(builder, args, output);
    if (!isFloat(output.type)) return addQuantised(builder, args, output);
    return addProducts(builder, args, output, outputOf(builder, output), floatSums);
  },
};
