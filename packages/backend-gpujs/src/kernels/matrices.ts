/** Products of stacks of matrices. */
import type { KernelTensor } from "@nnhal/backend";
import { MOST_WHOLE } from "@nnhal/backend/float32";
import { integerRange, isFloat, type TensorInfo } from "@nnhal/operations";
import { literal, ravel } from "./_index.ts";
import { type GpujsTable, kernelOf } from "./_kernel.ts";
import { isTensor } from "./_pointwise.ts";
import { clampToRange, isQuantised, roundedAway, subtractZeroPoint } from "./_quantised.ts";

interface Matrices {
  readonly x: KernelTensor;
  readonly y: KernelTensor;
  readonly adjX: boolean;
  readonly adjY: boolean;
}

/** The most products of two bytes less their zero points whose sum float32 has exactly. */
const mostProducts = Math.floor(MOST_WHOLE / 255 ** 2);

const depthOf = ({ dimensions }: TensorInfo, isTransposed: boolean) => dimensions.at(isTransposed ? -2 : -1) ?? 1;

const batchMatmul = kernelOf({
  accepts: (type) => isFloat(type) || isQuantised(type),
  stored: true,
  refuse({ x, adjX }) {
    if (!isTensor(x) || isFloat(x.type)) return undefined;
    const depth = depthOf(x, adjX === true);
    if (depth <= mostProducts) return undefined;
    return `a sum of ${depth} products is not available for bytes; at most ${mostProducts} are, which float32 has exactly`;
  },
  prepare({ x, y, adjX, adjY }: Matrices, { output }: { readonly output: TensorInfo }, make) {
    const depth = depthOf(x, adjX);
    const [rows, columns] = output.dimensions.slice(-2);
    const batches = output.dimensions.slice(0, -2).reduce((product, extent) => product * extent, 1);
    const write = (writer: Parameters<Parameters<typeof make.output>[0]>[0]) => {
      const { read, at, index, line, variable } = writer;
      const [batch, row, column] = at;
      const sum = variable("0");
      const [lefts, rights] = [read(x), read(y)];
      writer.loop(depth, (place) => {
        const left = index(ravel([batch, row, place], adjX ? [rows * depth, 1, rows] : [rows * depth, depth, 1]));
        const right = index(
          ravel([batch, column, place], adjY ? [depth * columns, depth, 1] : [depth * columns, 1, columns]),
        );
        line(`${sum} += ${subtractZeroPoint(lefts(left), x)} * ${subtractZeroPoint(rights(right), y)};`);
      });
      if (isFloat(output.type)) return sum;
      const steps = writer.single(`${sum} * ${literal(Math.fround((x.scale * y.scale) / output.scale))}`);
      const whole = `${roundedAway(writer, steps)} + ${literal(output.zeroPoint)}`;
      return clampToRange(whole, integerRange(output.type));
    };
    return make.output(write, { dimensions: [batches, rows, columns] });
  },
});

export const matrixKernels = { BATCH_MATMUL: batchMatmul } satisfies GpujsTable;
