/**
 * Layers with few rows that other operations follow in the same kernel, on each layout of threads: the second tensor of a following
 * operation must be read at the thread's own place. Numbers are small and whole, so that each result is exact. By default a sample runs
 * in each layout; with NNHAL_FAULTS=all every case does.
 */
import { referenceBackend } from "@nnhal/backend-reference";
import { modelRunner } from "@nnhal/conformance";
import { openDevice } from "@nnhal/driver-core/device";
import { elementCount } from "@nnhal/operations";
import { Model } from "@nnhal/runtime";
import { everyFault } from "@nnhal/test-kit/samples";
import type { Device, OperationTypeName } from "@nnhal/types";
import { beforeAll, describe, expect, it } from "vitest";
import { deviceOf } from "./_devices.test-helper.ts";
import type { Machine, ModeName } from "./machine/machine.ts";
import { openMachine } from "./machine/open.ts";

const layers = ["CONV_2D", "CONV_2D of 2x1 cells", "FULLY_CONNECTED", "DEPTHWISE_CONV_2D"] as const;
const residuals = ["ADD", "SUB", "MUL"] as const;
/** The shape of the second tensor, or of the first in the last form: that of the layer's result, or of some of its axes. */
const forms = ["same", "channels", "rows", "one", "same, as the first operand"] as const;
/** The operations after it: none, a chain of operations that follow as well, or another layer with a residual. */
const endings = ["nothing", "RELU and the other residuals", "another layer"] as const;
const channelCounts = [1, 3, 4, 5, 8, 16, 32, 64, 100, 128];
const rowCounts = [1, 2, 3, 4, 5, 6, 7, 8, 9];

/** Cases that differ only in their rows are one model, because preparing a model takes longer than running it. */
interface Case {
  readonly layer: (typeof layers)[number];
  readonly residual: (typeof residuals)[number];
  readonly form: (typeof forms)[number];
  readonly ending: (typeof endings)[number];
  readonly channels: number;
}

const cases: readonly Case[] = layers.flatMap((layer) =>
  endings.flatMap((ending) =>
    forms.flatMap((form) =>
      residuals.flatMap((residual) => channelCounts.map((channels) => ({ layer, residual, form, ending, channels }))),
    ),
  ),
);

/** Channels of the layers' inputs. */
const DEPTH = 4;

/** Whole numbers from -2 to 2 that a place in the model fixes. */
const numbers = (count: number, seed: number) =>
  Float32Array.from({ length: count }, (_, index) => (((index + 1) * (2 * seed + 7)) % 5) - 2);

/** The model of a case, with an output for each number of rows, and its inputs. */
function modelOf(given: Case) {
  const model = new Model();
  const inputs: Input[] = [];
  const outputs = rowCounts.map((rows) => addRows(model, inputs, given, rows));
  model.identifyInputsAndOutputs(
    inputs.map(({ operand }) => operand),
    outputs,
  );
  model.finish();
  return { model: model.hal, inputs: inputs.map(({ elements }) => new Uint8Array(elements.buffer)) };
}

interface Input {
  readonly operand: number;
  readonly elements: Float32Array;
}

/** Adds the operations for a number of rows. Returns their result. */
function addRows(model: Model, inputs: Input[], { layer, residual, form, ending, channels }: Case, rows: number) {
  const value = (...dimensions: number[]) => model.addOperand({ type: "TENSOR_FLOAT32", dimensions });
  const constant = (...dimensions: number[]) => {
    const operand = value(...dimensions);
    model.setOperandValue(operand, numbers(elementCount(dimensions), operand));
    return operand;
  };
  const int = (number: number) => {
    const operand = model.addOperand({ type: "INT32" });
    model.setOperandValue(operand, number);
    return operand;
  };
  const input = (...dimensions: number[]) => {
    const operand = value(...dimensions);
    inputs.push({ operand, elements: numbers(elementCount(dimensions), operand) });
    return operand;
  };
  const isImage = layer !== "FULLY_CONNECTED";
  // The rows lie along any of the other axes.
  const outer = isImage ? [0, 1, 2].map((axis) => (axis === (rows + channels) % 3 ? rows : 1)) : [rows];
  const shape = [...outer, channels];
  const add = (type: OperationTypeName, ...operands: number[]) => {
    const result = value(...shape);
    model.addOperation(type, operands, [result]);
    return result;
  };
  const second = () => {
    if (form === "channels") return input(channels);
    if (form === "rows") return input(...outer, 1);
    return form === "one" ? input(1) : input(...shape);
  };
  const apply = (type: (typeof residuals)[number], first: number) =>
    form === "same, as the first operand" ? add(type, second(), first, int(0)) : add(type, first, second(), int(0));
  /** SAME padding and strides of 1. */
  const window = () => [int(1), int(1), int(1)];
  const layerOn = (from: number, depth: number) => {
    switch (layer) {
      case "FULLY_CONNECTED":
        return add(layer, from, constant(channels, depth), constant(channels), int(0));
      case "DEPTHWISE_CONV_2D":
        return add(layer, from, constant(1, 2, 1, channels), constant(channels), ...window(), int(1), int(0));
      default: {
        const cells = layer === "CONV_2D" ? 1 : 2;
        return add("CONV_2D", from, constant(channels, cells, 1, depth), constant(channels), ...window(), int(0));
      }
    }
  };
  const depth = layer === "DEPTHWISE_CONV_2D" ? channels : DEPTH;
  const result = apply(residual, layerOn(input(...outer, depth), depth));
  switch (ending) {
    case "nothing":
      return result;
    case "another layer":
      return apply(residual, layerOn(result, channels));
    default: {
      const others = residuals.filter((other) => other !== residual);
      return others.reduce((from, other) => apply(other, from), add("RELU", result));
    }
  }
}

let reference: Device;
beforeAll(async () => {
  const device = await openDevice({ backend: referenceBackend });
  if ("unavailable" in device) throw new Error(device.unavailable);
  reference = device;
});

/** Ways to lay threads out: those of the modes that need no GPU, and those of the others in plain JavaScript. */
const targets: readonly (readonly [name: string, mode: ModeName, traits: Partial<Machine>])[] = [
  ["WebAssembly", "webasm", {}],
  ["WebAssembly, one element per thread", "webasm", { vectors: Number.POSITIVE_INFINITY }],
  ["plain JavaScript", "cpu", {}],
  ["grids of single elements", "cpu", { vectors: Number.POSITIVE_INFINITY }],
  ["grids of four elements", "cpu", { vectors: 0 }],
  ["groups of columns", "cpu", { vectors: 0, groups: true, block: [4, 1] }],
  ["the blocks of WebGPU", "cpu", { vectors: 0, block: [8, 8] }],
  ["the single row of OpenGL", "cpu", { vectors: 0, grids: false }],
];

/** Every n-th model runs, each layout beginning at another; n is prime, so that all choices of all parts occur. */
const SAMPLE = 293;

async function resultsOn(device: Device, { model, inputs }: ReturnType<typeof modelOf>): Promise<Float32Array[]> {
  const outputs = await (await modelRunner(model, [device]))(inputs);
  return outputs.map(({ buffer }) => new Float32Array(buffer));
}

describe.each(targets)(
  "layers with residuals, in %s",
  { timeout: everyFault ? 3_600_000 : 60_000 },
  (name, mode, traits) => {
    it(`have each element at its own place: ${everyFault ? "all cases" : "a sample"}`, async () => {
      const opened = await openMachine(mode);
      if ("unavailable" in opened) throw new Error(opened.unavailable);
      const device = await deviceOf({ ...opened.machine, ...traits });
      const first = 37 * targets.findIndex((target) => target[0] === name);
      const chosen = cases.filter((_, place) => everyFault || place % SAMPLE === first);
      const wrong: string[] = [];
      for (const each of chosen) {
        const made = modelOf(each);
        const ours = await resultsOn(device, made);
        const theirs = await resultsOn(reference, made);
        for (const [at, expected] of theirs.entries()) {
          const place = expected.findIndex((element, index) => element !== ours[at][index]);
          if (place < 0) continue;
          const difference = `element ${place} is ${ours[at][place]} where ${expected[place]} is expected`;
          wrong.push(`${rowCounts[at]} rows, ${JSON.stringify(each)}: ${difference}`);
        }
      }
      const count = `${wrong.length} of ${chosen.length * rowCounts.length} cases are wrong`;
      expect(wrong, count).toEqual([]);
      expect(chosen.length).toBeGreaterThan(5);
    });
  },
);
