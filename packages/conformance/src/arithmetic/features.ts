/**
 * Features of a drawn operation, in words: the activation, a negative axis, a stride beyond the filter, an omitted operand,
 * operands that broadcast, results at the end of their range. Edge cases are chosen so that every such feature that the draws
 * of an operation and type have occurs in at least one of them.
 */
import { integerRange, isFloat, isTensorType, type OutputTensor, type TensorData } from "@nnhal/operations";
import type { RandomOperation } from "../random/draw.ts";

/** The features of the operands. */
export function inputFeatures({ signature, inputs }: RandomOperation): Set<string> {
  const features = new Set<string>();
  const scalars = new Map<string, number>();
  inputs.forEach((input, position) => {
    const param = signature.inputs[position];
    if (param === undefined) return;
    const { name } = param;
    if (input === undefined) {
      features.add(`${name} omitted`);
      return;
    }
    const [first = 0] = input.data;
    if (!isTensorType(input.type)) {
      scalars.set(name, first);
      features.add(`${name} ${bucketOf(first)}`);
      return;
    }
    features.add(`${name} rank ${input.dimensions.length}`);
    if (param.omittable === true) features.add(`${name} given`);
    if (input.dimensions.includes(1)) features.add(`${name} of extent 1`);
    if (input.dimensions.includes(0)) features.add(`${name} empty`);
    if (isFloat(input.type)) for (const what of unusualOf(input.data)) features.add(`${name} has ${what}`);
    // A list that says what to do, such as axes or paddings.
    if (param.read) {
      for (const element of input.data) features.add(`${name} has ${bucketOf(element)}`);
      if (new Set(input.data).size > 1) features.add(`${name} is uneven`);
    }
  });
  addBroadcast(signature.operation.broadcasts, { signature, inputs }, features);
  addWindow(scalars, features);
  return features;
}

/** The features of the results. */
export function outputFeatures(outputs: readonly OutputTensor[]): Set<string> {
  const features = new Set<string>();
  outputs.forEach(({ type, data, dimensions }, position) => {
    const add = (what: string) => features.add(`output ${position} ${what}`);
    if (dimensions.includes(0)) add("empty");
    const bounds = isFloat(type) ? undefined : integerRange(type);
    let isWithin = false;
    for (const element of data) {
      if (bounds === undefined) {
        if (Number.isNaN(element)) add("has NaN");
        else if (!Number.isFinite(element)) add("has an infinity");
        else if (Object.is(element, -0)) add("has -0");
        else isWithin = true;
      } else if (element === bounds[0]) add("at the least value");
      else if (element === bounds[1]) add("at the greatest value");
      else isWithin = true;
    }
    if (isWithin) add("within its range");
  });
  return features;
}

function* unusualOf(elements: TensorData): Generator<string> {
  if (elements.some(Number.isNaN)) yield "NaN";
  if (elements.some((element) => Math.abs(element) === Number.POSITIVE_INFINITY)) yield "an infinity";
}

/** Small integers each on their own, others by sign. */
function bucketOf(value: number): string {
  if (Number.isInteger(value) && value >= -1 && value <= 3) return String(value);
  return value < 0 ? "below 0" : value < 1 ? "below 1" : "above";
}

function addBroadcast(
  names: readonly [string, string] | undefined,
  { signature, inputs }: Pick<RandomOperation, "signature" | "inputs">,
  features: Set<string>,
): void {
  if (names === undefined) return;
  const [left, right] = names.map(
    (name) => inputs[signature.inputs.findIndex((param) => param.name === name)]?.dimensions ?? [],
  );
  if (left === undefined || right === undefined) return;
  if (left.length !== right.length) features.add(left.length < right.length ? "left is shorter" : "right is shorter");
  for (let axis = 1; axis <= Math.min(left.length, right.length); axis++) {
    const [of, and] = [left.at(-axis), right.at(-axis)];
    if (of !== and && (of === 1 || and === 1)) {
      features.add(`${of === 1 ? "left" : "right"} repeats along axis ${-axis}`);
    }
  }
}

function addWindow(scalars: ReadonlyMap<string, number>, features: Set<string>): void {
  for (const [side, before, after] of [
    ["Width", "paddingLeft", "paddingRight"],
    ["Height", "paddingTop", "paddingBottom"],
  ] as const) {
    const stride = scalars.get(`stride${side}`);
    const filter = scalars.get(`filter${side}`);
    if (stride !== undefined && filter !== undefined && stride > filter)
      features.add(`stride${side} beyond the filter`);
    const [least, most] = [scalars.get(before), scalars.get(after)];
    if (least !== undefined && most !== undefined && least !== most) {
      features.add(least < most ? `more ${after}` : `more ${before}`);
    }
  }
}
