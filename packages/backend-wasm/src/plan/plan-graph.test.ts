/** Fusion of operations: no needless copies, and few steps. */
import { viewModel } from "@nnhal/backend";
import { modelOf, operand, subgraphOf } from "@nnhal/test-kit/models";
import { type Operand, OperandLifeTime, OperandType, type Operation, OperationType } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { nodesOf } from "./expression.ts";
import type { Step } from "./plan.ts";
import { planGraph } from "./plan-graph.ts";

const { TENSOR_FLOAT32, TENSOR_INT32, INT32 } = OperandType;
const { SUBGRAPH_INPUT, SUBGRAPH_OUTPUT, TEMPORARY_VARIABLE, CONSTANT_COPY } = OperandLifeTime;

const values: number[] = [];
const constant = (type: number, dimensions: number[], data: Int32Array | Float32Array): Operand => {
  const offset = values.length;
  values.push(...new Uint8Array(data.buffer));
  return operand({
    type,
    dimensions,
    lifetime: CONSTANT_COPY,
    location: { poolIndex: 0, offset, length: data.byteLength },
  });
};
const float = (lifetime: number, dimensions: number[]) => operand({ type: TENSOR_FLOAT32, dimensions, lifetime });
const number = (value: number) => constant(INT32, [], Int32Array.of(value));

function planOf(operands: Operand[], operations: Operation[]) {
  const model = modelOf(subgraphOf(operands, operations), { operandValues: Uint8Array.from(values) });
  const graph = viewModel({ model, pools: [] });
  return planGraph(
    graph,
    graph.inputs.map((index) => graph.operands[index]?.dimensions),
  );
}

it("makes one step of a padded convolution, its activation and a sum, and none of a reshape", () => {
  const image = [1, 4, 4, 2];
  const operands = [
    float(SUBGRAPH_INPUT, image),
    constant(TENSOR_INT32, [4, 2], Int32Array.of(0, 0, 1, 1, 1, 1, 0, 0)),
    float(TEMPORARY_VARIABLE, [1, 6, 6, 2]),
    constant(TENSOR_FLOAT32, [1, 3, 3, 2], new Float32Array(18).fill(1)),
    constant(TENSOR_FLOAT32, [2], new Float32Array(2)),
    float(TEMPORARY_VARIABLE, image),
    float(TEMPORARY_VARIABLE, image),
    float(TEMPORARY_VARIABLE, image),
    constant(TENSOR_INT32, [2], Int32Array.of(1, -1)),
    float(SUBGRAPH_OUTPUT, [1, 32]),
    ...[2, 1, 1, 1, 0].map(number),
  ];
  const [valid, one, none] = [10, 11, 14];
  const plan = planOf(operands, [
    { type: OperationType.PAD, inputs: [0, 1], outputs: [2] },
    { type: OperationType.DEPTHWISE_CONV_2D, inputs: [2, 3, 4, valid, one, one, one, none], outputs: [5] },
    { type: OperationType.RELU, inputs: [5], outputs: [6] },
    { type: OperationType.ADD, inputs: [6, 0, none], outputs: [7] },
    { type: OperationType.RESHAPE, inputs: [7, 8], outputs: [9] },
  ]);
  expect(plan.steps.map(({ name }) => name)).toEqual(["DEPTHWISE_CONV_2D+RELU+ADD"]);
  const [step] = plan.steps;
  expect(step).toMatchObject({ kind: "depthwise", window: { paddingTop: 1, paddingLeft: 1 }, units: 4 });
  // The input is the image and the other term.
  expect(step).toMatchObject({
    source: { region: plan.inputs[0]?.region },
    operands: [{ region: plan.inputs[0]?.region }],
  });
});

describe("a network of very many operations", () => {
  const count = 3000;
  const sizeOf = (step: Step) =>
    step.kind === "elementwise" ? { operands: step.operands.length, nodes: nodesOf(step.value).size } : undefined;

  it("has steps of limited sizes, though each operation could be a part of the next", () => {
    const results = Array.from({ length: count }, (_, place) =>
      float(place === count - 1 ? SUBGRAPH_OUTPUT : TEMPORARY_VARIABLE, [2]),
    );
    const chain = results.map((_, place) => ({ type: OperationType.TANH, inputs: [place], outputs: [place + 1] }));
    const { steps } = planOf([float(SUBGRAPH_INPUT, [2]), ...results], chain);
    expect(Math.max(...steps.map((step) => sizeOf(step)?.nodes ?? 0))).toBeLessThanOrEqual(512);
    expect(steps.length).toBeLessThan(count / 4);
    expect(steps.flatMap(({ name }) => name.split("+"))).toHaveLength(count);
  });

  it("has steps of few operands, though each operation adds one more", () => {
    const terms = Array.from({ length: count + 1 }, () => float(SUBGRAPH_INPUT, [2]));
    const sums = terms
      .slice(1)
      .map((_, place) => float(place === count - 1 ? SUBGRAPH_OUTPUT : TEMPORARY_VARIABLE, [2]));
    const none = count + 1;
    const adds = sums.map((_, place) => ({
      type: OperationType.ADD,
      inputs: [place === 0 ? 0 : none + place, place + 1, none],
      outputs: [none + place + 1],
    }));
    const { steps } = planOf([...terms, number(0), ...sums], adds);
    expect(Math.max(...steps.map((step) => sizeOf(step)?.operands ?? 0))).toBe(32);
    expect(steps).toHaveLength(Math.ceil(count / 31));
  });

  it("is planned with an operation of very many inputs", () => {
    const parts = Array.from({ length: count }, () => float(SUBGRAPH_INPUT, [1]));
    const operands = [...parts, number(0), float(SUBGRAPH_OUTPUT, [count])];
    const join = {
      type: OperationType.CONCATENATION,
      inputs: [...operands.keys()].slice(0, -1),
      outputs: [operands.length - 1],
    };
    expect(planOf(operands, [join]).steps).toHaveLength(count);
  });
});

it("keeps a result that another operation reads, or that is an output", () => {
  const two = (lifetime: number) => float(lifetime, [2]);
  const abs = { type: OperationType.ABS, inputs: [0], outputs: [1] };
  const neg = { type: OperationType.NEG, inputs: [1], outputs: [2] };
  const fused = planOf([two(SUBGRAPH_INPUT), two(TEMPORARY_VARIABLE), two(SUBGRAPH_OUTPUT)], [abs, neg]);
  expect(fused.steps.map(({ name }) => name)).toEqual(["ABS+NEG"]);
  const output = planOf([two(SUBGRAPH_INPUT), two(SUBGRAPH_OUTPUT), two(SUBGRAPH_OUTPUT)], [abs, neg]);
  expect(output.steps.map(({ name }) => name)).toEqual(["ABS", "NEG"]);
  const sqrt = { type: OperationType.SQRT, inputs: [1], outputs: [3] };
  const operands = [two(SUBGRAPH_INPUT), two(TEMPORARY_VARIABLE), two(SUBGRAPH_OUTPUT), two(SUBGRAPH_OUTPUT)];
  expect(planOf(operands, [abs, neg, sqrt]).steps).toHaveLength(3);
  const unused = planOf(
    [two(SUBGRAPH_INPUT), two(TEMPORARY_VARIABLE), two(SUBGRAPH_OUTPUT)],
    [abs, { ...neg, inputs: [0] }],
  );
  expect(unused.steps.map(({ name }) => name)).toEqual(["NEG"]);
});

it("copies an output that is an input under another shape", () => {
  const operands = [
    float(SUBGRAPH_INPUT, [2, 3]),
    constant(TENSOR_INT32, [1], Int32Array.of(6)),
    float(SUBGRAPH_OUTPUT, [6]),
  ];
  const plan = planOf(operands, [{ type: OperationType.RESHAPE, inputs: [0, 1], outputs: [2] }]);
  expect(plan.steps).toMatchObject([{ kind: "move", name: "copy" }]);
  expect(plan.outputs[0]?.region).not.toBe(plan.inputs[0]?.region);
});
