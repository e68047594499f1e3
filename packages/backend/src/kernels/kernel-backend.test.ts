import { operationByCode } from "@nnhal/operations";
import {
  ErrorStatus,
  type Model,
  type Operand,
  OperandLifeTime,
  OperandType,
  type Operation,
  OperationType,
  type Subgraph,
} from "@nnhal/types";
import { describe, expect, it } from "vitest";
import type { BackendSession, RunContext } from "../contract.ts";
import { viewModel, viewOperands, viewOperation } from "../graph.ts";
import { add, fakeBackend, type Handle, tensorOf } from "./fake-engine.test-helper.ts";
import type { Kernel, KernelTable } from "./kernel.ts";

const { TENSOR_FLOAT32, TENSOR_INT32, TENSOR_BOOL8, INT32, SUBGRAPH } = OperandType;
const life = OperandLifeTime;

const operand = (lifetime: number, dimensions: number[] = [2], more: Partial<Operand> = {}): Operand => ({
  type: TENSOR_FLOAT32,
  dimensions,
  numberOfConsumers: 1,
  scale: 0,
  zeroPoint: 0,
  lifetime,
  location: { poolIndex: 0, offset: 0, length: 0 },
  extraParams: { kind: "none" },
  ...more,
});
const input = operand(life.SUBGRAPH_INPUT);
const output = operand(life.SUBGRAPH_OUTPUT);
const temporary = operand(life.TEMPORARY_VARIABLE);
const none = operand(life.CONSTANT_COPY, [], { type: INT32, location: { poolIndex: 0, offset: 8, length: 4 } });
const weights = operand(life.CONSTANT_COPY, [2], { location: { poolIndex: 0, offset: 0, length: 8 } });
const subgraph = (offset: number) =>
  operand(life.SUBGRAPH, [], { type: SUBGRAPH, location: { poolIndex: 0, offset, length: 0 } });
/** [10, 20], then 0 for NONE. */
const operandValues = new Uint8Array(12);
operandValues.set(new Uint8Array(Float32Array.of(10, 20).buffer));

const plus = (inputs: number[], outputs: number[]): Operation => ({ type: OperationType.ADD, inputs, outputs });

const modelOf = (main: Subgraph, referenced: Subgraph[] = []): Model => ({
  main,
  referenced,
  operandValues,
  pools: [],
  relaxComputationFloat32toFloat16: false,
  extensionNameToPrefix: [],
});

/** out = ((in + weights) + in) + weights */
const chain = modelOf({
  operands: [input, weights, none, temporary, temporary, output],
  operations: [plus([0, 1, 2], [3]), plus([3, 0, 2], [4]), plus([4, 1, 2], [5])],
  inputIndexes: [0],
  outputIndexes: [5],
});

const context: RunContext = {
  now: process.hrtime.bigint,
  loopTimeoutDuration: 1_000_000_000n,
  measure: false,
  random: Math.random,
};

async function openOver(kernels: KernelTable<Handle>) {
  const { backend, record } = fakeBackend(kernels);
  const session = await backend.open();
  if ("unavailable" in session) throw new Error(session.unavailable);
  return { session, record };
}

const compile = (session: BackendSession, model: Model) =>
  session.compile(viewModel({ model, pools: [], operationByCode }), { preference: 1, priority: 1 });

async function runOn(session: BackendSession, model: Model, ...values: number[][]) {
  const executable = await compile(session, model);
  const bytes = new Uint8Array(8);
  const inputs = values.map((list) => ({ bytes: new Uint8Array(Float32Array.from(list).buffer), dimensions: [2] }));
  const result = await executable.run(inputs, [{ bytes, dimensions: [2] }], context);
  executable.close();
  return { ...result, values: [...new Float32Array(bytes.buffer)] };
}

describe("kernelBackend", () => {
  it("runs a chain, reads back only its output and releases everything", async () => {
    const { session, record } = await openOver({ ADD: add });
    const executable = await compile(session, chain);
    expect(record.alive.size).toBe(1);
    const { uploads, downloads } = record;
    const bytes = new Uint8Array(8);
    const run = () =>
      executable.run(
        [{ bytes: new Uint8Array(Float32Array.of(1, 2).buffer), dimensions: [2] }],
        [{ bytes, dimensions: [2] }],
        context,
      );
    await Promise.all([run(), run(), run()]);
    expect([...new Float32Array(bytes.buffer)]).toEqual([22, 44]);
    expect({ uploads: record.uploads - uploads, downloads: record.downloads - downloads }).toEqual({
      uploads: 3,
      downloads: 3,
    });
    expect(record.alive.size).toBe(1);
    executable.close();
    expect(record.alive.size).toBe(0);
    await session.close();
    expect(record.closed).toBe(1);
  });

  it("keeps a state between runs without reading it back", async () => {
    const { session, record } = await openOver({ ADD: add });
    const executable = await compile(session, chain);
    const facts = { type: "TENSOR_FLOAT32", dimensions: [2], scale: 0, zeroPoint: 0 } as const;
    const states = [session.allocate?.(facts), session.allocate?.(facts)];
    const [first, second] = states;
    if (first === undefined || second === undefined) throw new Error("no places");
    const none = new Uint8Array(0);
    const run = (from: typeof first, to: typeof first) =>
      executable.run(
        [{ bytes: none, dimensions: [2], buffer: from }],
        [{ bytes: none, dimensions: [2], buffer: to }],
        context,
      );

    expect(await run(first, second)).toMatchObject({ status: ErrorStatus.GENERAL_FAILURE });
    first.write(new Uint8Array(Float32Array.of(1, 2).buffer), [2]);
    const { uploads, downloads } = record;
    for (const [from, to] of [
      [first, second],
      [second, first],
      [first, first],
    ] as const) {
      expect(await run(from, to)).toMatchObject({
        status: ErrorStatus.NONE,
        outputShapes: [{ dimensions: [2], isSufficient: true }],
      });
    }
    expect({ uploads: record.uploads, downloads: record.downloads }).toEqual({ uploads, downloads });
    // The weights, and a value in each place.
    expect(record.alive.size).toBe(3);

    // x becomes 2x + 2 * [10, 20].
    const bytes = new Uint8Array(8);
    await first.read(bytes);
    expect([...new Float32Array(bytes.buffer)]).toEqual([148, 296]);
    await second.read(bytes);
    expect([...new Float32Array(bytes.buffer)]).toEqual([22, 44]);
    expect(record.downloads).toBe(downloads + 2);
    first.close();
    second.close();
    executable.close();
    expect(record.alive.size).toBe(0);
  });

  it("releases temporaries as soon as nothing reads them", async () => {
    const sizes: number[] = [];
    const { session, record } = await openOver({
      ADD: {
        prepare: (args, outputs, setup) => {
          const run = add.prepare(args, outputs, setup);
          return (read, more) => {
            sizes.push(record.alive.size);
            return run(read, more);
          };
        },
      },
    });
    await runOn(session, chain, [1, 2]);
    // The weights and the input; then one temporary; then the next one, without the input.
    expect(sizes.slice(-3)).toEqual([2, 3, 2]);
  });

  it("waits for kernels that take their time", async () => {
    const slow: Kernel<Handle> = {
      prepare: (args, outputs, setup) => {
        const run = add.prepare(args, outputs, setup);
        return async (read, more) => {
          const results = run(read, more);
          await new Promise((resolve) => setTimeout(resolve, 1));
          return results;
        };
      },
    };
    const { session, record } = await openOver({ ADD: slow });
    expect((await runOn(session, chain, [1, 2])).values).toEqual([22, 44]);
    expect(record.alive.size).toBe(0);
  });

  it("keeps what a kernel made of its constants, and lets go of the constants", async () => {
    const doubled: Kernel<Handle> = {
      prepare({ left, right }, _, { constant, keep }) {
        const raw = constant(tensorOf(right));
        const kept = raw && keep({ values: raw.values.map((value) => 2 * value) });
        return (read) => {
          const { values } = kept ?? read(tensorOf(right));
          return [{ values: read(tensorOf(left)).values.map((value, index) => value + values[index]) }];
        };
      },
    };
    const { session, record } = await openOver({ ADD: doubled });
    const executable = await compile(session, chain);
    // Two operations made something of the same weights, and nobody needs these any more.
    expect([...record.alive].map(({ values }) => values)).toEqual([
      [20, 40],
      [20, 40],
    ]);
    executable.close();
    expect(record.alive.size).toBe(0);
  });

  it("says in which operation an execution failed, and releases everything", async () => {
    const { session, record } = await openOver({
      ADD: {
        prepare: ({ left }) => {
          if (tensorOf(left).index === 4) return () => Promise.reject(new Error("out of order"));
          return () => [{ values: [0, 0] }];
        },
      },
    });
    expect(await runOn(session, chain, [1, 2])).toMatchObject({
      status: ErrorStatus.GENERAL_FAILURE,
      message: "operation 2 (ADD): out of order",
    });
    expect(record.alive.size).toBe(0);
  });

  it("keeps deadlines", async () => {
    const { session, record } = await openOver({ ADD: add });
    const executable = await compile(session, chain);
    const held = record.alive.size;
    let time = 0n;
    const late = { ...context, now: () => ++time, deadline: 3n };
    const inputs = [{ bytes: new Uint8Array(8), dimensions: [2] }];
    const outputs = [{ bytes: new Uint8Array(8), dimensions: [2] }];
    expect(await executable.run(inputs, outputs, late)).toMatchObject({
      status: ErrorStatus.MISSED_DEADLINE_TRANSIENT,
    });
    expect(record.alive.size).toBe(held);
    expect(await executable.run(inputs, outputs, { ...late, deadline: 1000n })).toMatchObject({
      status: ErrorStatus.NONE,
    });
  });

  it("writes no output that does not fit, and says what is needed", async () => {
    const { session } = await openOver({ ADD: add });
    const executable = await compile(session, chain);
    const bytes = new Uint8Array(7);
    const result = await executable.run(
      [{ bytes: new Uint8Array(8), dimensions: [2] }],
      [{ bytes, dimensions: [2] }],
      context,
    );
    expect(result).toMatchObject({
      status: ErrorStatus.OUTPUT_INSUFFICIENT_SIZE,
      message: "output 0 of shape 2 needs 8 bytes, not 7",
      outputShapes: [{ dimensions: [2], isSufficient: false }],
    });
    expect([...bytes]).toEqual([0, 0, 0, 0, 0, 0, 0]);
  });

  it("finds shapes that only the request knows", async () => {
    const open = (lifetime: number) => operand(lifetime, [0]);
    const unknown = modelOf({
      operands: [open(life.SUBGRAPH_INPUT), open(life.SUBGRAPH_INPUT), none, open(life.SUBGRAPH_OUTPUT)],
      operations: [plus([0, 1, 2], [3])],
      inputIndexes: [0, 1],
      outputIndexes: [3],
    });
    const { session, record } = await openOver({ ADD: add });
    const result = await runOn(session, unknown, [1, 2], [3, 4]);
    expect(result).toMatchObject({ status: ErrorStatus.NONE, values: [4, 6] });
    expect(result.outputShapes).toEqual([{ dimensions: [2], isSufficient: true }]);
    expect(record.alive.size).toBe(0);
  });

  it("refuses a result of another shape than the request says", async () => {
    const { session } = await openOver({ ADD: add });
    const executable = await compile(session, chain);
    const inputs = [{ bytes: new Uint8Array(8), dimensions: [2] }];
    const outputs = [{ bytes: new Uint8Array(12), dimensions: [3] }];
    expect(await executable.run(inputs, outputs, context)).toMatchObject({
      status: ErrorStatus.GENERAL_FAILURE,
      message: "operand 5 is declared as 3, but the result has shape 2",
    });
  });

  it("passes an engine's absence on", async () => {
    const { kernelBackend } = await import("./kernel-backend.ts");
    const absent = { unavailable: "no engine", remedy: "build one" };
    expect(await kernelBackend({ name: "none", deviceType: 1, open: async () => absent }).open()).toBe(absent);
  });
});

describe("what a backend of kernels supports", () => {
  const source = { model: chain, pools: [], operationByCode };
  const view = viewOperation(chain.main, 0, viewOperands(chain.main, source), source);

  it("is what it has kernels for, and what they do not refuse", async () => {
    if ("unknown" in view) throw new Error(view.unknown);
    const supportOf = async (kernels: KernelTable<Handle>) => (await openOver(kernels)).session.supports(view);
    expect(await supportOf({ ADD: add })).toEqual({ supported: true });
    expect(await supportOf({})).toEqual({ supported: false, reason: "ADD: fake has no kernel for it" });
    const seen: unknown[] = [];
    const picky: Kernel<Handle> = {
      ...add,
      refuse({ activation, left }) {
        seen.push(activation, tensorOf(left).dimensions);
        return "not today";
      },
    };
    expect(await supportOf({ ADD: picky })).toEqual({ supported: false, reason: "ADD: not today" });
    expect(seen).toEqual([0, [2]]);
  });

  it("tells how many computations a kernel takes, where it says so", async () => {
    if ("unknown" in view) throw new Error(view.unknown);
    const many: Kernel<Handle> = { ...add, launches: ({ left }) => 3 * tensorOf(left).dimensions[0] };
    const { session } = await openOver({ ADD: many });
    expect(session.supports(view)).toEqual({ supported: true, launches: 6 });
  });

  it("does not include operations whose shapes depend on the data", async () => {
    const box = operationByCode(OperationType.BOX_WITH_NMS_LIMIT);
    if (box === undefined || "unknown" in view) throw new Error("no definition");
    const { session } = await openOver({ BOX_WITH_NMS_LIMIT: add });
    expect(session.supports({ ...view, definition: box })).toMatchObject({ supported: false });
  });
});

describe("control flow on handles", () => {
  const condition = operand(life.SUBGRAPH_INPUT, [1], { type: TENSOR_BOOL8 });
  /** out = in + (weights, or in) */
  const branch = (other: 0 | 1): Subgraph => ({
    operands: [input, weights, none, output],
    operations: [plus([0, other, 2], [3])],
    inputIndexes: [0],
    outputIndexes: [3],
  });

  it("runs the branch that the condition chooses", async () => {
    const model = modelOf(
      {
        operands: [condition, subgraph(0), subgraph(1), input, output],
        operations: [{ type: OperationType.IF, inputs: [0, 1, 2, 3], outputs: [4] }],
        inputIndexes: [0, 3],
        outputIndexes: [4],
      },
      [branch(1), branch(0)],
    );
    const { session, record } = await openOver({ ADD: add });
    const executable = await compile(session, model);
    const bytes = new Uint8Array(8);
    const run = async (truth: number) => {
      const value = { bytes: new Uint8Array(Float32Array.of(1, 2).buffer), dimensions: [2] };
      const inputs = [{ bytes: Uint8Array.of(truth), dimensions: [1] }, value];
      expect(await executable.run(inputs, [{ bytes, dimensions: [2] }], context)).toMatchObject({ status: 0 });
      return [...new Float32Array(bytes.buffer)];
    };
    expect(await run(1)).toEqual([11, 22]);
    // Both branches have what they need now; the second one's constants came with its first run.
    const held = record.alive.size;
    expect(await run(0)).toEqual([2, 4]);
    expect(await run(1)).toEqual([11, 22]);
    expect(record.alive.size).toBe(held);
    executable.close();
    expect(record.alive.size).toBe(0);
  });

  /** While the first element of the counter is less than that of the limit, add 1 to it. */
  const less: Kernel<Handle> = {
    prepare:
      ({ left, right }) =>
      (read) => [{ values: [read(tensorOf(left)).values[0] < read(tensorOf(right)).values[0] ? 1 : 0] }],
  };
  const integer = (lifetime: number) => operand(lifetime, [1], { type: TENSOR_INT32 });
  const counter = integer(life.SUBGRAPH_INPUT);
  const loop = modelOf(
    {
      operands: [subgraph(0), subgraph(1), counter, counter, counter, integer(life.SUBGRAPH_OUTPUT)],
      operations: [{ type: OperationType.WHILE, inputs: [0, 1, 2, 3, 4], outputs: [5] }],
      inputIndexes: [2, 3, 4],
      outputIndexes: [5],
    },
    [
      {
        operands: [counter, counter, counter, operand(life.SUBGRAPH_OUTPUT, [1], { type: TENSOR_BOOL8 })],
        operations: [{ type: OperationType.LESS, inputs: [0, 1], outputs: [3] }],
        inputIndexes: [0, 1, 2],
        outputIndexes: [3],
      },
      {
        operands: [counter, counter, counter, none, integer(life.SUBGRAPH_OUTPUT)],
        operations: [plus([0, 2, 3], [4])],
        inputIndexes: [0, 1, 2],
        outputIndexes: [4],
      },
    ],
  );
  const runLoop = async (start: number, limit: number, step: number, more: Partial<RunContext> = {}) => {
    const { session, record } = await openOver({ ADD: add, LESS: less });
    const executable = await compile(session, loop);
    const held = record.alive.size;
    const bytes = new Uint8Array(4);
    const inputs = [start, limit, step].map((value) => ({
      bytes: new Uint8Array(Int32Array.of(value).buffer),
      dimensions: [1],
    }));
    const result = await executable.run(inputs, [{ bytes, dimensions: [1] }], { ...context, ...more });
    expect(record.alive.size).toBe(held);
    executable.close();
    expect(record.alive.size).toBe(0);
    return { status: result.status, value: new Int32Array(bytes.buffer)[0] };
  };

  it("runs a loop, any number of times", async () => {
    expect(await runLoop(0, 5, 1)).toEqual({ status: ErrorStatus.NONE, value: 5 });
    expect(await runLoop(7, 5, 1)).toEqual({ status: ErrorStatus.NONE, value: 7 });
  });

  it("ends a loop that takes too long", async () => {
    let time = 0n;
    const clock = { now: () => (time += 1000n), loopTimeoutDuration: 100_000n };
    expect(await runLoop(0, 5, 0, clock)).toMatchObject({ status: ErrorStatus.MISSED_DEADLINE_TRANSIENT });
  });
});
