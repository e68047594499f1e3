import { kernelBackend, viewModel, viewSubgraph } from "@nnhal/backend";
import { openDevice } from "@nnhal/driver-core/device";
import { modelOf as modelOfSubgraph, operand as operandOf, subgraphOf } from "@nnhal/test-kit/models";
import {
  DeviceType,
  ErrorStatus,
  type Model,
  type Operand,
  OperandLifeTime,
  OperandType,
  type Operation,
  OperationType,
} from "@nnhal/types";
import { describe, expect, it, vi } from "vitest";
import { engineOn } from "./gpujs-backend.ts";
import { gpujsBackend } from "./index.ts";
import { type ModeName, modeNames } from "./machine/machine.ts";
import { openMachine } from "./machine/open.ts";

const { TENSOR_FLOAT32, TENSOR_INT32, INT32 } = OperandType;
const { SUBGRAPH_INPUT, SUBGRAPH_OUTPUT, TEMPORARY_VARIABLE, CONSTANT_COPY } = OperandLifeTime;

const operand = (type: number, lifetime: number, dimensions: number[], more: Partial<Operand> = {}): Operand =>
  operandOf({ type, lifetime, dimensions, ...more });

const constant = (type: number, dimensions: number[], offset: number, length: number) =>
  operand(type, CONSTANT_COPY, dimensions, { location: { poolIndex: 0, offset, length } });

const modelOf = (operands: Operand[], operations: Operation[], operandValues = new Uint8Array(0)): Model =>
  modelOfSubgraph(subgraphOf(operands, operations), { operandValues });

const bytesOf = (...values: number[]) => new Uint8Array(Float32Array.from(values).buffer);

/** A dense layer, then TANH and MUL by a scale: weights [[1 2] [3 4]], bias [0.5 -1], scale [2 10]. */
const dense = modelOf(
  [
    operand(TENSOR_FLOAT32, SUBGRAPH_INPUT, [1, 2]),
    constant(TENSOR_FLOAT32, [2, 2], 0, 16),
    constant(TENSOR_FLOAT32, [2], 16, 8),
    constant(INT32, [], 32, 4),
    operand(TENSOR_FLOAT32, TEMPORARY_VARIABLE, [1, 2]),
    operand(TENSOR_FLOAT32, TEMPORARY_VARIABLE, [1, 2]),
    constant(TENSOR_FLOAT32, [2], 24, 8),
    operand(TENSOR_FLOAT32, SUBGRAPH_OUTPUT, [1, 2]),
  ],
  [
    { type: OperationType.FULLY_CONNECTED, inputs: [0, 1, 2, 3], outputs: [4] },
    { type: OperationType.TANH, inputs: [4], outputs: [5] },
    { type: OperationType.MUL, inputs: [5, 6, 3], outputs: [7] },
  ],
  new Uint8Array([...bytesOf(1, 2, 3, 4, 0.5, -1, 2, 10), 0, 0, 0, 0]),
);

const context = {
  now: process.hrtime.bigint,
  loopTimeoutDuration: 1_000_000_000n,
  measure: false,
  random: Math.random,
};

/** A session in a mode with the counters of its machine, or the reason why the mode does not work. */
async function sessionIn(mode: ModeName) {
  const opened = await openMachine(mode);
  if ("unavailable" in opened) return opened.unavailable;
  const { machine } = opened;
  const backend = kernelBackend({ name: "gpujs", deviceType: DeviceType.CPU, open: async () => engineOn(machine) });
  const session = await backend.open();
  if ("unavailable" in session) return session.unavailable;
  const compile = (model: Model) => session.compile(viewModel({ model, pools: [] }), { preference: 1, priority: 1 });
  return { session, compile, statistics: machine.statistics };
}

describe.each(modeNames)("the device in mode %s", (mode) => {
  it("fuses elementwise operations, holds its weights once and keeps no value over 1000 runs", async ({ skip }) => {
    const opened = await sessionIn(mode);
    if (typeof opened === "string") return skip(opened);
    const { session, compile, statistics } = opened;
    const { values, compiled } = statistics;
    const executable = await compile(dense);
    const held = statistics.values;
    const { runs, placed, read } = statistics;
    const bytes = new Uint8Array(8);
    const input = { bytes: bytesOf(0, 0.25), dimensions: [1, 2] };
    for (let run = 0; run < 1000; run++) await executable.run([input], [{ bytes, dimensions: [1, 2] }], context);
    const [first, second] = new Float32Array(bytes.buffer);
    expect(first).toBeCloseTo(2 * Math.tanh(1), 5);
    expect(second).toBeCloseTo(10 * Math.tanh(0), 5);
    expect(statistics.values).toBe(held);
    // One kernel a run, one input placed and one output read; OpenGL's upload is a kernel too.
    expect(statistics.runs - runs).toBe(1000);
    expect(statistics.placed - placed).toBe(1000);
    expect(statistics.read - read).toBe(1000);
    expect(statistics.compiled - compiled).toBeLessThanOrEqual(5);
    executable.close();
    expect(statistics.values).toBe(values);
    await session.close();
  });

  it("computes functions of large numbers, and powers of negative numbers", async ({ skip }) => {
    const opened = await sessionIn(mode);
    if (typeof opened === "string") return skip(opened);
    const { session, compile } = opened;
    const three = constant(TENSOR_FLOAT32, [1], 0, 4);
    const [input, output] = [SUBGRAPH_INPUT, SUBGRAPH_OUTPUT].map((lifetime) => operand(TENSOR_FLOAT32, lifetime, [4]));
    for (const [type, inputs, elements, expected] of [
      [OperationType.TANH, [0], [100, -100, 20, 0], [1, -1, 1, 0]],
      [OperationType.LOGISTIC, [0], [1000, -1000, 0, 90], [1, 0, 0.5, 1]],
      [OperationType.POW, [0, 1], [-2, 2, -1, 0], [-8, 8, -1, 0]],
    ] as const) {
      const model = modelOf([input, three, output], [{ type, inputs: [...inputs], outputs: [2] }], bytesOf(3));
      const executable = await compile(model);
      const bytes = new Uint8Array(16);
      const given = { bytes: bytesOf(...elements), dimensions: [4] };
      await executable.run([given], [{ bytes, dimensions: [4] }], context);
      const results = [...new Float32Array(bytes.buffer)];
      for (const [place, result] of results.entries()) expect(result).toBeCloseTo(expected[place], 5);
      executable.close();
    }
    await session.close();
  });

  it("passes a state from one run to the next without reading it", async ({ skip }) => {
    const opened = await sessionIn(mode);
    if (typeof opened === "string") return skip(opened);
    const { session, compile, statistics } = opened;
    const twice = modelOf(
      [
        operand(TENSOR_FLOAT32, SUBGRAPH_INPUT, [2]),
        constant(INT32, [], 0, 4),
        operand(TENSOR_FLOAT32, SUBGRAPH_OUTPUT, [2]),
      ],
      [{ type: OperationType.ADD, inputs: [0, 0, 1], outputs: [2] }],
      new Uint8Array(4),
    );
    const executable = await compile(twice);
    const state = session.allocate?.({ type: "TENSOR_FLOAT32", dimensions: [2], scale: 0, zeroPoint: 0 });
    if (state === undefined) throw new Error("there is no device memory");
    await state.write(bytesOf(1, -3), [2]);
    const { read, placed } = statistics;
    const none = new Uint8Array(0);
    const place = { bytes: none, dimensions: [2], buffer: state };
    for (let run = 0; run < 10; run++) {
      expect((await executable.run([place], [place], context)).status).toBe(ErrorStatus.NONE);
    }
    expect({ read: statistics.read, placed: statistics.placed }).toEqual({ read, placed });
    const bytes = new Uint8Array(8);
    await state.read(bytes);
    expect([...new Float32Array(bytes.buffer)]).toEqual([1024, -3072]);
    state.close();
    executable.close();
    await session.close();
  });
});

describe("gpujsBackend", () => {
  it("names its mode, and reports whether it is a GPU", async () => {
    for (const mode of ["webasm", "cpu"] as const) {
      const session = await gpujsBackend({ mode }).open();
      if ("unavailable" in session) throw new Error(session.unavailable);
      expect(session.version).toBe(`nnhal-gpujs-1 ${mode} gpu.js 2.24.1`);
      expect(session.deviceType).toBe(DeviceType.CPU);
      expect(session.missing).toEqual([]);
      await session.close();
    }
  });

  it("is a device of the type of its mode", async () => {
    const opened = await openMachine("cpu");
    if ("unavailable" in opened) throw new Error(opened.unavailable);
    const typeIn = async (mode: ModeName) => {
      const open = async () => engineOn({ ...opened.machine, mode });
      const device = await openDevice({ backend: kernelBackend({ name: "gpujs", deviceType: DeviceType.CPU, open }) });
      return "unavailable" in device ? undefined : device.getType().type;
    };
    const { CPU, GPU } = DeviceType;
    expect(await Promise.all(modeNames.map(typeIn))).toEqual([GPU, GPU, CPU, CPU]);
  });

  it("opens in some mode, and reports why better modes do not work", async () => {
    const session = await gpujsBackend().open();
    if ("unavailable" in session) throw new Error(session.unavailable);
    const mode = modeNames.findIndex((name) => session.version.includes(` ${name} `));
    expect(session.missing?.length).toBe(mode);
    for (const { unavailable, remedy } of session.missing ?? []) {
      expect(unavailable).toMatch(/^mode (webgpu|headlessgl|webasm) does not work: /);
      expect(unavailable).not.toContain("\n");
      expect(remedy).toBeDefined();
    }
    expect(session.deviceType).toBe(mode < 2 ? DeviceType.GPU : DeviceType.CPU);
    await session.close();
  });

  it("has a reason for each operation that it refuses", async () => {
    const session = await gpujsBackend({ mode: "cpu" }).open();
    if ("unavailable" in session) throw new Error(session.unavailable);
    const supportOf = (model: Model) => {
      const source = { model, pools: [] };
      const view = viewSubgraph(model.main, source).operations[0];
      if ("unknown" in view) throw new Error(view.unknown);
      return session.supports(view);
    };
    const abs = (type: number) =>
      modelOf(
        [operand(type, SUBGRAPH_INPUT, [2]), operand(type, SUBGRAPH_OUTPUT, [2])],
        [{ type: OperationType.ABS, inputs: [0], outputs: [1] }],
      );
    expect(supportOf(abs(TENSOR_FLOAT32))).toEqual({ supported: true });
    expect(supportOf(abs(TENSOR_INT32))).toEqual({ supported: false, reason: "ABS: TENSOR_INT32 is not available" });
  });

  it("leaves the global object as it was", async () => {
    const before = Object.getOwnPropertyDescriptor(globalThis, "navigator");
    for (const mode of modeNames) {
      const session = await gpujsBackend({ mode }).open();
      if (!("unavailable" in session)) await session.close();
    }
    expect(Object.getOwnPropertyDescriptor(globalThis, "navigator")).toEqual(before);
  });

  it("takes the mode from the environment unless an option names one", async () => {
    const version = async (backend = gpujsBackend()) => {
      const session = await backend.open();
      return "unavailable" in session ? session : session.version;
    };
    vi.stubEnv("NNHAL_GPUJS_MODE", "cpu");
    try {
      expect(await version()).toContain(" cpu ");
      expect(await version(gpujsBackend({ mode: "webasm" }))).toContain(" webasm ");
      vi.stubEnv("NNHAL_GPUJS_MODE", "vulkan");
      expect(await version()).toEqual({
        unavailable: 'there is no mode "vulkan" of gpu.js',
        remedy: "set NNHAL_GPUJS_MODE to one of webgpu, headlessgl, webasm, cpu",
      });
    } finally {
      vi.unstubAllEnvs();
    }
  });
});

it("refuses an option that does not exist, and names the nearest one", () => {
  const given: object = { modus: 1 };
  expect(() => gpujsBackend(given)).toThrow('gpujsBackend: unknown option "modus": did you mean "mode"?');
});
