/** Operations that select or create elements, convert their types, or sort them. */
import type { KernelTensor } from "@nnhal/backend";
import { integerRange, isFloat, type TensorInfo } from "@nnhal/operations";
import { scalar } from "./_code.ts";
import { isExact } from "./_exact.ts";
import { greatestOf } from "./_greatest.ts";
import { hostKernelOf } from "./_host.ts";
import { literal } from "./_index.ts";
import { type GpujsTable, isReal, kernelOf } from "./_kernel.ts";
import { pointwise } from "./_pointwise.ts";

interface One {
  readonly output: TensorInfo;
}

function isTensor(arg: unknown): arg is TensorInfo {
  return typeof arg === "object" && arg !== null && "dimensions" in arg;
}

/** On real numbers, because the quantisations of the two may differ. */
const select = kernelOf({
  accepts: (type) => type === "TENSOR_BOOL8",
  refuse: ({ whenTrue }) =>
    isTensor(whenTrue) && !isReal(whenTrue.type) ? `${whenTrue.type} is not available` : undefined,
  prepare(args: Readonly<Record<"condition" | "whenTrue" | "whenFalse", KernelTensor>>, { output }: One, make) {
    const { write, grid } = pointwise("SELECT", { ...args }, output, make.packs);
    return make.output(write, grid);
  },
});

/** Whole numbers are truncated and clipped to their type. TENSOR_INT32 may be one of the two types, since the other has fewer digits. */
const cast = kernelOf({
  accepts: (type) => isExact(type) || type === "TENSOR_INT32",
  stored: true,
  leads: false,
  refuse: ({ input }, { output }) =>
    isTensor(input) && isTensor(output) && input.type === "TENSOR_INT32" && output.type === "TENSOR_INT32"
      ? "TENSOR_INT32 to TENSOR_INT32 is not available, since float32 is exact to 2^24 only"
      : undefined,
  prepare({ input }: { readonly input: KernelTensor }, { output }: One, make) {
    if (input.type === output.type || isFloat(output.type)) return input;
    const [least, greatest] = integerRange(output.type);
    return make.output(
      ({ read, define, flat }) => {
        const within = define(`Math.min(Math.max(${read(input)(flat)}, ${literal(least)}), ${literal(greatest)})`);
        return `(${within} < 0 ? Math.ceil(${within}) : Math.floor(${within}))`;
      },
      { flat: true },
    );
  },
});

const fill = kernelOf({
  accepts: () => true,
  refuse: (_, { output }) =>
    isTensor(output) && !isFloat(output.type) ? `${output.type} is not available` : undefined,
  prepare: ({ value }: { readonly value: number }, _: One, make) =>
    make.output((writer) => scalar(writer, value), { flat: true }),
});

const rank = kernelOf({
  accepts: () => true,
  leads: false,
  stored: true,
  prepare: ({ input }: { readonly input: KernelTensor }, _: One, make) =>
    make.output(() => literal(input.dimensions.length), { flat: true }),
});

/** The number of whole numbers from 0 that are exact in float32. */
const MOST_PLACES = 2 ** 24;

/**
 * Computed on the host in all modes: a heap takes O(n log k), while independent threads would compare each element with each other
 * one.
 */
const topkV2 = hostKernelOf({
  accepts: isExact,
  refuse: ({ input }) => {
    const extent = isTensor(input) ? (input.dimensions[input.dimensions.length - 1] ?? 0) : 0;
    return extent > MOST_PLACES
      ? `a row of ${extent} elements is longer than the ${MOST_PLACES} of which float32 has all places`
      : undefined;
  },
  prepare({ input, k }: { readonly input: KernelTensor; readonly k: number }) {
    const { dimensions } = input;
    return {
      input,
      *compute(elements) {
        const { values, places } = yield* greatestOf(elements, dimensions[dimensions.length - 1], k);
        return [values, places];
      },
    };
  },
});

export const selectionKernels = {
  CAST: cast,
  FILL: fill,
  RANK: rank,
  SELECT: select,
  TOPK_V2: topkV2,
} satisfies GpujsTable;
