/** The session and its executables: what they do around the computation. */
import { type BackendSession, type Executable, type GraphView, type RunContext, viewModel } from "@nnhal/backend";
import { elementAt } from "@nnhal/operations";
import { modelOf, operand, subgraphOf } from "@nnhal/test-kit/models";
import { ErrorStatus, ExecutionPreference, OperandLifeTime, OperandType, OperationType, Priority } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { backend, wasmBackendOver } from "./wasm-backend.ts";
import { type WebAssemblyApi, webAssembly } from "./web-assembly.ts";

const { SUBGRAPH_INPUT, SUBGRAPH_OUTPUT, TEMPORARY_VARIABLE } = OperandLifeTime;
const options = { preference: ExecutionPreference.SUSTAINED_SPEED, priority: Priority.MEDIUM };

async function sessionOf(): Promise<BackendSession> {
  const session = await backend.open();
  if ("unavailable" in session) throw new Error(session.unavailable);
  return session;
}

/** -|x|, or with `second` another function of |x|. */
function graphOf(dimensions: number[], second: number = OperationType.NEG): GraphView {
  const of = (lifetime: number) => operand({ type: OperandType.TENSOR_FLOAT32, dimensions, lifetime });
  const operations = [
    { type: OperationType.ABS, inputs: [0], outputs: [1] },
    { type: second, inputs: [1], outputs: [2] },
  ];
  const operands = [of(SUBGRAPH_INPUT), of(TEMPORARY_VARIABLE), of(SUBGRAPH_OUTPUT)];
  return viewModel({ model: modelOf(subgraphOf(operands, operations)), pools: [] });
}

const context: RunContext = { now: () => 0n, loopTimeoutDuration: 1n, measure: false, random: () => 0 };
const bytesOf = (data: Float32Array) => new Uint8Array(data.buffer);

async function run(executable: Executable, values: Float32Array, more: Partial<RunContext> = {}, room = values.length) {
  const output = new Float32Array(room);
  const result = await executable.run(
    [{ bytes: bytesOf(values), dimensions: [values.length] }],
    [{ bytes: bytesOf(output), dimensions: [0] }],
    { ...context, ...more },
  );
  return { ...result, values: [...output] };
}

describe("the backend", () => {
  it("is unavailable without WebAssembly, and without vectors", async () => {
    expect(await wasmBackendOver(undefined).open()).toMatchObject({ unavailable: "there is no WebAssembly here" });
    const api = webAssembly();
    if (api === undefined) throw new Error("there is no WebAssembly");
    const without = wasmBackendOver({ ...api, validate: () => false });
    expect(await without.open()).toMatchObject({ unavailable: "there is no WebAssembly with 128-bit vectors here" });
  });

  it("says why it does not support an operation", async () => {
    const session = await sessionOf();
    const reasonOf = (graph: GraphView) => session.supports(elementAt(graph.operations, 1));
    expect(reasonOf(graphOf([2]))).toEqual({ supported: true });
    const location = { poolIndex: 0, offset: 0, length: 4 };
    const operands = [
      operand({ dimensions: [1, 2], lifetime: SUBGRAPH_INPUT }),
      operand({ type: OperandType.INT32, dimensions: [], lifetime: OperandLifeTime.CONSTANT_COPY, location }),
      operand({ type: OperandType.TENSOR_INT32, dimensions: [2], lifetime: SUBGRAPH_INPUT }),
      operand({ type: OperandType.TENSOR_INT32, dimensions: [1, 1], lifetime: SUBGRAPH_OUTPUT }),
    ];
    const lone = subgraphOf(operands, [{ type: OperationType.RANDOM_MULTINOMIAL, inputs: [0, 1, 2], outputs: [3] }]);
    const [draw] = viewModel({
      model: modelOf(lone, { operandValues: Uint8Array.of(1, 0, 0, 0) }),
      pools: [],
    }).operations;
    expect(draw && session.supports(draw)).toEqual({
      supported: false,
      reason: "RANDOM_MULTINOMIAL: wasm does not have this operation",
    });
    const { supported, ...why } = reasonOf(graphOf([2 ** 16, 2 ** 15]));
    expect(supported).toBe(false);
    expect(why).toEqual({ reason: expect.stringContaining("a tensor of 8589934592 bytes is more than the") });
  });

  it("refuses what does not fit its memory when it compiles, before it takes any", async () => {
    const session = await sessionOf();
    await expect(session.compile(graphOf([2 ** 16, 2 ** 15]), options)).rejects.toThrow("8589934592 bytes");
    // Each fits, but all do not.
    const many = graphOf([2 ** 28]);
    await expect(session.compile(many, options)).rejects.toThrow(/the network needs \d+ bytes of memory/);
  });
});

describe("a platform that refuses a network", () => {
  /** A session whose platform has no room for modules and memories of more than a self-check's. */
  async function sessionWith(change: Partial<WebAssemblyApi>) {
    const api = webAssembly();
    if (api === undefined) throw new Error("there is no WebAssembly");
    const changed = { ...api, Memory: api.Memory, Instance: api.Instance };
    const session = await wasmBackendOver(changed).open();
    if ("unavailable" in session) throw new Error(session.unavailable);
    Object.assign(changed, change);
    return session;
  }
  const refuseWith = (error: Error) =>
    class {
      constructor() {
        throw error;
      }
    };
  const noRoom = new RangeError("could not allocate memory");

  it.each([
    [
      "its module",
      { compile: () => Promise.reject(new Error("a function is too large")) },
      ErrorStatus.GENERAL_FAILURE,
      /compiling the module of \d+ bytes: a function is too large/,
    ],
    [
      "memory for its module",
      { compile: () => Promise.reject(noRoom) },
      ErrorStatus.RESOURCE_EXHAUSTED_TRANSIENT,
      /compiling the module of \d+ bytes: could not allocate memory/,
    ],
    [
      "its memory",
      { Memory: refuseWith(noRoom) },
      ErrorStatus.RESOURCE_EXHAUSTED_TRANSIENT,
      /taking \d+ bytes of memory for a network: could not allocate memory/,
    ],
    [
      "an instance",
      { Instance: refuseWith(noRoom) },
      ErrorStatus.RESOURCE_EXHAUSTED_TRANSIENT,
      /taking \d+ bytes of memory for a network: could not allocate memory/,
    ],
  ] as [string, Partial<WebAssemblyApi>, ErrorStatus, RegExp][])(
    "says what it refuses: %s",
    async (_what, change, status, message) => {
      const session = await sessionWith(change);
      const error = await session.compile(graphOf([3]), options).catch((reason) => reason);
      expect(error.message).toMatch(message);
      expect(error.status ?? ErrorStatus.GENERAL_FAILURE).toBe(status);
      // Of a network whose extents a request decides, the run fails.
      const open = await session.compile(graphOf([0]), options);
      const result = await run(open, Float32Array.of(1, 2, 3));
      expect(result).toMatchObject({ status, message: expect.stringMatching(message) });
    },
  );
});

describe("an executable", () => {
  it("runs with other extents each time, if the model leaves them open", async () => {
    const executable = await (await sessionOf()).compile(graphOf([0]), options);
    for (const length of [3, 5, 1, 17, 64, 3, 200, 5]) {
      const values = Float32Array.from({ length }, (_, place) => (place % 2 === 0 ? place : -place));
      const result = await run(executable, values);
      expect(result).toMatchObject({ status: ErrorStatus.NONE, outputShapes: [{ dimensions: [length] }] });
      expect(result.values).toEqual([...values].map((value) => -Math.abs(value)));
    }
    expect(executable.serialize).toBeUndefined();
  });

  it("says that an output has too little room", async () => {
    const executable = await (await sessionOf()).compile(graphOf([3]), options);
    expect(await run(executable, Float32Array.of(1, -2, 3), {}, 2)).toMatchObject({
      status: ErrorStatus.OUTPUT_INSUFFICIENT_SIZE,
      outputShapes: [{ dimensions: [3], isSufficient: false }],
    });
  });

  it("needs no more memory for results than it is allowed", async () => {
    const executable = await (await sessionOf()).compile(graphOf([3]), options);
    const values = Float32Array.of(1, -2, 3);
    expect(await run(executable, values, { temporaryLimit: 64 })).toMatchObject({
      status: ErrorStatus.RESOURCE_EXHAUSTED_PERSISTENT,
    });
    expect(await run(executable, values, { temporaryLimit: 4096 })).toMatchObject({ status: ErrorStatus.NONE });
  });

  /** A clock that goes on by 20 ms with each look, so that each look is a pause. */
  const slow = () => {
    let time = 0n;
    return () => (time += 20_000_000n);
  };
  const length = 2 ** 20;

  it("gives each of several runs its own result, though they pause", async () => {
    const executable = await (await sessionOf()).compile(graphOf([length], OperationType.EXP), options);
    const inputs = [0, 1, 2].map((value) => new Float32Array(length).fill(-value));
    const results = await Promise.all(inputs.map((values) => run(executable, values, { now: slow() })));
    for (const [place, { status, values }] of results.entries()) {
      expect(status).toBe(ErrorStatus.NONE);
      for (const at of [0, length / 2, length - 1]) expect(values[at]).toBeCloseTo(Math.exp(place), 5);
    }
  });

  it("ends at its deadline, and then runs again", async () => {
    const executable = await (await sessionOf()).compile(graphOf([length], OperationType.EXP), options);
    const values = new Float32Array(length).fill(1);
    const late = await run(executable, values, { now: slow(), deadline: 70_000_000n });
    expect(late).toMatchObject({ status: ErrorStatus.MISSED_DEADLINE_TRANSIENT });
    expect(await run(executable, values)).toMatchObject({ status: ErrorStatus.NONE });
  });

  it("is the same from its blobs, which fit no other network, version or size", async () => {
    const session = await sessionOf();
    const graph = graphOf([5]);
    const executable = await session.compile(graph, options);
    const blobs = await executable.serialize?.();
    if (blobs === undefined || session.restore === undefined) throw new Error("it cannot be serialized");
    const restored = await session.restore(blobs, graph, options);
    const values = Float32Array.of(1, -2, 3, -4, 0);
    expect((await run(restored, values)).values).toEqual((await run(executable, values)).values);
    await expect(session.restore(blobs, graphOf([6]), options)).rejects.toThrow("of another network");
    const [module, outline] = [elementAt(blobs.model, 0), elementAt(blobs.model, 1)];
    const text = new TextDecoder().decode(outline).replace(/nnhal-wasm-\d+/, "nnhal-wasm-0");
    const older = { ...blobs, model: [module, new TextEncoder().encode(text)] };
    await expect(session.restore(older, graph, options)).rejects.toThrow("of version nnhal-wasm-0");
    await expect(session.restore({ ...blobs, data: [] }, graph, options)).rejects.toThrow("three parts");
    const short = { ...blobs, data: [new Uint8Array(1)] };
    await expect(session.restore(short, graph, options)).rejects.toThrow("another size");
    const broken = { ...blobs, model: [module.slice(0, -3), outline] };
    await expect(session.restore(broken, graph, options)).rejects.toThrow();
  });
});
