/**
 * Effects of the outcome of a self-check: the weights of products, refusals, the version, and the caches that are used.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Backend, type FormFailures, staticExtents, viewModel } from "@nnhal/backend";
import { openDevice } from "@nnhal/driver-core/device";
import { elementAt } from "@nnhal/operations";
import { Compilation, Model, type OperandDescription } from "@nnhal/runtime";
import { OperandType } from "@nnhal/types";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { chooseForms, type FormName } from "./forms.ts";
import { lowerGraph } from "./lower.ts";
import { ortBackend, ortBackendOf } from "./ort-backend.ts";
import { checkEngine } from "./self-check/probes.ts";

type Failures = FormFailures<FormName>;
const signedAreWrong: Failures = {
  "u8s8 convolution": "expected 253, got 129",
  "u8s8 grouped convolution": "expected 253, got 129",
  "u8s8 matrix product": "expected 253, got 129",
};

/** The backend on a processor for which the self-check found these failures. */
const backendOn = (failures: Failures): Backend =>
  ortBackendOf({ threads: 1 }, async () => ({ processor: "Model X (x64)", failures }));

async function sessionOn(failures: Failures) {
  const session = await backendOn(failures).open();
  if ("unavailable" in session) throw new Error(session.unavailable);
  return session;
}

const image = { type: "TENSOR_QUANT8_ASYMM", scale: 1, zeroPoint: 128 } as const;

interface Layer {
  readonly operation: "CONV_2D" | "DEPTHWISE_CONV_2D" | "GROUPED_CONV_2D" | "FULLY_CONNECTED";
  readonly input: readonly number[];
  readonly filter: readonly number[];
  readonly settings: readonly number[];
  readonly isPerChannel?: boolean;
  readonly isVariable?: boolean;
}

/** A model of one product of bytes whose weights have the zero point 130. */
function layerModel({ operation, input, filter, settings, isPerChannel, isVariable }: Layer): Model {
  const model = new Model();
  const add = (description: OperandDescription) => model.addOperand(description);
  const outputs = elementAt(filter, operation === "DEPTHWISE_CONV_2D" ? 3 : 0);
  const length = filter.reduce((product, extent) => product * extent, 1);
  const from = add({ ...image, dimensions: input });
  const weights = isPerChannel
    ? add({ type: "TENSOR_QUANT8_SYMM_PER_CHANNEL", dimensions: filter })
    : add({ ...image, zeroPoint: 130, dimensions: filter });
  if (isPerChannel) {
    const scales = Array.from({ length: outputs }, () => 1);
    model.setOperandSymmPerChannelQuantParams(weights, {
      scales,
      channelDim: operation === "DEPTHWISE_CONV_2D" ? 3 : 0,
    });
  }
  if (!isVariable) {
    model.setOperandValue(weights, isPerChannel ? new Int8Array(length).fill(127) : new Uint8Array(length).fill(255));
  }
  const bias = add({ type: "TENSOR_INT32", dimensions: [outputs], scale: isPerChannel ? 0 : 1 });
  model.setOperandValue(bias, new Int32Array(outputs));
  const scalars = settings.map((value) => {
    const operand = add({ type: "INT32" });
    model.setOperandValue(operand, Int32Array.of(value));
    return operand;
  });
  if (operation === "GROUPED_CONV_2D") {
    scalars.push(add({ type: "BOOL" }));
    model.setOperandValue(elementAt(scalars, scalars.length - 1), Uint8Array.of(0));
  }
  const output = add({ ...image, scale: 16384, dimensions: [] });
  model.addOperation(operation, [from, weights, bias, ...scalars], [output]);
  model.identifyInputsAndOutputs(isVariable ? [from, weights] : [from], [output]);
  model.finish();
  return model;
}

const valid = [2, 1, 1];
const convolution: Layer = { operation: "CONV_2D", input: [1, 2, 2, 8], filter: [4, 1, 1, 8], settings: [...valid, 0] };
const product: Layer = { operation: "FULLY_CONNECTED", input: [1, 8], filter: [4, 8], settings: [0] };
const depthwise: Layer = {
  operation: "DEPTHWISE_CONV_2D",
  input: [1, 2, 2, 8],
  filter: [1, 1, 1, 8],
  settings: [...valid, 1, 0],
};
const grouped: Layer = {
  operation: "GROUPED_CONV_2D",
  input: [1, 2, 2, 8],
  filter: [4, 1, 1, 4],
  settings: [...valid, 2, 0],
};

/** Products, and whether the engine has kernels of their own for them, as it has for depthwise convolutions. */
const layers: readonly { readonly name: string; readonly layer: Layer; readonly isOwn: boolean }[] = [
  { name: "CONV_2D", layer: convolution, isOwn: false },
  { name: "CONV_2D with a scale for each channel", layer: { ...convolution, isPerChannel: true }, isOwn: false },
  {
    name: "CONV_2D with weights that are an input",
    layer: { ...convolution, isPerChannel: true, isVariable: true },
    isOwn: false,
  },
  { name: "FULLY_CONNECTED", layer: product, isOwn: false },
  { name: "GROUPED_CONV_2D", layer: grouped, isOwn: false },
  { name: "DEPTHWISE_CONV_2D", layer: depthwise, isOwn: true },
  {
    name: "DEPTHWISE_CONV_2D of one channel",
    layer: { ...depthwise, input: [1, 2, 2, 1], filter: [1, 1, 1, 4], settings: [...valid, 4, 0] },
    isOwn: false,
  },
  {
    name: "DEPTHWISE_CONV_2D with a multiplier",
    layer: { ...depthwise, input: [1, 2, 2, 4], settings: [...valid, 2, 0] },
    isOwn: false,
  },
];

/** The type of the weights that the engine gets. */
function weightsOf(layer: Layer, failures: Failures): string | undefined {
  const { hal } = layerModel(layer);
  const graph = viewModel({ model: hal, pools: hal.pools.map(() => new Uint8Array(4096)) });
  const { onnx } = lowerGraph(graph, staticExtents(graph) ?? [], chooseForms({ processor: "X", failures }));
  const node = onnx.nodes.find(({ operator }) => operator === "QLinearConv" || operator === "QGemm");
  const name = node?.inputs[3];
  const constant = [...onnx.initializers, ...onnx.inputs].find((each) => each.name === name);
  // Weights that are an input of the model are signed, and go through nodes.
  const isChanged = onnx.nodes.some(({ operator, outputs }) => operator === "BitwiseXor" && outputs[0] === name);
  return constant?.type ?? (isChanged ? "uint8" : "int8");
}

describe("the weights of products", () => {
  it.each(layers)("are signed in $name if signed ones are right", ({ layer }) => {
    expect(weightsOf(layer, {})).toBe("int8");
  });

  it.each(layers)("have the form that is right in $name where signed ones saturate", ({ layer, isOwn }) => {
    expect(weightsOf(layer, signedAreWrong)).toBe(isOwn ? "int8" : "uint8");
  });

  it.each(layers)(
    "have the form that is right in $name if only the kernels for depthwise ones are wrong",
    ({ layer, isOwn }) => {
      const failures = { "u8s8 depthwise convolution": "expected 253, got 222" };
      expect(weightsOf(layer, failures)).toBe(isOwn ? "uint8" : "int8");
    },
  );
});

describe("a form that is wrong", () => {
  const supportOf = async (layer: Layer, failures: Failures) => {
    const { hal } = layerModel(layer);
    const { operations } = viewModel({ model: hal, pools: [] });
    return (await sessionOn(failures)).supports(elementAt(operations, 0));
  };
  const bothAreWrong = { ...signedAreWrong, "u8u8 convolution": "expected 253, got 1" };

  it("is refused if there is no other, with the processor", async () => {
    expect(await supportOf(convolution, bothAreWrong)).toEqual({
      supported: false,
      reason:
        "CONV_2D: 8-bit convolutions are not available: on the processor Model X (x64), u8s8 convolution is wrong: expected 253, got 129; u8u8 convolution is wrong: expected 253, got 1",
    });
    expect(await supportOf(product, bothAreWrong)).toEqual({ supported: true });
    expect(await supportOf(convolution, signedAreWrong)).toEqual({ supported: true });
  });

  it("changes the version and is among the choices", async () => {
    const sessions = await Promise.all([{}, signedAreWrong, bothAreWrong].map(sessionOn));
    const [preferred = "", ...others] = sessions.map(({ version }) => version);
    for (const other of others) expect(other.startsWith(`${preferred} forms-`)).toBe(true);
    expect(new Set(others).size).toBe(2);
    expect(sessions[1]?.choices?.[0]).toMatchObject({ chosen: "u8u8 convolution" });
    expect(sessions[2]?.choices?.[0]).toMatchObject({ chosen: undefined });
  });
});

describe("the capabilities", () => {
  const timesOn = async (failures: Failures) => {
    const { operandPerformance } = (await sessionOn(failures)).capabilities;
    const { TENSOR_FLOAT32, TENSOR_QUANT8_ASYMM } = OperandType;
    return [TENSOR_FLOAT32, TENSOR_QUANT8_ASYMM].map(
      (type) => operandPerformance.find((one) => one.type === type)?.info.execTime ?? 0,
    );
  };

  it("say that floats are faster than bytes if convolutions have unsigned weights", async () => {
    const [floats = 0, bytes = 0] = await timesOn(signedAreWrong);
    expect(floats).toBeLessThan(bytes);
    const [preferredFloats, preferredBytes = 0] = await timesOn({});
    expect([preferredFloats, preferredBytes < bytes]).toEqual([floats, true]);
  });
});

describe("unsigned weights", () => {
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  it("can be asked for, in the environment too", async () => {
    const choose = async (option?: boolean) => {
      const session = await ortBackend({ threads: 1, ...(option !== undefined && { unsignedWeights: option }) }).open();
      return "unavailable" in session ? session : session.choices?.map((choice) => choice.chosen?.slice(0, 4));
    };
    const unsigned = ["u8u8", "u8u8", "u8u8", "u8u8"];
    expect(await choose(true)).toEqual(unsigned);
    vi.stubEnv("NNHAL_ORT_UNSIGNED_WEIGHTS", "1");
    expect(await choose()).toEqual(unsigned);
    expect(await choose(false)).toEqual(
      chooseForms(await checkEngine(await import("onnxruntime-node"))).choices.map((choice) =>
        choice.chosen?.slice(0, 4),
      ),
    );
    vi.stubEnv("NNHAL_ORT_UNSIGNED_WEIGHTS", "yes");
    expect(await choose()).toEqual({ unavailable: 'NNHAL_ORT_UNSIGNED_WEIGHTS is "yes"', remedy: "set it to 1 or 0" });
  });
});

describe("a cache", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "nnhal-ort-forms-"));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  /** Compiles with the cache. Returns whether the model came from it. */
  async function isRestored(failures: Failures): Promise<boolean> {
    let restored = false;
    const backend = backendOn(failures);
    const open: Backend["open"] = async (options) => {
      const session = await backend.open(options);
      if ("unavailable" in session) return session;
      return {
        ...session,
        async restore(...args) {
          const executable = await session.restore?.(...args);
          if (executable === undefined) throw new Error("ort restores models");
          restored = true;
          return executable;
        },
      };
    };
    const device = await openDevice({ backend: { ...backend, open } });
    if ("unavailable" in device) throw new Error(device.unavailable);
    const compilation = new Compilation(layerModel(convolution), [device]);
    compilation.setCaching(folder, new Uint8Array(32).fill(1));
    await compilation.finish();
    await device.close();
    return restored;
  }

  it("of one choice of forms is not used with another", async () => {
    expect(await isRestored({})).toBe(false);
    expect(await isRestored({})).toBe(true);
    expect(await isRestored(signedAreWrong)).toBe(false);
    expect(await isRestored(signedAreWrong)).toBe(true);
    // The first one is still there.
    expect(await isRestored({})).toBe(true);
  });
});
