/** Reductions along axes, and the places of extremes. */
import type { KernelTensor } from "@nnhal/backend";
import { extentProduct, resolveAxis, stridesOf, type TensorInfo } from "@nnhal/operations";
import type { OperandTypeName } from "@nnhal/types";
import { literal, ravel } from "./_code.ts";
import { isExact } from "./_exact.ts";
import { type GpujsKernel, isReal, kernelOf } from "./_kernel.ts";

interface One {
  readonly output: TensorInfo;
}

interface Reduction {
  readonly start: number;
  /** What the element `x` makes of `value`. */
  take(x: string): string;
  finish?(value: string, count: number): string;
  accepts?(type: OperandTypeName): boolean;
}

function reduction({ start, take, finish = (value) => value, accepts = isReal }: Reduction): GpujsKernel {
  return kernelOf({
    accepts,
    leads: false,
    prepare({ input, axes }: { readonly input: KernelTensor; readonly axes: KernelTensor }, _: One, make) {
      const { dimensions } = input;
      const along = new Set(Array.from(axes.data ?? [], (axis) => resolveAxis(axis, dimensions.length)));
      const all = dimensions.map((_, axis) => axis);
      const kept = all.filter((axis) => !along.has(axis));
      const reduced = all.filter((axis) => along.has(axis));
      const strides = stridesOf(dimensions);
      const extents = kept.map((axis) => dimensions[axis]);
      return make.output(
        ({ read, define, line, at }) => {
          const keptStrides = kept.map((axis) => strides[axis]);
          const first = define(ravel(at, keptStrides));
          const counters = reduced.map((axis) => `i${axis}`);
          const heads = reduced.map((axis) => `for (let i${axis} = 0; i${axis} < ${dimensions[axis]}; i${axis}++) {`);
          const offset = ravel(
            counters,
            reduced.map((axis) => strides[axis]),
          );
          line(`let value = ${literal(start)};\n${heads.join("\n")}`);
          line(
            `const x = ${read(input)(`${first} + ${offset}`)};\nvalue = ${take("x")};\n${"}".repeat(reduced.length)}`,
          );
          const count = reduced.reduce((product, axis) => product * dimensions[axis], 1);
          return finish("value", count);
        },
        { dimensions: extents.length === 0 ? [1] : extents },
      );
    },
  });
}

const isBoolean = (type: OperandTypeName) => type === "TENSOR_BOOL8";

/** The index of the first extreme along an axis. */
function extreme(isBetter: (x: string, best: string) => string): GpujsKernel {
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
        ({ read, define, line, at }) => {
          const from = read(input);
          const first = define(`${extent * inner} * ${at[0]} + ${at[1]}`);
          line(`let best = ${from(first)};\nlet place = 0;\nfor (let i = 1; i < ${extent}; i++) {`);
          line(
            `const x = ${from(`${first} + ${inner} * i`)};\nif (${isBetter("x", "best")}) {\nbest = x;\nplace = i;\n}\n}`,
          );
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
  MEAN: reduction({ start: 0, take: (x) => `value + ${x}`, finish: (value, count) => `${value} / ${count}` }),
  REDUCE_ALL: reduction({ start: 1, take: (x) => `value * ${x}`, accepts: isBoolean }),
  REDUCE_ANY: reduction({ start: 0, take: (x) => `Math.max(value, ${x})`, accepts: isBoolean }),
  REDUCE_MAX: reduction({ start: Number.NEGATIVE_INFINITY, take: (x) => `Math.max(value, ${x})`, accepts: isExact }),
  REDUCE_MIN: reduction({ start: Number.POSITIVE_INFINITY, take: (x) => `Math.min(value, ${x})`, accepts: isExact }),
  REDUCE_PROD: reduction({ start: 1, take: (x) => `value * ${x}` }),
  REDUCE_SUM: reduction({ start: 0, take: (x) => `value + ${x}` }),
} satisfies Record<string, GpujsKernel>;
