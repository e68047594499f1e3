/** Operations that choose among elements, or make them up: types are changed, and order is found. */
import type { KernelTensor } from "@nnhal/backend";
import { extentProduct, integerRange, isFloat, type TensorInfo } from "@nnhal/operations";
import { isExact } from "./_exact.ts";
import { literal, ravel, times } from "./_index.ts";
import { type GpujsKernel, isReal, kernelOf } from "./_kernel.ts";
import { pointwise } from "./_pointwise.ts";

interface One {
  readonly output: TensorInfo;
}

function isTensor(arg: unknown): arg is TensorInfo {
  return typeof arg === "object" && arg !== null && "dimensions" in arg;
}

/** The quantisations of the two may differ; real numbers are what both have. */
const select = kernelOf({
  accepts: (type) => type === "TENSOR_BOOL8",
  refuse: ({ whenTrue }) =>
    isTensor(whenTrue) && !isReal(whenTrue.type) ? `${whenTrue.type} is not available` : undefined,
  prepare(args: Readonly<Record<"condition" | "whenTrue" | "whenFalse", KernelTensor>>, { output }: One, make) {
    const { write, grid } = pointwise("SELECT", { ...args }, output, make.packs);
    return make.output(write, grid);
  },
});

/** Whole numbers are cut off and kept within their type; a TENSOR_INT32 may be one end of it, since the other has fewer digits. */
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
  prepare: ({ value }: { readonly value: number }, _: One, make) => make.output(() => literal(value), { flat: true }),
});

const rank = kernelOf({
  accepts: () => true,
  leads: false,
  stored: true,
  prepare: ({ input }: { readonly input: KernelTensor }, _: One, make) =>
    make.output(() => literal(input.dimensions.length), { flat: true }),
});

/** The place of each element in the order is counted; of equal elements the one with the larger index comes first. */
const topkV2 = kernelOf({
  accepts: isExact,
  leads: false,
  stored: true,
  prepare({ input, k }: { readonly input: KernelTensor; readonly k: number }, _: object, make) {
    const { dimensions } = input;
    const extent = dimensions[dimensions.length - 1];
    const rows = extentProduct(dimensions, 0, dimensions.length - 1);
    const places = make.stage({ dimensions: [rows, extent] }, (writer) => {
      const { read, define, index, line, loop, block, flat } = writer;
      const [row, column] = writer.at;
      const from = read(input);
      const first = index(times(extent, row));
      const element = define(from(flat));
      line("let place = 0;");
      loop(extent, (i) => {
        const other = define(from(ravel([first, i], [1, 1])));
        const isAhead = `${other} > ${element} || (${other} == ${element} && ${i} > ${column})`;
        block(`if (${isAhead})`, () => line("place += 1;"));
      });
      return "place";
    });
    const indices = make.stage({ dimensions: [rows, k] }, ({ read, index, line, loop, block, at: [row, column] }) => {
      const first = index(times(extent, row));
      line("let found = 0;");
      loop(extent, (i) => {
        const place = read(places)(ravel([first, i], [1, 1]));
        block(`if (Math.abs(${place} - ${column}) < 0.5)`, () => line(`found = ${i};`));
      });
      return "found";
    });
    const values = make.stage({ dimensions: [rows, k] }, ({ read, define, flat, at: [row] }) => {
      const index = define(read(indices)(flat));
      return read(input)(`${extent} * ${row} + ${index}`);
    });
    return [values, indices];
  },
});

export const selectionKernels = {
  CAST: cast,
  FILL: fill,
  RANK: rank,
  SELECT: select,
  TOPK_V2: topkV2,
} satisfies Record<string, GpujsKernel>;
