/** Relaxed SIMD: used where the compiler has it and the self-check proves it, for sums of products of floats alone. */
import { setFlagsFromString } from "node:v8";
import { type BackendSession, viewModel } from "@nnhal/backend";
import { referenceBackend } from "@nnhal/backend-reference";
import { elementAt } from "@nnhal/operations";
import { modelOf, operand, subgraphOf } from "@nnhal/test-kit/models";
import { OperandLifeTime, OperandType, OperationType } from "@nnhal/types";
import { afterAll, describe, expect, it } from "vitest";
import { wasmBackendOver } from "./wasm-backend.ts";
import { type WasmModule, type WebAssemblyApi, webAssembly } from "./web-assembly.ts";

// Before version 21 Node.js has it behind a flag.
const isFlagged = Number.parseInt(process.versions.node, 10) < 21;
if (isFlagged) setFlagsFromString("--experimental-wasm-relaxed-simd");
afterAll(() => {
  if (isFlagged) setFlagsFromString("--no-experimental-wasm-relaxed-simd");
});

function api(): WebAssemblyApi {
  const found = webAssembly();
  if (found === undefined) throw new Error("there is no WebAssembly");
  return found;
}

/** True if a module has the bytes of f32x4.relaxed_madd. */
function isRelaxed(bytes: Uint8Array): boolean {
  return bytes.some((byte, at) => byte === 0xfd && bytes[at + 1] === 0x85 && bytes[at + 2] === 0x02);
}

/** An implementation that records whether modules have relaxed SIMD, and may refuse it, or compute nothing with it. */
function watch({ refuses = false, isWrong = false } = {}) {
  const { validate, compile, Memory, Instance } = api();
  const seen: boolean[] = [];
  const relaxed = new WeakSet<WasmModule>();
  class Watched {
    readonly exports: Readonly<Record<string, unknown>>;
    constructor(...given: ConstructorParameters<WebAssemblyApi["Instance"]>) {
      const { exports } = new Instance(...given);
      const isIdle = isWrong && relaxed.has(given[0]);
      this.exports = isIdle ? Object.fromEntries(Object.keys(exports).map((name) => [name, () => {}])) : exports;
    }
  }
  const given: WebAssemblyApi = {
    validate: (bytes) => !(refuses && isRelaxed(bytes)) && validate(bytes),
    async compile(bytes) {
      const module = await compile(bytes);
      seen.push(isRelaxed(bytes));
      if (isRelaxed(bytes)) relaxed.add(module);
      return module;
    },
    Memory,
    Instance: Watched,
  };
  return { given, seen };
}

async function openOver(given: WebAssemblyApi, relaxed?: boolean): Promise<BackendSession> {
  const session = await wasmBackendOver(given, relaxed === undefined ? {} : { relaxed }).open();
  if ("unavailable" in session) throw new Error(session.unavailable);
  return session;
}

const [batches, depth, units] = [5, 37, 9];

/** FULLY_CONNECTED with weights that are a constant. */
function connect(type: number, bytesOf: (count: number) => Uint8Array, biasType: number, bytesOfBias: Uint8Array) {
  const quantised = type === OperandType.TENSOR_QUANT8_ASYMM;
  const scale = quantised ? 0.5 : 0;
  const weights = bytesOf(units * depth);
  // The bias, the activation NONE and the weights.
  const values = Uint8Array.from([...bytesOfBias, 0, 0, 0, 0, ...weights]);
  const constant = (offset: number, length: number) => ({
    lifetime: OperandLifeTime.CONSTANT_COPY,
    location: { poolIndex: 0, offset, length },
  });
  const { SUBGRAPH_INPUT, SUBGRAPH_OUTPUT } = OperandLifeTime;
  const operands = [
    operand({ type, dimensions: [batches, depth], scale, lifetime: SUBGRAPH_INPUT }),
    operand({ type, dimensions: [units, depth], scale, ...constant(4 * units + 4, weights.length) }),
    operand({ type: biasType, dimensions: [units], scale: scale ** 2, ...constant(0, 4 * units) }),
    operand({ type: OperandType.INT32, ...constant(4 * units, 4) }),
    operand({ type, dimensions: [batches, units], scale: quantised ? 40 : 0, lifetime: SUBGRAPH_OUTPUT }),
  ];
  const operations = [{ type: OperationType.FULLY_CONNECTED, inputs: [0, 1, 2, 3], outputs: [4] }];
  return viewModel({ model: modelOf(subgraphOf(operands, operations), { operandValues: values }), pools: [] });
}

const floats = (count: number) =>
  new Uint8Array(Float32Array.from({ length: count }, (_, at) => Math.sin(12.9898 * (at + count))).buffer);
const bytes = (count: number) => Uint8Array.from({ length: count }, (_, at) => (at * 37 + count) % 256);
const cases = {
  floats: {
    graph: connect(OperandType.TENSOR_FLOAT32, floats, OperandType.TENSOR_FLOAT32, floats(units)),
    input: floats(batches * depth),
    outputBytes: 4 * batches * units,
  },
  bytes: {
    graph: connect(
      OperandType.TENSOR_QUANT8_ASYMM,
      bytes,
      OperandType.TENSOR_INT32,
      new Uint8Array(Int32Array.from({ length: units }, (_, at) => at - 4).buffer),
    ),
    input: bytes(batches * depth),
    outputBytes: batches * units,
  },
};

async function resultOf(session: BackendSession, name: keyof typeof cases): Promise<Uint8Array<ArrayBuffer>> {
  const { graph, input, outputBytes } = cases[name];
  const executable = await session.compile(graph, { preference: 1, priority: 1 });
  const output = new Uint8Array(outputBytes);
  const { status } = await executable.run(
    [{ bytes: input, dimensions: [batches, depth] }],
    [{ bytes: output, dimensions: [batches, units] }],
    { now: () => 0n, random: () => 0.5, loopTimeoutDuration: 10n ** 12n, measure: false },
  );
  executable.close();
  expect(status).toBe(0);
  return output;
}

async function reference(): Promise<BackendSession> {
  const session = await referenceBackend.open();
  if ("unavailable" in session) throw new Error(session.unavailable);
  return session;
}

const subject = "sums of products of floats";
const choiceOf = ({ choices = [] }: BackendSession) => choices.find((each) => each.subject === subject);

describe("relaxed SIMD", () => {
  it("computes floats where the compiler has it, within a few units of the last place, and is in the version", async () => {
    const { given, seen } = watch();
    const session = await openOver(given);
    expect(choiceOf(session)).toEqual({ subject, chosen: "relaxed SIMD" });
    expect(session.version).toContain(" relaxed");
    seen.length = 0;
    const results = new Float32Array((await resultOf(session, "floats")).buffer);
    expect(seen).toEqual([true]);
    const exact = new Float32Array((await resultOf(await reference(), "floats")).buffer);
    for (const [at, value] of results.entries()) expect(value).toBeCloseTo(elementAt(exact, at), 5);
  });

  it("is not in networks of integers, whose bits stay those of the reference", async () => {
    const { given, seen } = watch();
    const session = await openOver(given);
    seen.length = 0;
    expect(await resultOf(session, "bytes")).toEqual(await resultOf(await reference(), "bytes"));
    expect(seen).toEqual([false]);
  });

  it.each([
    ["the option refuses it", watch(), false],
    ["the compiler lacks it", watch({ refuses: true }), undefined],
  ])("is not used if %s", async (_, { given, seen }, relaxed) => {
    const session = await openOver(given, relaxed);
    expect(choiceOf(session)).toBeUndefined();
    expect(session.version).not.toContain("relaxed");
    await resultOf(session, "floats");
    expect(seen).not.toContain(true);
  });

  it("is not used if the self-check finds it wrong, and the reason is told", async () => {
    const { given, seen } = watch({ isWrong: true });
    const session = await openOver(given);
    expect(choiceOf(session)).toEqual({
      subject,
      chosen: "rounded products",
      reason: expect.stringMatching(/^with relaxed SIMD on .+: /),
    });
    expect(session.version).not.toContain("relaxed");
    seen.length = 0;
    expect(await resultOf(session, "floats")).toEqual(await resultOf(await openOver(given, false), "floats"));
    expect(seen).not.toContain(true);
  });
});
