/** Reductions along axes, and the places of extremes. */
import type { KernelTensor } from "@nnhal/backend";
import { whyTooManyAlong } from "@nnhal/backend/float32";
import {
  type AnyOperandType,
  elementCount,
  extentProduct,
  integerRange,
  OperationError,
  resolveAxis,
  stridesOf,
  type TensorInfo,
} from "@nnhal/operations";
import { isExact } from "./_exact.ts";
import { literal, ravel } from "./_index.ts";
import { type GpujsTable, isReal, kernelOf } from "./_kernel.ts";
import { isTensor } from "./_pointwise.ts";
import { clampToRange, isQuantised, roundedAway, subtractZeroPoint } from "./_quantised.ts";

interface One {
  readonly output: TensorInfo;
}

interface Reduction {
  readonly start: number;
  /** The new value after the element `x`. */
  take(x: string): string;
  finish?(value: string, count: number): string;
  accepts?(type: AnyOperandType): boolean;
  /** True if quantised tensors are reduced as integers less their zero point, and rounded. Default: as real numbers. */
  readonly isMean?: boolean;
}

function reduction({ start, take: takeReal, finish = (value) => value, accepts = isReal, isMean = false }: Reduction) {
  const isWhole = (type: AnyOperandType) => isMean && isQuantised(type);
  return kernelOf({
    accepts,
    stored: ({ input }) => isTensor(input) && isWhole(input.type),
    leads: false,
    refuse: ({ input, axes }) =>
      isTensor(input) && isTensor(axes) && isWhole(input.type) ? whyTooManyAlong(input, axes) : undefined,
    prepare({ input, axes }: { readonly input: KernelTensor; readonly axes: KernelTensor }, { output }: One, make) {
      const { dimensions } = input;
      const take = isWhole(input.type) ? (x: string) => takeReal(subtractZeroPoint(x, input)) : takeReal;
      const along = new Set(Array.from(axes.data ?? [], (axis) => resolveAxis(axis, dimensions.length)));
      const all = dimensions.map((_, axis) => axis);
      const kept = all.filter((axis) => !along.has(axis));
      const reduced = all.filter((axis) => along.has(axis));
      const strides = stridesOf(dimensions);
      const extents = kept.map((axis) => dimensions[axis]);
      const count = elementCount(reduced.map((axis) => dimensions[axis]));
      const problem = isWhole(input.type) ? whyTooManyAlong(input, axes) : undefined;
      if (problem !== undefined) throw new OperationError(problem);
      return make.output(
        (writer) => {
          const { read, define, index, line, loop, at } = writer;
          const keptStrides = kept.map((axis) => strides[axis]);
          const first = index(ravel(at, keptStrides));
          line(`let value = ${literal(start)};`);
          const walk = (from: string, [axis, ...others]: readonly number[]): void => {
            if (axis === undefined) line(`value = ${take(define(read(input)(from)))};`);
            else loop(dimensions[axis], (i) => walk(ravel([from, i], [1, strides[axis]]), others));
          };
          walk(first, reduced);
          const value = finish("value", count);
          if (!isWhole(input.type)) return value;
          return clampToRange(`${roundedAway(writer, value)} + ${literal(input.zeroPoint)}`, integerRange(output.type));
        },
        { dimensions: extents.length === 0 ? [1] : extents },
      );
    },
  });
}

const isBoolean = (type: AnyOperandType) => type === "TENSOR_BOOL8";

/** The index of the first extreme along an axis. */
function extreme(isBetter: (x: string, best: string) => string) {
  return kernelOf({
    accepts: isExact,
    stored: true,
    leads: false,
    prepare({ input, axis }: { readonly input: KernelTensor; readonly axis: number }, _: One, make) {
      const { dimensions } = input;
      const along = resolveAxis(axis, dimensions.length);
      const inner = extentProduct(dimensions, along + 1);
      const extent = dimensions[along];
      return make.output(
        ({ read, define, index, line, loop, block, at }) => {
          const from = read(input);
          const first = index(ravel(at, [extent * inner, 1]));
          line(`let best = ${from(first)};\nlet place = 0;`);
          loop(extent, (i) => {
            const x = define(from(ravel([first, i], [1, inner])));
            block(`if (${isBetter(x, "best")})`, () => line(`best = ${x};\nplace = ${i};`));
          });
          return "place";
        },
        { dimensions: [extentProduct(dimensions, 0, along), inner] },
      );
    },
  });
}

export const reductionKernels = {
  ARGMAX: extreme((x, best) => `${x} > ${best}`),
  ARGMIN: extreme((x, best) => `${x} < ${best}`),
  MEAN: reduction({
    start: 0,
    take: (x) => `value + ${x}`,
    finish: (value, count) => `${value} / ${count}`,
    isMean: true,
  }),
  REDUCE_ALL: reduction({ start: 1, take: (x) => `value * ${x}`, accepts: isBoolean }),
  REDUCE_ANY: reduction({ start: 0, take: (x) => `Math.max(value, ${x})`, accepts: isBoolean }),
  REDUCE_MAX: reduction({ start: Number.NEGATIVE_INFINITY, take: (x) => `Math.max(value, ${x})`, accepts: isExact }),
  REDUCE_MIN: reduction({ start: Number.POSITIVE_INFINITY, take: (x) => `Math.min(value, ${x})`, accepts: isExact }),
  REDUCE_PROD: reduction({ start: 1, take: (x) => `value * ${x}` }),
  REDUCE_SUM: reduction({ start: 0, take: (x) => `value + ${x}` }),
} satisfies GpujsTable;
