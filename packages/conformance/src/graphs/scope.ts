/**
 * A subgraph in the making: operands with their values, so that each further operation is drawn for values that are there, and kept only
 * if the reference computes it.
 */
import {
  elementAt,
  elementCount,
  halTypeName,
  isFloat,
  isTensorType,
  type Tensor,
  type TensorInfo,
} from "@nnhal/operations";
import type { OperandTypeName, OperationTypeName } from "@nnhal/types";
import { bytesOf, noOperand, quantisationOfOmitted } from "../random/examples.ts";
import type { Random } from "../random/random.ts";
import type { ExampleOperand, ExampleOperation, ExampleSubgraph } from "../vectors/example.ts";
import { definitionOf, evaluateSubgraph } from "./evaluate.ts";

/** A subgraph in the making. */
export interface Scope {
  readonly random: Random;
  readonly operands: ExampleOperand[];
  /** The value of each operand; undefined if it is omitted. */
  readonly values: (Tensor | undefined)[];
  readonly operations: ExampleOperation[];
  /** Operands that operations may read: inputs and results. */
  readonly readable: number[];
  /** The subgraphs of the whole model so far. */
  readonly referenced: ExampleSubgraph[];
  /** Depth of this subgraph in others. 0: the main one. */
  readonly depth: number;
  /** The most elements of a result. */
  readonly mostElements: number;
}

const mostElements = 512;

export function createScope(random: Random, referenced: ExampleSubgraph[] = [], depth = 0): Scope {
  return { random, operands: [], values: [], operations: [], readable: [], referenced, depth, mostElements };
}

/** Adds an operand with a value. */
export function addOperand(scope: Scope, value: Tensor, lifetime: ExampleOperand["lifetime"]): number {
  const { data, type, channelQuant = null, ...info } = value;
  const hasData = lifetime !== "TEMPORARY_VARIABLE" && data.length > 0;
  const name = halTypeName(type);
  const bytes = hasData ? bytesOf(value) : null;
  const operand = { ...noOperand, ...info, channelQuant, type: name, lifetime, data: bytes };
  scope.values.push(value);
  return scope.operands.push(operand) - 1;
}

/** Adds an input of the subgraph. */
export function addInput(scope: Scope, value: Tensor): number {
  const index = addOperand(scope, value, "SUBGRAPH_INPUT");
  scope.readable.push(index);
  return index;
}

/** Adds an operand that is omitted. */
export function addOmitted(scope: Scope, type: OperandTypeName): number {
  const operand = { ...noOperand, type, ...quantisationOfOmitted(type), lifetime: "NO_VALUE" } as const;
  scope.values.push(undefined);
  return scope.operands.push(operand) - 1;
}

/** A constant with this value: often one that is there already, if there is one. */
export function addConstant(scope: Scope, value: Tensor): number {
  const { operands, values, random } = scope;
  const known = operands.findIndex(
    ({ lifetime, type }, index) =>
      lifetime.startsWith("CONSTANT") && type === value.type && isSame(elementAt(values, index), value),
  );
  if (known >= 0 && random.chance(0.7)) return known;
  return addOperand(scope, value, random.pick(["CONSTANT_COPY", "CONSTANT_REFERENCE"]));
}

function isSame(a: Tensor | undefined, b: Tensor): boolean {
  return (
    a !== undefined &&
    isSameInfo(a, b) &&
    a.data.length === b.data.length &&
    a.data.every((element, index) => Object.is(element, b.data[index]))
  );
}

/** Returns true if two tensors are of one type, shape and quantisation. */
export function isSameInfo(a: TensorInfo, b: TensorInfo): boolean {
  return (
    a.type === b.type &&
    isSameShape(a.dimensions, b.dimensions) &&
    a.scale === b.scale &&
    a.zeroPoint === b.zeroPoint &&
    JSON.stringify(a.channelQuant) === JSON.stringify(b.channelQuant)
  );
}

export function isSameShape(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((extent, axis) => extent === b[axis]);
}

/** The value of an operand that has one. */
export function valueAt({ values }: Scope, index: number): Tensor {
  const value = values[index];
  if (value === undefined) throw new TypeError(`operand ${index} has no value`);
  return value;
}

/**
 * Adds an operation if the reference computes it: from these operands, with results of these types and quantisations. Returns the
 * operands of the results; undefined if it is not one that the graph should have, and nothing was added.
 */
export function addOperation(
  scope: Scope,
  type: OperationTypeName,
  inputs: readonly number[],
  outputs: readonly TensorInfo[],
): readonly number[] | undefined {
  const { operands, values, operations, readable } = scope;
  const declared = outputs.map((output): ExampleOperand => {
    const { channelQuant: _, ...info } = output;
    return { ...noOperand, ...info, type: halTypeName(info.type), lifetime: "TEMPORARY_VARIABLE" };
  });
  const given = inputs.map((index) => values[index]);
  const results = resultsOf(
    scope,
    type,
    inputs.map((index) => elementAt(operands, index)),
    given,
    declared,
  );
  if (!results?.every((result) => isWelcome(result, scope))) return undefined;
  const made = results.map((result) => addOperand(scope, result, "TEMPORARY_VARIABLE"));
  if (definitionOf(type)?.dynamic) for (const index of made) operands[index] = unspecify(elementAt(operands, index));
  readable.push(...made);
  operations.push({ type, inputs, outputs: made });
  return made;
}

/** Shapes that depend on elements are others in the next run of a loop, or on a device that is a little off. */
function unspecify(operand: ExampleOperand): ExampleOperand {
  return operand.dimensions.length === 0 ? operand : { ...operand, isUnspecified: true };
}

/** The results of one operation on these operands; undefined if it has none. */
function resultsOf(
  scope: Scope,
  type: OperationTypeName,
  inputs: readonly ExampleOperand[],
  given: readonly (Tensor | undefined)[],
  outputs: readonly ExampleOperand[],
): readonly Tensor[] | undefined {
  const inputIndexes = inputs.map((_, index) => index);
  const outputIndexes = outputs.map((_, index) => inputs.length + index);
  const single: ExampleSubgraph = {
    operands: [...inputs, ...outputs],
    operations: [{ type, inputs: inputIndexes, outputs: outputIndexes }],
    inputIndexes,
    outputIndexes,
  };
  const evaluated = evaluateSubgraph(scope, single, given, scope.random);
  if ("refused" in evaluated) return undefined;
  const results = outputIndexes.map((index) => evaluated.values[index]).filter((value) => value !== undefined);
  return results.length === outputs.length ? results : undefined;
}

/** Rejects oversized tensors, and most that are empty, constant or extreme, as in real models. */
function isWelcome({ type, dimensions, data }: Tensor, { random, mostElements: most }: Scope): boolean {
  if (elementCount(dimensions) > most) return false;
  if (data.length === 0) return random.chance(0.3);
  if (type === "TENSOR_INT32") return data.every((element) => Math.abs(element) <= 30_000);
  if (isFloat(type)) {
    const bound = type === "TENSOR_FLOAT16" ? 1000 : 1e5;
    if (!data.every((element) => Math.abs(element) <= bound)) return random.chance(0.03);
  }
  return data.length === 1 || data.some((element) => element !== data[0]) || random.chance(0.3);
}

/**
 * Closes a subgraph with these outputs, which must not be inputs: sets lifetimes and numbers of consumers as the model demands.
 */
export function closeScope({ operands, operations }: Scope, outputIndexes: readonly number[]): ExampleSubgraph {
  const consumers = operands.map(() => 0);
  for (const { inputs } of operations) for (const index of inputs) consumers[index] = (consumers[index] ?? 0) + 1;
  const outputs = new Set(outputIndexes);
  const closed = operands.map((operand, index): ExampleOperand => {
    const lifetime = outputs.has(index) ? "SUBGRAPH_OUTPUT" : operand.lifetime;
    return { ...operand, lifetime, numberOfConsumers: elementAt(consumers, index) };
  });
  return {
    operands: closed,
    operations: [...operations],
    inputIndexes: closed.flatMap(({ lifetime }, index) => (lifetime === "SUBGRAPH_INPUT" ? [index] : [])),
    outputIndexes: [...outputIndexes],
  };
}

/** Extends a subgraph, or leaves it unchanged: additions are removed if `work` returns undefined. */
export function orNothing<Made>(scope: Scope, work: () => Made | undefined): Made | undefined {
  const lists = [scope.operands, scope.values, scope.operations, scope.readable, scope.referenced];
  const lengths = lists.map(({ length }) => length);
  const made = work();
  if (made === undefined) for (const [place, list] of lists.entries()) list.length = elementAt(lengths, place);
  return made;
}

/** Returns true if a value is a tensor that a model's input or a loop may have: one with elements. */
export function hasElements({ type, dimensions, data }: Tensor): boolean {
  return isTensorType(type) && data.length > 0 && dimensions.length > 0;
}

/** Returns true if an operand may be passed to IF and WHILE, and from their subgraphs: its extents are known. */
export function canPass({ operands }: Scope, index: number): boolean {
  return !elementAt(operands, index).isUnspecified;
}
