import { elementAt } from "@nnhal/operations";
import { describe, expect, it } from "vitest";
import { readElements } from "../vectors/elements.ts";
import type { Example, ExampleOperand, ExampleOperation } from "../vectors/example.ts";
import { expectationOf } from "./expected.ts";

const operand = (lifetime: ExampleOperand["lifetime"], own: Partial<ExampleOperand> = {}): ExampleOperand => ({
  type: "TENSOR_FLOAT32",
  dimensions: [4],
  scale: 0,
  zeroPoint: 0,
  numberOfConsumers: 1,
  channelQuant: null,
  isIgnored: false,
  data: null,
  lifetime,
  ...own,
});
const floats = (...numbers: number[]) => new Uint8Array(Float32Array.from(numbers).buffer);

/** Operations on one input of four numbers; operand 1 and those after it are their results, operand 0 is the input. */
function chain(
  numbers: readonly number[],
  operations: readonly ExampleOperation[],
  own: Partial<ExampleOperand> = {},
): Example {
  const last = operations.length;
  const operands = [
    operand("SUBGRAPH_INPUT", { data: floats(...numbers) }),
    ...operations.map((_, index) =>
      index + 1 === last ? operand("SUBGRAPH_OUTPUT", own) : operand("TEMPORARY_VARIABLE"),
    ),
  ];
  return {
    name: "chain",
    spec: "chain",
    isRelaxed: false,
    expectFailure: false,
    expectedMultinomialDistributionTolerance: 0,
    main: { operands, operations, inputIndexes: [0], outputIndexes: [last] },
    referenced: [],
  };
}

const unary = (...types: ExampleOperation["type"][]): ExampleOperation[] =>
  types.map((type, index) => ({ type, inputs: [index], outputs: [index + 1] }));

function outputOf(graph: Example, exact = false) {
  const expectation = expectationOf(graph, exact);
  if (expectation === undefined) throw new Error("nothing is expected");
  const { main } = expectation.example;
  const output = elementAt(main.operands, elementAt(main.outputIndexes, 0));
  const values = output.data === null ? [] : [...readElements(output.type, output.data)];
  return { ...output.allowance, ...expectation.elements, values, isIgnored: output.isIgnored };
}

describe("what is expected of a graph", () => {
  it("is what the reference kernels compute", () => {
    expect(outputOf(chain([1, -2, 3, 0], unary("ABS", "NEG"))).values).toEqual([-1, -2, -3, -0]);
  });

  it("is exact if no operation may be off", () => {
    expect(outputOf(chain([1, -2, 3, 0], unary("ABS", "NEG")))).toMatchObject({
      elements: [0, 0, 0, 0],
      bias: 0,
      meanSquare: 0,
      judged: 4,
      total: 4,
    });
  });

  it("leaves open which of two elements that are nearly equal is the greater one", () => {
    const pairs = Array.from({ length: 60 }, (_, pair) => [pair / 8, pair / 8]).flat();
    const { main, ...graph } = chain(pairs, unary("EXP", "ARGMAX"));
    const shape = { dimensions: [60, 2] };
    const operands = [
      ...main.operands.slice(0, 2).map((each) => ({ ...each, ...shape })),
      operand("SUBGRAPH_OUTPUT", { type: "TENSOR_INT32", dimensions: [60] }),
      operand("CONSTANT_COPY", { type: "INT32", dimensions: [], data: Uint8Array.of(1, 0, 0, 0) }),
    ];
    const operations: ExampleOperation[] = [
      ...main.operations.slice(0, 1),
      { type: "ARGMAX", inputs: [1, 3], outputs: [2] },
    ];
    const { elements = [], values } = outputOf({ ...graph, main: { ...main, operands, operations } });
    expect(values).toEqual(new Array(60).fill(0));
    expect(elements).toEqual(new Array(60).fill(2));
  });

  it("leaves open whether a number of float16 is rounded between operations", () => {
    const half = Uint8Array.of(0x00, 0x3c, 0x00, 0xc0, 0x00, 0x44, 0x00, 0x00);
    const graph = chain([0, 0, 0, 0], unary("ABS", "CAST"));
    const of16 = (place: number, own: Partial<ExampleOperand> = {}): ExampleOperand => ({
      ...elementAt(graph.main.operands, place),
      type: "TENSOR_FLOAT16",
      ...own,
    });
    const operands = [of16(0, { data: half }), of16(1), elementAt(graph.main.operands, 2)];
    const { elements, values } = outputOf({ ...graph, main: { ...graph.main, operands } });
    expect(values).toEqual([1, 2, 4, 0]);
    for (const [at, value] of values.entries()) {
      const allowed = elementAt(elements ?? [], at) ?? Number.NaN;
      expect(allowed).toBeGreaterThanOrEqual(value * 2 ** -11);
      // CAST may be off by a little, too.
      expect(allowed).toBeLessThanOrEqual(value * 2 ** -9 + 1e-4);
    }
  });

  it("is less exact after each operation that may be off", () => {
    const worst = (graph: Example) => Math.max(...(outputOf(graph).elements ?? []).map(Number));
    const [one, two] = [worst(chain([1, 2, 3, 0.5], unary("EXP"))), worst(chain([1, 2, 3, 0.5], unary("EXP", "EXP")))];
    expect(one).toBeGreaterThan(0);
    // e^20 has the error of e^3 twenty times over, in proportion to it.
    expect(two / Math.exp(Math.exp(3))).toBeGreaterThan(5 * (one / Math.exp(3)));
  });

  it("grows with an error that a later operation makes greater, and not with one that it makes smaller", () => {
    const steep = outputOf(chain([1, 1, 1, 1], unary("EXP", "RELU1")));
    expect(steep.elements).toEqual([0, 0, 0, 0]);
  });

  it("is not judged where an error that is allowed makes it something else", () => {
    const { elements, judged } = outputOf(chain([0, 0.5, 1, 2], unary("EXP", "LOG", "FLOOR")));
    // ln(e^0), ln(e^1) and ln(e^2) may be a little less than 0, 1 and 2.
    expect(elements).toEqual([null, 0, null, null]);
    expect(judged).toBe(1);
  });

  it("is not judged where the HAL leaves open what becomes of NaN and infinities, and is beside them", () => {
    const { elements } = outputOf(chain([-1, 1, 4, Number.POSITIVE_INFINITY], unary("SQRT", "RELU")));
    expect(elements?.map((bound) => bound === null)).toEqual([true, false, false, true]);
    expect(outputOf(chain([Number.NaN, 1, 4, Number.POSITIVE_INFINITY], unary("NEG", "ABS"))).elements).toEqual([
      0, 0, 0, 0,
    ]);
  });

  it("has bounds for the mean of all differences, and for that of their squares", () => {
    const { elements = [], bias = 0, meanSquare = 0 } = outputOf(chain([1, 2, 3, 4], unary("TANH")));
    const most = Math.max(...elements.map(Number));
    expect(bias).toBeGreaterThan(0);
    expect(bias).toBeLessThanOrEqual(most);
    expect(meanSquare).toBeGreaterThan(0);
    expect(meanSquare).toBeLessThanOrEqual(most * most);
  });

  it("is every element of the reference, if it must be exact", () => {
    const { elements, absolute, relative, judged } = outputOf(
      chain([0, 0.5, 1, 2], unary("EXP", "LOG", "FLOOR")),
      true,
    );
    expect({ elements, absolute, relative, judged }).toEqual({
      elements: undefined,
      absolute: 0,
      relative: 0,
      judged: 4,
    });
  });

  it("is nothing where numbers are drawn at random, exact or not", () => {
    const graph = chain([1, 1, 1, 1], []);
    const integers = (lifetime: ExampleOperand["lifetime"], own: Partial<ExampleOperand>) =>
      operand(lifetime, { type: "TENSOR_INT32", ...own });
    const int32 = (...numbers: number[]) => new Uint8Array(Int32Array.from(numbers).buffer);
    const operands = [
      operand("SUBGRAPH_INPUT", { dimensions: [1, 4], data: floats(1, 1, 1, 1) }),
      operand("CONSTANT_COPY", { type: "INT32", dimensions: [], data: int32(3) }),
      integers("CONSTANT_COPY", { dimensions: [2], data: int32(1, 2) }),
      integers("SUBGRAPH_OUTPUT", { dimensions: [1, 3] }),
    ];
    const operations = [{ type: "RANDOM_MULTINOMIAL", inputs: [0, 1, 2], outputs: [3] }] as const;
    const main = { operands, operations, inputIndexes: [0], outputIndexes: [3] };
    for (const exact of [false, true]) {
      expect(outputOf({ ...graph, main }, exact)).toMatchObject({ isIgnored: true, judged: 0, total: 3 });
    }
  });

  it("is nothing at all if the reference refuses the graph", () => {
    const operations = [{ type: "ADD", inputs: [0, 0], outputs: [1] }] as const;
    expect(expectationOf(chain([1, 2, 3, 4], operations))).toBeUndefined();
  });
});
