/**
 * Changes of the order of elements in a row, with operations of single elements between them: what compilers of graphs take together,
 * move or leave out. Extents are often equal, so that a result that was left out would fit in its place.
 */
import { elementAt } from "@nnhal/operations";
import type { OperandTypeName } from "@nnhal/types";
import { drawTensor } from "../random/elements.ts";
import { adapt, integers, isReshaped, scalar } from "./adapt.ts";
import { pickReadable } from "./operations.ts";
import { addConstant, addOperation, orNothing, type Scope, valueAt } from "./scope.ts";

/** One more operation of a chain: the operand of its result; undefined if it cannot be added. */
type Step = (scope: Scope, from: number) => number | undefined;

/** Adds a chain of two to four changes of a value's element order. Returns whether it was added. */
export function addRearranging(scope: Scope): boolean {
  const { random } = scope;
  const offer = pickReadable(scope);
  if (offer === undefined || !isReshaped(valueAt(scope, offer).type)) return false;
  const extent = random.pick([2, 3, 4]);
  const dimensions = Array.from({ length: random.pick([2, 2, 3]) }, () => extent);
  const added = orNothing(scope, () => {
    let at = adapt(scope, offer, { ...valueAt(scope, offer), dimensions });
    const count = random.integer(2, 4);
    for (let turn = 0; turn < count && at !== undefined; turn++) {
      at = random.pick([addTranspose, addTranspose, addShuffle])(scope, at);
      if (at !== undefined && random.chance(0.5)) at = (random.chance(0.5) ? addRelu : addCombination)(scope, at) ?? at;
    }
    return at;
  });
  return added !== undefined;
}

const addTranspose: Step = (scope, from) => {
  const value = valueAt(scope, from);
  const axes = value.dimensions.map((_, axis) => axis);
  const permutation = scope.random.chance(0.7) ? axes.toReversed() : [...axes.slice(1), 0];
  return addOperation(scope, "TRANSPOSE", [from, integers(scope, ...permutation)], [{ ...value }])?.[0];
};

/** Only four channels can be shuffled so that they change. */
const addShuffle: Step = (scope, from) => {
  const value = valueAt(scope, from);
  const axis = scope.random.integer(0, value.dimensions.length - 1);
  if (value.dimensions[axis] !== 4) return addTranspose(scope, from);
  const inputs = [from, scalar(scope, "INT32", 2), scalar(scope, "INT32", axis)];
  return addOperation(scope, "CHANNEL_SHUFFLE", inputs, [{ ...value }])?.[0];
};

const addRelu: Step = (scope, from) => addOperation(scope, "RELU", [from], [{ ...valueAt(scope, from) }])?.[0];

const floats: ReadonlySet<OperandTypeName> = new Set(["TENSOR_FLOAT32", "TENSOR_FLOAT16"]);

/** With a constant for each channel, which broadcasts. */
const addCombination: Step = (scope, from) => {
  const value = valueAt(scope, from);
  const type = [...floats].find((known) => known === value.type);
  if (type === undefined) return addRelu(scope, from);
  const channels = drawTensor(
    type,
    { dimensions: [elementAt(value.dimensions, -1 + value.dimensions.length)] },
    scope.random,
    "fine",
  );
  const operation = scope.random.pick(["ADD", "MUL"] as const);
  const inputs = [from, addConstant(scope, channels), scalar(scope, "INT32", 0)];
  return addOperation(scope, operation, inputs, [{ ...value }])?.[0];
};
