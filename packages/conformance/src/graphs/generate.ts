/**
 * Random graphs: models of many operations with inputs and with the results of the reference kernels. A graph follows from its
 * seed and its number alone.
 */
import { elementAt } from "@nnhal/operations";
import type { OperandTypeName } from "@nnhal/types";
import { drawTensor } from "../random/elements.ts";
import { createRandom, type Random } from "../random/random.ts";
import type { Example, ExampleOperand, ExampleSubgraph } from "../vectors/example.ts";
import { addControlFlow } from "./control-flow.ts";
import { addOperationOf, addSomeOperation, allSignatures, pickReadable, repeatOperation } from "./operations.ts";
import { addRearranging } from "./rearranging.ts";
import { addResiduals, mostOfResidual } from "./residuals.ts";
import { addInput, closeScope, createScope, type Scope } from "./scope.ts";

/** The most operations that a graph is drawn with; what makes values fit each other comes in addition. */
const mostOperations = 16;

/** Types of the first inputs; more often those that most operations take. */
const inputTypes: readonly OperandTypeName[] = [
  "TENSOR_FLOAT32",
  "TENSOR_FLOAT32",
  "TENSOR_FLOAT32",
  "TENSOR_FLOAT16",
  "TENSOR_FLOAT16",
  "TENSOR_QUANT8_ASYMM",
  "TENSOR_QUANT8_ASYMM",
  "TENSOR_QUANT8_ASYMM_SIGNED",
  "TENSOR_INT32",
  "TENSOR_BOOL8",
];

/** The graph of a number. Its outputs have no values yet: see `expectationOf`. `turn`: another one for the same number. Default 0. */
export function drawGraph(seed: number, index: number, turn = 0): Example {
  const random = createRandom(
    Math.imul(seed, 0x2545_f491) + Math.imul(index, 0x9e37_79b1) + Math.imul(turn, 0x85eb_ca6b),
  );
  for (;;) {
    const graph = tryGraph(seed, index, random);
    if (graph !== undefined) return graph;
  }
}

function tryGraph(seed: number, index: number, random: Random): Example | undefined {
  const scope = createScope(random);
  const inputs = random.integer(1, 3);
  for (let place = 0; place < inputs; place++) {
    const dimensions = Array.from({ length: random.pick([1, 2, 2, 3, 4, 4]) }, () => random.integer(1, 5));
    addInput(scope, drawTensor(random.pick(inputTypes), { dimensions }, random, random.pick(["plain", "fine"])));
  }
  const count = random.integer(2, mostOperations);
  const place = random.integer(0, count - 1);
  for (let turn = 0; turn < count; turn++) {
    if (turn === place) addInTurn(scope, index);
    if (random.chance(0.1)) addControlFlow(scope);
    else if (random.chance(0.12)) repeatOperation(scope);
    else if (random.chance(0.06)) addRearranging(scope);
    else addSomeOperation(scope);
  }
  if (scope.operations.length < 2) return undefined;
  const main = closeScope(scope, [...outputsOf(scope), ...residualsOf(scope, seed, index)]);
  return {
    name: `graphs/${seed}.${index}`,
    spec: "graphs",
    isRelaxed: false,
    expectFailure: false,
    expectedMultinomialDistributionTolerance: 0,
    main: random.chance(0.3) ? withUnknownExtents(main, random) : main,
    referenced: scope.referenced,
  };
}

/** An operation of the signature whose turn it is, so that all of them occur, however rarely chance would choose them. */
function addInTurn(scope: Scope, index: number): void {
  const signature = elementAt(allSignatures, index % allSignatures.length);
  for (let tries = 0; tries < 24; tries++) {
    if (addOperationOf(scope, signature, tries < 18 ? pickReadable(scope) : undefined)) return;
  }
}

/**
 * Adds, in every second graph, layers of few rows with residuals to the drawn operations. They have separate random numbers.
 */
function residualsOf(scope: Scope, seed: number, index: number): readonly number[] {
  if (index % 2 === 0) return [];
  const random = createRandom(Math.imul(seed, 0x1f12_3bb5) + index);
  return addResiduals({ ...scope, random, mostElements: mostOfResidual }, (index - 1) / 2);
}

/** Returns the results that no operation reads, and some that are read. */
function outputsOf({ operands, operations, random }: Scope): number[] {
  const read = new Set(operations.flatMap(({ inputs }) => inputs));
  return operations
    .flatMap(({ outputs }) => outputs)
    .filter((index) => elementAt(operands, index).lifetime === "TEMPORARY_VARIABLE")
    .filter((index) => !read.has(index) || random.chance(0.1));
}

/** Some extents of intermediate values and of inputs are not known before the execution. Those that IF and WHILE pass on must be. */
function withUnknownExtents(main: ExampleSubgraph, random: Random): ExampleSubgraph {
  const passed = new Set(
    main.operations.flatMap(({ type, inputs, outputs }) =>
      type === "IF" || type === "WHILE" ? [...inputs, ...outputs] : [],
    ),
  );
  const hide = (operand: ExampleOperand, index: number): ExampleOperand => {
    const { lifetime, dimensions } = operand;
    if (passed.has(index) || operand.isUnspecified || !random.chance(0.4)) return operand;
    if (lifetime === "SUBGRAPH_INPUT") return { ...operand, isUnspecified: true };
    if (lifetime !== "TEMPORARY_VARIABLE") return operand;
    return { ...operand, dimensions: dimensions.map((extent) => (random.chance(0.6) ? 0 : extent)) };
  };
  return { ...main, operands: main.operands.map(hide) };
}
