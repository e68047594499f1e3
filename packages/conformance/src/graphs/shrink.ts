/**
 * Shrinks a graph that fails to the smallest one that fails too: fewer operations, fewer outputs, values in place of the
 * operations that compute them, and known extents. Candidates that the reference refuses, or that the device computes
 * correctly, are dropped.
 */

import { type Candidates, shrinkBy } from "@nnhal/diff";
import { elementAt, type Tensor } from "@nnhal/operations";
import { bytesOf } from "../random/examples.ts";
import { createRandom } from "../random/random.ts";
import type { Example, ExampleOperand, ExampleOperation, ExampleSubgraph } from "../vectors/example.ts";
import { evaluate } from "./evaluate.ts";

/** Returns true if a candidate still fails. Its outputs have no values. */
export type StillFails = (candidate: Example) => Promise<boolean>;

/** The most candidates that are tried. */
const mostTries = 400;

/** Shrinks a graph until no simpler one fails, or `mostTries` were tried. */
export function shrinkGraph(graph: Example, stillFails: StillFails): Promise<Example> {
  const passes = [fewerOperations, fewerOutputs, valuesForOperations, operationsOfSubgraphs, findKnown];
  return shrinkBy(graph, { passes, stillFails, mostTries });
}

/** The first operations only, half as many as there are, then one less. */
const fewerOperations: Candidates<Example> = function* (graph) {
  const { operations } = graph.main;
  const counts = new Set([operations.length >> 1, (3 * operations.length) >> 2, operations.length - 1]);
  for (const count of counts) {
    if (count === 0 || count >= operations.length) continue;
    const first = operations.slice(0, count);
    const read = new Set(first.flatMap(({ inputs }) => inputs));
    const ends = first.flatMap(({ outputs }) => outputs).filter((index) => !read.has(index));
    const kept = graph.main.outputIndexes.filter((index) => first.some(({ outputs }) => outputs.includes(index)));
    yield withMain(graph, first, [...new Set([...kept, ...ends])]);
  }
};

/** One output alone, a few of them, or one less. */
const fewerOutputs: Candidates<Example> = function* (graph) {
  const { outputIndexes, operations } = graph.main;
  if (outputIndexes.length === 1) return;
  const half = outputIndexes.length >> 1;
  const lists = [
    ...outputIndexes.map((index) => [index]),
    outputIndexes.slice(0, half),
    outputIndexes.slice(half),
    ...outputIndexes.map((index) => outputIndexes.filter((other) => other !== index)),
  ];
  for (const list of lists) yield withMain(graph, operations, list);
};

/** An operation's results become inputs of the model, with the values that they have. */
const valuesForOperations: Candidates<Example> = function* (graph) {
  const evaluation = evaluate(graph, createRandom(0));
  if ("refused" in evaluation) return;
  const { main } = graph;
  const outputs = new Set(main.outputIndexes);
  for (const operation of main.operations) {
    if (operation.outputs.some((index) => outputs.has(index))) continue;
    const values = operation.outputs.map((index) => evaluation.values[index]);
    if (values.some((value) => value === undefined || value.data.length === 0 || value.dimensions.length === 0))
      continue;
    const operands = [...main.operands];
    for (const [position, index] of operation.outputs.entries()) {
      const value = values[position];
      if (value !== undefined) operands[index] = inputOf(elementAt(operands, index), value);
    }
    yield withMain(
      { ...graph, main: { ...main, operands } },
      main.operations.filter((other) => other !== operation),
      main.outputIndexes,
    );
  }
};

/** Subgraphs without the operations that nothing needs. */
const operationsOfSubgraphs: Candidates<Example> = function* (graph) {
  for (const [place, subgraph] of graph.referenced.entries()) {
    const needed = findNeeded(subgraph.operations, subgraph.outputIndexes);
    if (needed.length === subgraph.operations.length) continue;
    const referenced = graph.referenced.with(place, compact(countConsumers({ ...subgraph, operations: needed }), true));
    yield withMain({ ...graph, referenced }, graph.main.operations, graph.main.outputIndexes);
  }
};

/** Every extent that the reference finds is stated. */
const findKnown: Candidates<Example> = function* (graph) {
  const evaluation = evaluate(graph, createRandom(0));
  if ("refused" in evaluation) return;
  const { main } = graph;
  const operands = main.operands.map((operand, index): ExampleOperand => {
    const dimensions = evaluation.values[index]?.dimensions;
    const { isUnspecified, ...specified } = operand;
    if (operand.lifetime === "SUBGRAPH_INPUT" && isUnspecified) return specified;
    return operand.lifetime === "TEMPORARY_VARIABLE" && dimensions ? { ...operand, dimensions } : operand;
  });
  const isSame = ({ dimensions, isUnspecified }: ExampleOperand, index: number) =>
    String(dimensions) === String(main.operands[index]?.dimensions) &&
    isUnspecified === main.operands[index]?.isUnspecified;
  if (operands.every(isSame)) return;
  yield { ...graph, main: { ...main, operands } };
};

function inputOf(operand: ExampleOperand, value: Tensor): ExampleOperand {
  return { ...operand, lifetime: "SUBGRAPH_INPUT", dimensions: value.dimensions, data: bytesOf(value) };
}

/** The graph with these operations and outputs in its main subgraph, as far as they are needed, and without what nothing uses. */
function withMain(graph: Example, operations: readonly ExampleOperation[], outputIndexes: readonly number[]): Example {
  const needed = findNeeded(operations, outputIndexes);
  const outputs = new Set(outputIndexes);
  const operands = graph.main.operands.map((operand, index): ExampleOperand => {
    const { allowance: _, ...own } = operand;
    const isResult = own.lifetime === "TEMPORARY_VARIABLE" || own.lifetime === "SUBGRAPH_OUTPUT";
    if (!isResult) return own;
    return {
      ...own,
      data: null,
      isIgnored: false,
      lifetime: outputs.has(index) ? "SUBGRAPH_OUTPUT" : "TEMPORARY_VARIABLE",
    };
  });
  const main = compact(countConsumers({ ...graph.main, operands, operations: needed, outputIndexes }));
  return withoutSubgraphs({ ...graph, main });
}

/** The operations that outputs depend on. */
function findNeeded(operations: readonly ExampleOperation[], outputs: readonly number[]): ExampleOperation[] {
  const wanted = new Set(outputs);
  const needed: ExampleOperation[] = [];
  for (const operation of operations.toReversed()) {
    if (!operation.outputs.some((index) => wanted.has(index))) continue;
    for (const index of operation.inputs) wanted.add(index);
    needed.push(operation);
  }
  return needed.reverse();
}

function countConsumers(subgraph: ExampleSubgraph): ExampleSubgraph {
  const consumers = subgraph.operands.map(() => 0);
  for (const { inputs } of subgraph.operations) {
    for (const index of inputs) consumers[index] = (consumers[index] ?? 0) + 1;
  }
  const operands = subgraph.operands.map((operand, index) => ({
    ...operand,
    numberOfConsumers: elementAt(consumers, index),
  }));
  return { ...subgraph, operands };
}

/** Without the operands that nothing reads or writes, inputs among them unless `keepsInputs`. */
function compact(
  { operands, operations, inputIndexes, outputIndexes }: ExampleSubgraph,
  keepsInputs = false,
): ExampleSubgraph {
  const used = new Set([
    ...(keepsInputs ? inputIndexes : []),
    ...outputIndexes,
    ...operations.flatMap(({ inputs, outputs }) => [...inputs, ...outputs]),
  ]);
  const kept = operands.flatMap((_, index) => (used.has(index) ? [index] : []));
  const places = new Map(kept.map((index, place) => [index, place]));
  const move = (indexes: readonly number[]) => indexes.map((index) => places.get(index) ?? index);
  const own = kept.map((index) => elementAt(operands, index));
  return {
    operands: own,
    operations: operations.map(({ type, inputs, outputs }) => ({ type, inputs: move(inputs), outputs: move(outputs) })),
    inputIndexes: own.flatMap(({ lifetime }, index) => (lifetime === "SUBGRAPH_INPUT" ? [index] : [])),
    outputIndexes: move(outputIndexes),
  };
}

/** Without the subgraphs that nothing refers to. */
function withoutSubgraphs(graph: Example): Example {
  const used = new Set<number>();
  const visit = ({ operands }: ExampleSubgraph) => {
    for (const { lifetime, data } of operands) {
      const place = lifetime === "SUBGRAPH" && data !== null ? placeIn(data) : undefined;
      if (place === undefined || used.has(place)) continue;
      used.add(place);
      visit(elementAt(graph.referenced, place));
    }
  };
  visit(graph.main);
  const kept = [...used].sort((a, b) => a - b);
  const places = new Map(kept.map((index, place) => [index, place]));
  const moved = (subgraph: ExampleSubgraph): ExampleSubgraph => ({
    ...subgraph,
    operands: subgraph.operands.map((operand) => {
      if (operand.lifetime !== "SUBGRAPH" || operand.data === null) return operand;
      const data = new Uint8Array(4);
      new DataView(data.buffer).setUint32(0, places.get(placeIn(operand.data)) ?? 0, true);
      return { ...operand, data };
    }),
  });
  return {
    ...graph,
    main: moved(graph.main),
    referenced: kept.map((index) => moved(elementAt(graph.referenced, index))),
  };
}

function placeIn(data: Uint8Array): number {
  return new DataView(data.buffer, data.byteOffset).getUint32(0, true);
}
