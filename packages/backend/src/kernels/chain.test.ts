import { elementAt, OperationError } from "@nnhal/operations";
import { ErrorStatus, type Model, type Operand, OperandLifeTime, OperationType } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import type { RunContext } from "../contract.ts";
import { viewModel } from "../graph.ts";
import { fakeBackend, type Handle, tensorOf } from "./fake-engine.test-helper.ts";
import type { Kernel } from "./kernel.ts";
import { input, none, operand, operandValues, output, temporary } from "./kernel-models.test-helper.ts";

const life = OperandLifeTime;
/** [operation, inputs, output] over operands in0 and in1, NONE, and then temporaries or outputs. */
type Step = readonly [operation: "ADD" | "NEG", inputs: readonly number[], output: number];

const modelOf = (others: readonly Operand[], steps: readonly Step[]): Model => {
  const operands = [input, input, none, ...others];
  return {
    main: {
      operands,
      operations: steps.map(([name, inputs, at]) => ({
        type: OperationType[name],
        inputs: name === "ADD" ? [...inputs, 2] : [...inputs],
        outputs: [at],
      })),
      inputIndexes: [0, 1],
      outputIndexes: operands.flatMap(({ lifetime }, index) => (lifetime === life.SUBGRAPH_OUTPUT ? [index] : [])),
    },
    referenced: [],
    operandValues,
    pools: [],
    relaxComputationFloat32toFloat16: false,
    extensionNameToPrefix: [],
  };
};

/** The names of the operations that each kernel has been prepared for. */
function engine(refuses = false) {
  const prepared: string[] = [];
  const kernel = (name: string): Kernel<Handle> => ({
    leads: true,
    follows: () => true,
    prepare(args, _, { following }) {
      prepared.push([name, ...following.map((each) => each.name)].join("+"));
      if (refuses && following.length > 0) throw new OperationError("too much for one kernel");
      const apply = (operation: string, [left = [], right = []]: readonly (readonly number[])[]) =>
        operation === "NEG" ? left.map((value) => -value) : left.map((value, at) => value + elementAt(right, at));
      return (read) => {
        const tensors = (each: typeof args) => [each.input, each.left, each.right].filter((one) => one !== undefined);
        let values = apply(
          name,
          tensors(args).map((tensor) => read(tensorOf(tensor)).values),
        );
        for (const { name: next, args: its, chained } of following) {
          const of = (tensor: unknown) => (tensorOf(tensor).index === chained ? values : read(tensorOf(tensor)).values);
          values = apply(next, tensors(its).map(of));
        }
        return [{ values }];
      };
    },
  });
  return { ...fakeBackend({ ADD: kernel("ADD"), NEG: kernel("NEG") }), prepared };
}

const context: RunContext = {
  now: process.hrtime.bigint,
  loopTimeoutDuration: 1_000_000_000n,
  measure: false,
  random: Math.random,
};

async function run(model: Model, refuses = false) {
  const { backend, prepared, record } = engine(refuses);
  const session = await backend.open();
  if ("unavailable" in session) throw new Error(session.unavailable);
  const graph = viewModel({ model, pools: [] });
  const executable = await session.compile(graph, { preference: 1, priority: 1 });
  const outputs = model.main.outputIndexes.map(() => ({ bytes: new Uint8Array(8), dimensions: [2] }));
  const inputs = [
    [1, 2],
    [10, 20],
  ].map((values) => ({
    bytes: new Uint8Array(Float32Array.from(values).buffer),
    dimensions: [2],
  }));
  const { status } = await executable.run(inputs, outputs, context);
  executable.close();
  expect({ status, alive: record.alive.size }).toEqual({ status: ErrorStatus.NONE, alive: 0 });
  return { prepared, values: outputs.map(({ bytes }) => [...new Float32Array(bytes.buffer)]) };
}

describe("chains of operations", () => {
  it("are prepared as one kernel, without tensors in between", async () => {
    const model = modelOf(
      [temporary, temporary, output],
      [
        ["ADD", [0, 1], 3],
        ["NEG", [3], 4],
        ["ADD", [4, 1], 5],
      ],
    );
    expect(await run(model)).toEqual({ prepared: ["ADD+NEG+ADD"], values: [[-1, -2]] });
  });

  it("are split if the engine cannot prepare them", async () => {
    const model = modelOf(
      [temporary, output],
      [
        ["ADD", [0, 1], 3],
        ["NEG", [3], 4],
      ],
    );
    expect(await run(model, true)).toEqual({ prepared: ["ADD+NEG", "ADD", "NEG"], values: [[-11, -22]] });
  });

  it("end at a value that two operations read", async () => {
    const steps: Step[] = [
      ["ADD", [0, 1], 3],
      ["NEG", [3], 4],
      ["ADD", [3, 4], 5],
    ];
    expect(await run(modelOf([temporary, temporary, output], steps))).toEqual({
      prepared: ["ADD", "NEG+ADD"],
      values: [[0, 0]],
    });
  });

  it("end at an output of the graph", async () => {
    const model = modelOf(
      [output, output],
      [
        ["ADD", [0, 1], 3],
        ["NEG", [3], 4],
      ],
    );
    expect(await run(model)).toEqual({
      prepared: ["ADD", "NEG"],
      values: [
        [11, 22],
        [-11, -22],
      ],
    });
  });

  it("do not share an operation, and are computed when all their inputs are available", async () => {
    const steps: Step[] = [
      ["NEG", [0], 3],
      ["NEG", [1], 4],
      ["ADD", [3, 4], 5],
    ];
    expect(await run(modelOf([temporary, temporary, output], steps))).toEqual({
      prepared: ["NEG", "NEG+ADD"],
      values: [[-11, -22]],
    });
  });

  it("include an operation that reads the value twice", async () => {
    const model = modelOf(
      [temporary, output],
      [
        ["NEG", [0], 3],
        ["ADD", [3, 3], 4],
      ],
    );
    expect(await run(model)).toEqual({ prepared: ["NEG+ADD"], values: [[-2, -4]] });
  });

  it("end at a shape that only an execution knows", async () => {
    const unknown = operand(life.SUBGRAPH_INPUT, [0]);
    const model = modelOf(
      [temporary, output],
      [
        ["ADD", [0, 1], 3],
        ["NEG", [3], 4],
      ],
    );
    const { main } = model;
    const operands = main.operands.map((each, index) => (index < 2 ? unknown : each));
    const { prepared, values } = await run({ ...model, main: { ...main, operands } });
    expect(values).toEqual([[-11, -22]]);
    expect(prepared).not.toContain("ADD+NEG");
  });
});
