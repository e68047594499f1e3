/** The self-check: a compiler that makes one kernel wrong loses what the kernel proves, and nothing else. */
import { type BackendSession, viewModel } from "@nnhal/backend";
import { elementAt } from "@nnhal/operations";
import { modelOf, operand, subgraphOf } from "@nnhal/test-kit/models";
import { OperandLifeTime, OperandType, OperationType } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { checkEngine } from "./self-check.ts";
import { wasmBackendOver } from "./wasm-backend.ts";
import { type WasmInstance, type WebAssemblyApi, webAssembly } from "./web-assembly.ts";

function api(): WebAssemblyApi {
  const found = webAssembly();
  if (found === undefined) throw new Error("there is no WebAssembly");
  return found;
}

/** An implementation in which the kernels with some name do nothing. */
function without(name: string): WebAssemblyApi {
  const { Instance, ...rest } = api();
  const { validate, compile, Memory } = api();
  const idle = (exports: WasmInstance["exports"]) =>
    Object.fromEntries(Object.entries(exports).map(([key, value]) => [key, key.includes(name) ? () => {} : value]));
  class Broken {
    readonly exports: WasmInstance["exports"];
    constructor(...given: ConstructorParameters<WebAssemblyApi["Instance"]>) {
      this.exports = idle(new Instance(...given).exports);
    }
  }
  return { ...rest, validate, compile, Memory, Instance: Broken };
}

async function sessionOver(given: WebAssemblyApi): Promise<BackendSession> {
  const session = await wasmBackendOver(given).open();
  if ("unavailable" in session) throw new Error(session.unavailable);
  return session;
}

/** Why a session refuses a function of two numbers of a type. */
function reasonOf(session: BackendSession, type: number, operandType: number): string | undefined {
  const of = (lifetime: number) =>
    operand({
      type: operandType,
      dimensions: [2],
      lifetime,
      scale: operandType === OperandType.TENSOR_FLOAT32 ? 0 : 1,
    });
  const operands = [of(OperandLifeTime.SUBGRAPH_INPUT), of(OperandLifeTime.SUBGRAPH_OUTPUT)];
  const model = modelOf(subgraphOf(operands, [{ type, inputs: [0], outputs: [1] }]));
  const support = session.supports(elementAt(viewModel({ model, pools: [] }).operations, 0));
  return support.supported ? undefined : support.reason;
}

describe("the self-check", () => {
  it("finds nothing wrong here", async () => {
    expect((await checkEngine({ api: api() }, "engine")).failures).toEqual({});
    const session = await sessionOver(api());
    expect(session.choices?.filter(({ reason }) => reason !== undefined)).toEqual([]);
    expect(session.version).not.toContain("forms");
  });

  it("refuses a function that is wrong, with the reason, and no other", async () => {
    const session = await sessionOver(without("FLOOR"));
    expect(reasonOf(session, OperationType.FLOOR, OperandType.TENSOR_FLOAT32)).toMatch(
      /^results of FLOOR are not available: on the processor .*, function FLOOR is wrong: FLOOR: expected -1, got \S+$/,
    );
    expect(reasonOf(session, OperationType.ABS, OperandType.TENSOR_FLOAT32)).toBeUndefined();
    expect(session.version).toMatch(/ forms-[0-9a-f]{8}$/);
  });

  it("refuses 8-bit layers if sums are wrong, and takes float32", async () => {
    const { failures } = await checkEngine({ api: without("DEPTHWISE") }, "engine");
    expect(Object.keys(failures)).toEqual(["8-bit layers of whole numbers in float32"]);
  });

  it("refuses 8 bits if roundings are wrong", async () => {
    const session = await sessionOver(without("QUANTIZE"));
    expect(reasonOf(session, OperationType.RELU, OperandType.TENSOR_QUANT8_ASYMM)).toContain(
      "8-bit numbers are not available",
    );
    expect(reasonOf(session, OperationType.RELU, OperandType.TENSOR_FLOAT32)).toBeUndefined();
  });

  it("refuses everything if float32 is wrong, or if nothing can be compiled", async () => {
    const broken = { ...without("-"), compile: () => Promise.reject(new Error("the compiler has no memory")) };
    for (const given of [without("ADD"), broken]) {
      const session = await sessionOver(given);
      expect(reasonOf(session, OperationType.ABS, OperandType.TENSOR_FLOAT32)).toContain(
        "float32 numbers are not available",
      );
    }
    const { failures } = await checkEngine({ api: broken }, "engine");
    expect(failures["function TANH"]).toMatch(/^TANH: compiling the module of \d+ bytes: the compiler has no memory$/);
  });

  it("is kept by the version, and then runs nothing", async () => {
    const kept = new Map<string, object>();
    const outcomes = {
      read: async (key: string) => Object(kept.get(key)),
      write: async (key: string, failures: object) => void kept.set(key, failures),
    };
    await checkEngine({ api: without("FLOOR") }, "engine 1", { outcomes });
    const [key] = kept.keys();
    // A processor that the platform does not describe has no key.
    if (key === undefined) return;
    expect(key).toMatch(/^engine 1 on /);
    const broken = { ...api(), compile: () => Promise.reject(new Error("compiled")) };
    const again = await checkEngine({ api: broken }, "engine 1", { outcomes });
    expect(Object.keys(again.failures)).toEqual(["function FLOOR"]);
  });
});
