/** Operations that combine elements along some axes. */
import type { KernelTensor } from "@nnhal/backend";
import { elementCount, isFloat, resolveAxis, stridesOf, type TensorInfo, typeText } from "@nnhal/operations";
import { elementOf } from "./arithmetic.ts";
import { addElementwise, type Builder, operandOf, outputOf, type Value } from "./builder.ts";
import { accumulator, convert, type Expression, element, makeInteger, on, real, roundedAway } from "./expression.ts";
import { constantOf, expectReal, type LoweringTable } from "./lowering.ts";
import { mergeAxes } from "./merge.ts";
import type { ReduceStep } from "./plan.ts";
import { refuse } from "./refusal.ts";

/** The computation of a reduction. */
export type Reduction = Pick<ReduceStep, "combine" | "start" | "taken" | "value">;

/** Adds a reduction along the axes that are true. The target has the elements that remain, in order. */
export function addReduction(
  builder: Builder,
  name: string,
  source: Value,
  reduced: readonly boolean[],
  target: Value,
  reduction: Reduction,
): void {
  const { dimensions } = source;
  const strides = stridesOf(dimensions);
  const axes = [...dimensions.keys()];
  const [kept, gone] = [axes.filter((axis) => !reduced[axis]), axes.filter((axis) => reduced[axis])];
  const extentsOf = (some: readonly number[]) => some.map((axis) => dimensions[axis] ?? 1);
  const stepsOf = (some: readonly number[]) => some.map((axis) => strides[axis] ?? 0);
  const outer = mergeAxes(extentsOf(kept), [stepsOf(kept), stridesOf(extentsOf(kept))]);
  const inner = mergeAxes(extentsOf(gone), [stepsOf(gone)]);
  const [from = [], to = []] = outer.steps;
  // The first loop is the one whose turns are units.
  const alone = outer.loops.length === 1;
  const loops = alone ? [1, ...outer.loops] : outer.loops;
  builder.add({
    kind: "reduce",
    name,
    kept: loops,
    reduced: inner.loops,
    source: operandOf(source, [...(alone ? [0] : []), ...from, ...(inner.steps[0] ?? [])]),
    target: operandOf(target, [...(alone ? [0] : []), ...to]),
    ...reduction,
    units: loops[0] ?? 1,
    work: 2 * elementCount(loops.slice(1)) * elementCount(inner.loops),
  });
}

/** Adds the sums along the axes that are true, or those of squares, as floats. The axes remain, with extent 1. */
export function addSums(
  builder: Builder,
  name: string,
  source: Value,
  reduced: readonly boolean[],
  isOfSquares = false,
): Value {
  const x = element(0, "f32");
  const taken = isOfSquares ? on("mul", x, x) : x;
  const sums = builder.value(
    "f32",
    source.dimensions.map((extent, axis) => (reduced[axis] ? 1 : extent)),
  );
  addReduction(builder, name, source, reduced, sums, {
    combine: "add",
    start: real(0),
    taken,
    value: accumulator("f32"),
  });
  return sums;
}

/**
 * Adds x minus the mean along the axes that are true. A mean is rounded to the grid of the elements, which is coarse for differences that are
 * far smaller than they are. So the mean of the differences, which is not 0 then, is taken off in a second turn.
 */
export function addCentred(builder: Builder, name: string, source: Value, reduced: readonly boolean[]): Value {
  const count = elementCount(source.dimensions.filter((_, axis) => reduced[axis]));
  let centred = source;
  for (let turn = 0; turn < 2; turn++) {
    const sums = addSums(builder, name, centred, reduced);
    const rest = builder.value("f32", source.dimensions);
    const difference = on("sub", element(0, "f32"), on("div", element(1, "f32"), real(count)));
    addElementwise(builder, name, [centred, sums], rest, difference);
    centred = rest;
  }
  return centred;
}

function axesOf({ dimensions }: TensorInfo, axes: KernelTensor): boolean[] {
  const reduced = dimensions.map(() => false);
  for (const axis of Array.from(constantOf("the axes", axes))) reduced[resolveAxis(axis, dimensions.length)] = true;
  return reduced;
}

interface Reduced {
  readonly input: KernelTensor;
  readonly axes: KernelTensor;
}

function reduce(name: string, combine: ReduceStep["combine"], startOf: (input: TensorInfo) => Expression) {
  return ({ input, axes }: Reduced, { output }: { readonly output: TensorInfo }, builder: Builder): Value => {
    const isSum = combine === "add" || combine === "mul";
    if (isSum && input.type !== "TENSOR_FLOAT32") refuse(`${typeText(input.type)} is not available`);
    const target = outputOf(builder, output);
    const taken = elementOf(0, input);
    const value = accumulator(taken.type);
    addReduction(builder, name, builder.read(input), axesOf(input, axes), target, {
      combine,
      start: startOf(input),
      taken,
      value,
    });
    return target;
  };
}

/** Truth values, which may be any number but 0, as 1. */
function reduceTruth(name: string, combine: "min" | "max") {
  return ({ input, axes }: Reduced, { output }: { readonly output: TensorInfo }, builder: Builder): Value => {
    const target = outputOf(builder, output);
    addReduction(builder, name, builder.read(input), axesOf(input, axes), target, {
      combine,
      start: makeInteger(combine === "min" ? 1 : 0),
      taken: on("and", on("ne", element(0, "i32"), makeInteger(0)), makeInteger(1)),
      value: accumulator("i32"),
    });
    return target;
  };
}

const bound = (sign: 1 | -1) => (input: TensorInfo) =>
  isFloat(input.type) ? real(sign * Number.POSITIVE_INFINITY) : makeInteger(sign > 0 ? 0x7fff_ffff : -0x8000_0000);

/** More bytes than this have a sum that a float32 cannot always hold. */
const mostBytes = 65535;

/** The lowerings. */
export const reductions: LoweringTable = {
  MEAN({ input, axes }, { output }, builder) {
    expectReal(input);
    const reduced = axesOf(input, axes);
    const count = elementCount(input.dimensions.filter((_, axis) => reduced[axis]));
    const target = outputOf(builder, output);
    const source = builder.read(input);
    if (isFloat(input.type)) {
      const value = on("div", accumulator("f32"), real(count));
      addReduction(builder, "MEAN", source, reduced, target, {
        combine: "add",
        start: real(0),
        taken: element(0, "f32"),
        value,
      });
      return target;
    }
    if (count > mostBytes) refuse(`the mean of ${count} elements is not available`);
    const mean = on("div", convert("toFloat", accumulator("i32")), real(count));
    addReduction(builder, "MEAN", source, reduced, target, {
      combine: "add",
      start: makeInteger(0),
      taken: on("sub", element(0, "i32"), makeInteger(input.zeroPoint)),
      value: on("add", convert("toInteger", roundedAway(mean)), makeInteger(input.zeroPoint)),
    });
    return target;
  },
  REDUCE_SUM: reduce("REDUCE_SUM", "add", () => real(0)),
  REDUCE_PROD: reduce("REDUCE_PROD", "mul", () => real(1)),
  REDUCE_MAX: reduce("REDUCE_MAX", "max", bound(-1)),
  REDUCE_MIN: reduce("REDUCE_MIN", "min", bound(1)),
  REDUCE_ALL: reduceTruth("REDUCE_ALL", "min"),
  REDUCE_ANY: reduceTruth("REDUCE_ANY", "max"),
};
