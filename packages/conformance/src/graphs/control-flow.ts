/**
 * IF and WHILE in a subgraph in the making, with random branches, conditions and bodies.
 */
import { elementAt, type Tensor } from "@nnhal/operations";
import { noOperand } from "../random/examples.ts";
import type { ExampleSubgraph } from "../vectors/example.ts";
import { adapt, canMake, integers, scalar } from "./adapt.ts";
import { addSomeOperation, pickReadable } from "./operations.ts";
import {
  addConstant,
  addInput,
  addOperation,
  canPass,
  closeScope,
  createScope,
  hasElements,
  isSameInfo,
  orNothing,
  type Scope,
  valueAt,
} from "./scope.ts";

/** Subgraphs in subgraphs lie at most so deep. */
const deepest = 2;

/** Adds an IF or a WHILE. Returns whether it was added. */
export function addControlFlow(scope: Scope): boolean {
  if (scope.depth >= deepest) return false;
  return orNothing(scope, () => (scope.random.chance(0.6) ? addIf(scope) : addWhile(scope))) !== undefined;
}

/** Some values to hand over, each at most once; often two that could be taken for each other. */
function pickHanded(scope: Scope): number[] {
  const { random, readable } = scope;
  const count = random.integer(1, 3);
  const picked = Array.from({ length: count }, () => pickReadable(scope)).filter((index) => index !== undefined);
  const [first] = picked;
  if (first !== undefined && random.chance(0.5)) {
    const alike = readable.filter(
      (index) => index !== first && isSameInfo(valueAt(scope, index), valueAt(scope, first)),
    );
    if (alike.length > 0) picked.push(random.pick(alike));
  }
  return [...new Set(picked)].filter((index) => canPass(scope, index));
}

/** A subgraph with these values as its inputs, and a few operations on them. */
function drawBody(outer: Scope, inputs: readonly Tensor[]): Scope {
  const body = createScope(outer.random, outer.referenced, outer.depth + 1);
  for (const input of inputs) addInput(body, input);
  const count = outer.random.integer(1, 4);
  for (let index = 0; index < count; index++) {
    if (outer.random.chance(0.1)) addControlFlow(body);
    else addSomeOperation(body);
  }
  return body;
}

/** Results of a subgraph, each once, that another subgraph can make as well. */
function resultsOf(scope: Scope): number[] {
  const { readable, operands, values, random } = scope;
  const results = readable.filter((index) => {
    const value = values[index];
    const isResult = elementAt(operands, index).lifetime === "TEMPORARY_VARIABLE";
    return isResult && canPass(scope, index) && value !== undefined && hasElements(value) && canMake(value);
  });
  return results.slice(-random.integer(1, 2));
}

/** Adds a subgraph to the model, and a reference to it. */
function refer(scope: Scope, subgraph: ExampleSubgraph): number {
  const place = scope.referenced.push(subgraph) - 1;
  const data = new Uint8Array(4);
  new DataView(data.buffer).setUint32(0, place, true);
  scope.values.push(undefined);
  return scope.operands.push({ ...noOperand, type: "SUBGRAPH", lifetime: "SUBGRAPH", data }) - 1;
}

function addIf(scope: Scope): readonly number[] | undefined {
  const { random, readable, values, depth } = scope;
  const handed = pickHanded(scope);
  if (handed.length === 0) return undefined;
  const inputs = handed.map((index) => valueAt(scope, index));
  const first = drawBody(scope, inputs);
  const outputs = resultsOf(first);
  if (outputs.length === 0) return undefined;
  const wanted = outputs.map((index) => valueAt(first, index));
  const second = drawBody(scope, inputs);
  const others = resultsLike(second, wanted, []);
  if (others === undefined) return undefined;
  const branches = [closeScope(first, outputs), closeScope(second, others)];
  const [whenTrue, whenFalse] = random.chance(0.5) ? branches : branches.toReversed();
  if (whenTrue === undefined || whenFalse === undefined) return undefined;
  const conditions = readable.filter((index) => {
    const value = values[index];
    return value?.type === "TENSOR_BOOL8" && value.dimensions.length === 1 && value.data.length === 1;
  });
  const drawn: Tensor = { ...flag, data: Uint8Array.of(random.integer(0, 1)) };
  const newCondition = () => (depth === 0 && random.chance(0.8) ? addInput(scope, drawn) : addConstant(scope, drawn));
  const condition = conditions.length > 0 && random.chance(0.7) ? random.pick(conditions) : newCondition();
  return addOperation(scope, "IF", [condition, refer(scope, whenTrue), refer(scope, whenFalse), ...handed], wanted);
}

const flag = { type: "TENSOR_BOOL8", dimensions: [1], scale: 0, zeroPoint: 0 } as const;
const counter = { type: "TENSOR_INT32", dimensions: [1], scale: 0, zeroPoint: 0 } as const;

/** Results of a subgraph that are like some values, each another one, after those that are taken; undefined if one cannot be made. */
function resultsLike(scope: Scope, wanted: readonly Tensor[], taken: readonly number[]): readonly number[] | undefined {
  const results = [...taken];
  for (const value of wanted) {
    const result = resultLike(scope, value, results);
    if (result === undefined) return undefined;
    results.push(result);
  }
  return results;
}

function resultLike(scope: Scope, wanted: Tensor, taken: readonly number[]): number | undefined {
  // An output must not be an input.
  const isResult = (index: number) =>
    elementAt(scope.operands, index).lifetime === "TEMPORARY_VARIABLE" && canPass(scope, index);
  for (let tries = 0; tries < 6; tries++) {
    const from = pickReadable(scope);
    if (from === undefined) return undefined;
    const made = orNothing(scope, () => {
      const adapted = adapt(scope, from, wanted);
      return adapted !== undefined && isResult(adapted) && !taken.includes(adapted) ? adapted : undefined;
    });
    if (made !== undefined) return made;
  }
  return undefined;
}

/** A loop that counts to at most 3, and in each run changes a value or two. */
function addWhile(scope: Scope): readonly number[] | undefined {
  const { random } = scope;
  const handed = pickHanded(scope).filter((index) => canMake(valueAt(scope, index)));
  if (handed.length === 0) return undefined;
  const zero: Tensor = { ...counter, data: Int32Array.of(0) };
  // The last value may be one that never changes.
  const changing = handed.length > 1 && random.chance(0.4) ? handed.slice(0, -1) : handed;
  const state = [zero, ...handed.map((index) => valueAt(scope, index))];

  const condition = createScope(random, scope.referenced, scope.depth + 1);
  const [count = 0] = state.map((value) => addInput(condition, value));
  const goesOn = addOperation(condition, "LESS", [count, integers(condition, random.integer(0, 3))], [flag])?.[0];

  const body = drawBody(scope, state);
  const one = integers(body, 1);
  const next = addOperation(body, "ADD", [0, one, scalar(body, "INT32", 0)], [counter])?.[0];
  if (goesOn === undefined || next === undefined) return undefined;
  const results = resultsLike(
    body,
    changing.map((index) => valueAt(scope, index)),
    [next],
  );
  if (results === undefined) return undefined;
  const references = [refer(scope, closeScope(condition, [goesOn])), refer(scope, closeScope(body, results))];
  // Not every value that is changed needs to be a result.
  const wanted = [zero, ...changing.map((index) => valueAt(scope, index))].slice(
    0,
    random.chance(0.3) ? -1 : undefined,
  );
  const start = addConstant(scope, zero);
  return addOperation(scope, "WHILE", [...references, start, ...handed], wanted.length === 0 ? [zero] : wanted);
}
