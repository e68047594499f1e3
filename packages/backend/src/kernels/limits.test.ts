/** Limits that end a run or a compilation early: room for outputs, memory for temporaries, deadlines. */
import { ErrorStatus, type Model, OperandLifeTime, OperandType, OperationType, type Subgraph } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import type { RunContext } from "../contract.ts";
import { add, type Handle, tensorOf } from "./fake-engine.test-helper.ts";
import type { Kernel } from "./kernel.ts";
import {
  chain,
  compile,
  context,
  input,
  modelOf,
  none,
  openOver,
  operand,
  output,
  plus,
  subgraph,
  temporary,
} from "./kernel-models.test-helper.ts";

const { TENSOR_INT32, TENSOR_BOOL8, INT32 } = OperandType;
const life = OperandLifeTime;
const { NONE, OUTPUT_INSUFFICIENT_SIZE, MISSED_DEADLINE_TRANSIENT, GENERAL_FAILURE } = ErrorStatus;
const { RESOURCE_EXHAUSTED_PERSISTENT, RESOURCE_EXHAUSTED_TRANSIENT } = ErrorStatus;

/** A FILL that records its number of elements and computes nothing. */
function makeNoting(): { readonly kernel: Kernel<Handle>; readonly made: number[] } {
  const made: number[] = [];
  const kernel: Kernel<Handle> = {
    prepare:
      (_, { output: info }) =>
      () => {
        made.push(tensorOf(info).dimensions.reduce((product, extent) => product * extent, 1));
        return [{ values: [] }];
      },
  };
  return { kernel, made };
}

const shapeInput = operand(life.SUBGRAPH_INPUT, [2], { type: TENSOR_INT32 });
const unknownOutput = operand(life.SUBGRAPH_OUTPUT, [0, 0], { type: TENSOR_INT32 });
const fillOf = (inputs: number[], outputs: number[]) => ({ type: OperationType.FILL, inputs, outputs });
const int32 = (...values: number[]) => new Uint8Array(Int32Array.from(values).buffer);

/** FILL to a shape that the request determines. */
const filling = modelOf({
  operands: [shapeInput, none, unknownOutput],
  operations: [fillOf([0, 1], [2])],
  inputIndexes: [0],
  outputIndexes: [2],
});

/** FILL to a shape that the model determines; `more` operands and operations follow. */
function fillingConstant(shape: readonly [number, number]): Model {
  const model = modelOf({
    operands: [
      operand(life.CONSTANT_COPY, [2], { type: TENSOR_INT32, location: { poolIndex: 0, offset: 0, length: 8 } }),
      operand(life.CONSTANT_COPY, [], { type: INT32, location: { poolIndex: 0, offset: 8, length: 4 } }),
      unknownOutput,
    ],
    operations: [fillOf([0, 1], [2])],
    inputIndexes: [],
    outputIndexes: [2],
  });
  return { ...model, operandValues: int32(...shape, 7) };
}

const eight = () => ({ bytes: new Uint8Array(8), dimensions: [0, 0] });
const shapeOf = (...extents: number[]) => ({ bytes: int32(...extents), dimensions: [2] });

describe("outputs without room", () => {
  it.each([
    ["the model", fillingConstant([20_000, 20_000]), []],
    ["the request", filling, [shapeOf(20_000, 20_000)]],
  ])("end a run before the kernel, if %s tells the shape", async (_, model, inputs) => {
    const { kernel, made } = makeNoting();
    const { session, record } = await openOver({ FILL: kernel }, { warmsUp: false });
    const executable = await compile(session, model);
    expect(await executable.run(inputs, [eight()], context)).toEqual({
      status: OUTPUT_INSUFFICIENT_SIZE,
      message: "output 0 of shape 20000x20000 needs 1600000000 bytes, not 8",
      outputShapes: [{ dimensions: [20_000, 20_000], isSufficient: false }],
    });
    expect(made).toEqual([]);
    executable.close();
    expect(record.alive.size).toBe(0);
  });

  it("may have exactly the size of the value", async () => {
    const { kernel, made } = makeNoting();
    const { session } = await openOver({ FILL: kernel });
    const executable = await compile(session, filling);
    const run = (bytes: number) =>
      executable.run([shapeOf(2, 1)], [{ bytes: new Uint8Array(bytes), dimensions: [0, 0] }], context);
    expect((await run(7)).status).toBe(OUTPUT_INSUFFICIENT_SIZE);
    expect(made).toEqual([]);
    expect((await run(8)).status).toBe(NONE);
    expect(made).toEqual([2]);
  });

  it("end a run in the branch of an IF", async () => {
    const { kernel, made } = makeNoting();
    const branch: Subgraph = {
      operands: [shapeInput, none, unknownOutput],
      operations: [fillOf([0, 1], [2])],
      inputIndexes: [0],
      outputIndexes: [2],
    };
    const condition = operand(life.SUBGRAPH_INPUT, [1], { type: TENSOR_BOOL8 });
    const model = modelOf(
      {
        operands: [condition, subgraph(0), subgraph(0), shapeInput, unknownOutput],
        operations: [{ type: OperationType.IF, inputs: [0, 1, 2, 3], outputs: [4] }],
        inputIndexes: [0, 3],
        outputIndexes: [4],
      },
      [branch],
    );
    const { session, record } = await openOver({ FILL: kernel });
    const executable = await compile(session, model);
    const truth = { bytes: Uint8Array.of(1), dimensions: [1] };
    expect(await executable.run([truth, shapeOf(30_000, 5)], [eight()], context)).toMatchObject({
      status: OUTPUT_INSUFFICIENT_SIZE,
      outputShapes: [{ dimensions: [30_000, 5], isSufficient: false }],
    });
    expect(made).toEqual([]);
    executable.close();
    expect(record.alive.size).toBe(0);
  });

  it("report the shapes of all outputs, even of those that depend on an earlier kernel", async () => {
    const { kernel, made } = makeNoting();
    const model = modelOf({
      operands: [shapeInput, none, unknownOutput, unknownOutput],
      operations: [fillOf([0, 1], [2]), fillOf([0, 1], [3])],
      inputIndexes: [0],
      outputIndexes: [2, 3],
    });
    const { session } = await openOver({ FILL: kernel });
    const executable = await compile(session, model);
    const { outputShapes } = await executable.run([shapeOf(3, 4)], [eight(), eight()], context);
    expect(outputShapes.map(({ dimensions }) => dimensions)).toEqual([
      [3, 4],
      [3, 4],
    ]);
    expect(made).toEqual([12]);
  });
});

describe("temporaries", () => {
  const place = () => ({ bytes: new Uint8Array(4 * 64), dimensions: [0, 0] });

  it("have a limit, and a request that exceeds it fails again", async () => {
    const { kernel } = makeNoting();
    const { session } = await openOver({ FILL: kernel });
    const executable = await compile(session, filling);
    const run = (temporaryLimit: number) => executable.run([shapeOf(8, 8)], [place()], { ...context, temporaryLimit });
    for (let time = 0; time < 3; time++) {
      expect((await run(256)).status).toBe(NONE);
      expect(await run(255)).toEqual({
        status: RESOURCE_EXHAUSTED_TRANSIENT,
        message: "operation 1 (FILL): outputs of shape 8x8 need 256 bytes, but 255 of 255 are left for temporaries",
        outputShapes: [],
      });
    }
  });

  it("that the model alone makes too large are a persistent failure, and nothing is computed", async () => {
    const { kernel, made } = makeNoting();
    const { session } = await openOver({ FILL: kernel }, { warmsUp: false });
    const executable = await compile(session, fillingConstant([8, 8]));
    const run = (temporaryLimit: number) => executable.run([], [place()], { ...context, temporaryLimit });
    expect(await run(255)).toMatchObject({
      status: RESOURCE_EXHAUSTED_PERSISTENT,
      message: "operation 1 (FILL): temporaries take 256 bytes, more than the limit of 255",
    });
    expect(made).toEqual([]);
    expect((await run(256)).status).toBe(NONE);
  });

  it("count until nothing reads them, also those of a kernel that fails", async () => {
    let fails = true;
    const { session } = await openOver({
      ADD: {
        prepare: (args, outputs, setup) => {
          const run = add.prepare(args, outputs, setup);
          return (read, more) => {
            if (fails && tensorOf(args.left).index === 4) throw new Error("broken");
            return run(read, more);
          };
        },
      },
    });
    const executable = await compile(session, chain);
    const run = (temporaryLimit: number) =>
      executable.run([{ bytes: new Uint8Array(8), dimensions: [2] }], [{ bytes: new Uint8Array(8), dimensions: [2] }], {
        ...context,
        temporaryLimit,
      });
    for (let time = 0; time < 3; time++) expect((await run(16)).status).toBe(GENERAL_FAILURE);
    fails = false;
    // Two tensors of 8 bytes are alive at once, of four.
    expect((await run(16)).status).toBe(NONE);
    expect((await run(15)).status).toBe(RESOURCE_EXHAUSTED_PERSISTENT);
  });

  it("of concurrent runs count together", async () => {
    const releases: (() => void)[] = [];
    const waiting: Kernel<Handle> = {
      prepare: () => () =>
        new Promise((resolve) => {
          releases.push(() => resolve([{ values: [] }]));
        }),
    };
    const { session } = await openOver({ FILL: waiting });
    const executable = await compile(session, filling);
    const run = () => executable.run([shapeOf(8, 8)], [place()], { ...context, temporaryLimit: 511 });
    const start = async () => {
      while (releases.length === 0) await new Promise((resolve) => setImmediate(resolve));
      return releases.pop();
    };
    const first = run();
    const release = await start();
    expect(await run()).toMatchObject({
      status: RESOURCE_EXHAUSTED_TRANSIENT,
      message: expect.stringContaining("need 256 bytes, but 255 of 511 are left"),
    });
    release?.();
    expect((await first).status).toBe(NONE);
    const again = run();
    (await start())?.();
    expect((await again).status).toBe(NONE);
  });
});

describe("deadlines", () => {
  /** A clock that only `advance` moves. */
  function clock() {
    let time = 0n;
    return {
      now: () => time,
      advance(by: bigint) {
        time += by;
      },
    };
  }
  const one = modelOf({
    operands: [input, input, none, output],
    operations: [plus([0, 1, 2], [3])],
    inputIndexes: [0, 1],
    outputIndexes: [3],
  });
  const two = { bytes: new Uint8Array(8), dimensions: [2] };
  const late = { status: MISSED_DEADLINE_TRANSIENT, message: "the deadline passed before the execution ended" };

  it.each([
    ["the last kernel", 5n, 0n],
    ["reading the result", 0n, 5n],
  ])("hold for %s: a result that is ready too late is none", async (_, computing, reading) => {
    const { now, advance } = clock();
    const slow: Kernel<Handle> = {
      prepare: () => () => {
        advance(computing);
        return [{ values: [1, 2] }];
      },
    };
    const { session, record } = await openOver(
      { ADD: slow },
      {
        download() {
          advance(reading);
          return new Float32Array(2);
        },
        warmsUp: false,
      },
    );
    const executable = await compile(session, one);
    const run = (deadline: bigint) =>
      executable.run([two, two], [two], { ...context, now, deadline: now() + deadline });
    expect(await run(5n)).toMatchObject(late);
    expect((await run(6n)).status).toBe(NONE);
    expect(record.alive.size).toBe(0);
  });

  it("end a kernel at a pause, and run its finally blocks", async () => {
    const { now, advance } = clock();
    const events: string[] = [];
    const pausing: Kernel<Handle> = {
      prepare: () =>
        function* () {
          try {
            for (let step = 0; step < 5; step++) {
              advance(1n);
              events.push(`step ${step}`);
              yield;
            }
            return [{ values: [1, 2] }];
          } finally {
            events.push("freed");
          }
        },
    };
    const { session, record } = await openOver({ ADD: pausing }, { warmsUp: false });
    const executable = await compile(session, one);
    const run = (deadline: bigint) =>
      executable.run([two, two], [two], { ...context, now, deadline: now() + deadline });
    expect(await run(2n)).toMatchObject(late);
    expect(events).toEqual(["step 0", "step 1", "freed"]);
    expect((await run(6n)).status).toBe(NONE);
    expect(record.alive.size).toBe(0);
  });

  it("apply to compiling and warming up", async () => {
    const { now, advance } = clock();
    let isRunning = false;
    const slow: Kernel<Handle> = {
      prepare: (args, outputs, setup) => {
        advance(1n);
        const run = add.prepare(args, outputs, setup);
        return (read, more) => {
          isRunning = true;
          advance(10n);
          return run(read, more);
        };
      },
    };
    const { session, record } = await openOver({ ADD: slow });
    const prepare = (deadline: bigint) => {
      isRunning = false;
      return compile(session, chain, { now, deadline: now() + deadline });
    };
    const message = "the deadline passed while the model was prepared";
    await expect(prepare(2n)).rejects.toMatchObject({ status: MISSED_DEADLINE_TRANSIENT, message });
    expect(isRunning).toBe(false);
    await expect(prepare(20n)).rejects.toMatchObject({ status: MISSED_DEADLINE_TRANSIENT, message });
    expect(isRunning).toBe(true);
    expect(record.alive.size).toBe(0);
    const executable = await prepare(10_000n);
    executable.close();
    expect(record.alive.size).toBe(0);
  });

  it("do not limit large models: a warm-up ends before an operation that needs more than 256 MiB", async () => {
    const { kernel, made } = makeNoting();
    const { session } = await openOver({ FILL: kernel });
    const executable = await compile(session, fillingConstant([2 ** 13, 2 ** 13 + 1]));

    expect(made).toEqual([]);
    executable.close();
  });
});

describe("inputs that a request omits", () => {
  it("fail an operation that needs them, with its name", async () => {
    const open = (lifetime: number) => operand(lifetime, [0]);
    const model = modelOf({
      operands: [open(life.SUBGRAPH_INPUT), input, none, temporary, open(life.SUBGRAPH_OUTPUT)],
      operations: [plus([0, 1, 2], [3]), plus([3, 1, 2], [4])],
      inputIndexes: [0, 1],
      outputIndexes: [4],
    });
    const { session } = await openOver({ ADD: add });
    const executable = await compile(session, model);
    const run = (given: Partial<RunContext> = {}) =>
      executable.run(
        [undefined, { bytes: new Uint8Array(8), dimensions: [2] }],
        [{ bytes: new Uint8Array(8), dimensions: [2] }],
        { ...context, ...given },
      );
    expect(await run()).toMatchObject({
      status: GENERAL_FAILURE,
      message: "operation 1 (ADD): input 0 (left) has no value, but the operation needs one",
    });
  });
});
