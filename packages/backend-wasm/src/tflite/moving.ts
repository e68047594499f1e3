/** Operators that put elements elsewhere: mostly the steps of the HAL's operations, for more types. */
import type { KernelTensor } from "@nnhal/backend";
import { type AnyArgs, elementCount, isExtensionType, resolveAxis, type TensorInfo } from "@nnhal/operations";
import { addElementwise, type Builder, layoutOf, outputOf, type Value } from "../plan/builder.ts";
import { element, makeInteger, on, select } from "../plan/expression.ts";
import { calc, type Formula, integer } from "../plan/formula.ts";
import type { Lowering } from "../plan/lowering.ts";
import { halLowerings } from "../plan/lowerings.ts";
import { refuse } from "../plan/refusal.ts";
import { addRoutine, type Place, type Routine } from "../plan/routine.ts";
import { addGreatest, asBits } from "../plan/search.ts";
import { expectPlain, isTensor, numbersOf, type One, type Table } from "./operands.ts";

/** A tensor of numbers of 64 bits, or of complex ones, as one of integers with an axis more; others stay. */
function asPairs<Info extends TensorInfo>(info: Info): Info {
  const { dimensions } = layoutOf(info);
  return dimensions === info.dimensions ? info : { ...info, type: "TENSOR_INT32", dimensions };
}

/** A constant list of integers of 64 bits as one of 32. */
function narrow(tensor: KernelTensor): KernelTensor {
  if (!isExtensionType(tensor.type) || tensor.data === undefined) return tensor;
  return { ...tensor, type: "TENSOR_INT32", data: Int32Array.from(numbersOf("a list", tensor)) };
}

/** The lowering of the HAL's operation of the same name, which has the same arguments. */
function ofHal(name: string): Lowering<AnyArgs, AnyArgs> {
  const lowering = halLowerings({ name });
  if (lowering === undefined) throw new TypeError(`there is no ${name}`);
  return lowering;
}

/** The HAL's operation for elements of any size. */
function lowerMove(name: string): Lowering<AnyArgs, AnyArgs> {
  const lowering = ofHal(name);
  return (args, outputs, builder) => {
    const changed = Object.entries(args).map(([key, value]) => {
      if (key === "input" && isTensor(value)) return [key, asPairs(value)];
      if (Array.isArray(value)) return [key, value.map((each) => (isTensor(each) ? asPairs(each) : each))];
      if (key === "axis" && typeof value === "number" && isTensor(args.input))
        return [key, resolveAxis(value, args.input.dimensions.length)];
      return [key, isTensor(value) ? narrow(value) : value];
    });
    const results = Object.entries(outputs).map(([key, value]) => [
      key,
      Array.isArray(value) ? value.map(asPairs) : asPairs(value as TensorInfo),
    ]);
    return lowering(Object.fromEntries(changed), Object.fromEntries(results), builder);
  };
}

/** The HAL's operation for elements that are one number each. */
function movedPlain(name: string): Lowering<AnyArgs, AnyArgs> {
  const lowering = lowerMove(name);
  return (args, outputs, builder) => {
    for (const value of [args.input, outputs.output]) if (isTensor(value)) expectPlain(value);
    return lowering(args, outputs, builder);
  };
}

interface Slicing extends One {
  readonly begin: KernelTensor;
  readonly end: KernelTensor;
  readonly strides: KernelTensor;
  readonly beginMask: number;
  readonly endMask: number;
  readonly shrinkAxisMask: number;
  readonly ellipsisMask: number;
  readonly newAxisMask: number;
  readonly offset: boolean;
}

/** The slices of the HAL's operation, which has an element of each list for each axis. */
function addStridedSlice(args: Slicing, outputs: { readonly output: TensorInfo }, builder: Builder) {
  const { input, ellipsisMask, newAxisMask, offset } = args;
  if (offset) refuse("ends that are counted from the beginnings are not available");
  const lists = [args.begin, args.end, args.strides].map((tensor) => numbersOf("a list", tensor));
  const [begins = [], ends = [], strides = []] = lists;
  const has = (mask: number, bit: number) => (mask & (1 << bit)) !== 0;
  const elements = [...begins.keys()];
  const isNew = (bit: number) => has(newAxisMask, bit) && !has(ellipsisMask, bit);
  const { dimensions } = asPairs(input);
  const own = elements.filter((bit) => !has(ellipsisMask, bit) && !isNew(bit)).length;
  const whole = Array.from({ length: input.dimensions.length - own }, () => undefined);
  const pairAxes = Array.from({ length: dimensions.length - input.dimensions.length }, () => undefined);
  const places = elements.flatMap((bit) => (has(ellipsisMask, bit) ? whole : isNew(bit) ? [] : [bit]));
  const isOpen = !elements.some((bit) => has(ellipsisMask, bit));
  const axes = [...places, ...(isOpen ? whole : []), ...pairAxes];
  const mask = (of: number, open: boolean) =>
    axes.reduce<number>((sum, bit, axis) => sum | ((bit === undefined ? open : has(of, bit)) ? 1 << axis : 0), 0);
  const list = (of: readonly number[], otherwise: number): KernelTensor => ({
    ...args.begin,
    type: "TENSOR_INT32",
    dimensions: [axes.length],
    data: Int32Array.from(axes, (bit) => (bit === undefined ? otherwise : (of[bit] ?? otherwise))),
  });
  const normal = {
    input: asPairs(input),
    begin: list(begins, 0),
    end: list(ends, 0),
    strides: list(strides, 1),
    beginMask: mask(args.beginMask, true),
    endMask: mask(args.endMask, true),
    // The end of a removed axis does not count.
    shrinkAxisMask: 0,
  };
  for (const [axis, bit] of axes.entries()) {
    if (bit === undefined || !has(args.shrinkAxisMask, bit)) continue;
    const first = begins[bit] ?? 0;
    const place = has(args.beginMask, bit) ? 0 : first;
    setAt(normal.begin, axis, place);
    setAt(normal.strides, axis, 1);
    setAt(normal.end, axis, place + 1);
    normal.beginMask &= ~(1 << axis);
    normal.endMask = place === -1 ? normal.endMask | (1 << axis) : normal.endMask & ~(1 << axis);
  }
  return ofHal("STRIDED_SLICE")(normal as unknown as AnyArgs, { output: asPairs(outputs.output) }, builder);
}

function setAt({ data }: KernelTensor, place: number, value: number): void {
  if (data instanceof Int32Array) data[place] = value;
}

/** The place of a slice of `inner` elements, of which a list has the indexes along the first axes. */
function sliceAt(routine: Routine, lists: Place, list: Formula, prefix: readonly number[], inner: number): Formula {
  const place = routine.local(integer(0));
  for (const [axis, extent] of prefix.entries()) {
    const index = routine.local(lists.at(calc("add", calc("mul", list, prefix.length), axis)));
    routine.expect(`index of axis ${axis}`, index, 0, extent - 1);
    routine.set(place, calc("add", calc("mul", place, extent), index));
  }
  return routine.local(calc("mul", place, inner));
}

/** The extents of the axes that each list has an index for, and the elements of what they choose. */
function prefixOf(lists: KernelTensor, { dimensions }: TensorInfo) {
  expectPlain(lists);
  const depth = lists.dimensions.at(-1) ?? 0;
  const count = elementCount(lists.dimensions.slice(0, -1));
  return { prefix: dimensions.slice(0, depth), inner: elementCount(dimensions.slice(depth)), count };
}

/** The lowerings. */
export const moving: Table = {
  ...Object.fromEntries(
    ["RESHAPE", "SQUEEZE", "EXPAND_DIMS", "CONCATENATION", "SPLIT", "PAD", "SLICE", "TILE"].map((name) => [
      name,
      lowerMove(name),
    ]),
  ),
  ...Object.fromEntries(["TRANSPOSE", "SPACE_TO_DEPTH", "DEPTH_TO_SPACE"].map((name) => [name, movedPlain(name)])),
  STRIDED_SLICE: addStridedSlice,
  SELECT_V2({ condition, whenTrue, whenFalse }, { output }, builder): Value {
    for (const tensor of [whenTrue, whenFalse, output]) expectPlain(tensor);
    const target = asBits(outputOf(builder, output));
    const operands = [condition, whenTrue, whenFalse].map((tensor) => asBits(builder.read(tensor)));
    const isChosen = on("ne", element(0, "i32"), makeInteger(0));
    addElementwise(builder, "SELECT_V2", operands, target, select(isChosen, element(1, "i32"), element(2, "i32")));
    return { ...target, ...layoutOf(output) };
  },
  GATHER(args, outputs, builder) {
    for (const tensor of [args.input, args.indices, outputs.output]) expectPlain(tensor);
    if (args.batchDims !== 0) refuse("axes that are batches are not available");
    return ofHal("GATHER")(args, outputs, builder);
  },
  GATHER_ND({ params, indices }, { output }, builder): Value {
    for (const tensor of [params, output]) expectPlain(tensor);
    const target = outputOf(builder, output);
    const { prefix, inner, count } = prefixOf(indices, params);
    const [source, lists] = [builder.read(params), builder.read(indices)];
    addRoutine(builder, "GATHER_ND", count, 8 * prefix.length + inner / 4, (routine) => {
      const [from, places, to] = [routine.read(asBits(source)), routine.read(lists), routine.write(asBits(target))];
      const first = sliceAt(routine, places, routine.unit, prefix, inner);
      routine.copy(from, first, to, calc("mul", routine.unit, inner), inner);
    });
    return target;
  },
  SCATTER_ND({ indices, updates }, { output }, builder): Value {
    for (const tensor of [updates, output]) expectPlain(tensor);
    const isBool = output.type === "TENSOR_BOOL8";
    const target = outputOf(builder, output);
    const { prefix, inner, count } = prefixOf(indices, output);
    const [source, lists] = [builder.read(updates), builder.read(indices)];
    addElementwise(builder, "SCATTER_ND", [], asBits(target), makeInteger(0), 1);
    // Slices may meet, so they are added in order.
    addRoutine(builder, "SCATTER_ND", 1, 8 * count * (prefix.length + inner), (routine) => {
      const [from, places, to] = [routine.read(source), routine.read(lists), routine.write(target)];
      routine.each(0, count, (list) => {
        const first = sliceAt(routine, places, list, prefix, inner);
        const begin = routine.local(calc("mul", list, inner));
        routine.each(0, inner, (place) => {
          const at = routine.local(calc("add", first, place));
          const added = from.at(calc("add", begin, place));
          routine.store(to, at, calc(isBool ? "or" : "add", to.at(at), added));
        });
      });
    });
    return target;
  },
  TOPK_V2({ input }, outputs, builder): readonly Value[] {
    for (const tensor of [input, outputs.values]) expectPlain(tensor);
    return addGreatest(builder, "TOPK_V2", input, outputs.values.dimensions.at(-1) ?? 0, outputs, "lt");
  },
};
