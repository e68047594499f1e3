/**
 * Operations with numbers at the ends of float32: scales, factors and windows that are valid, although no trained network has them. Each
 * engine is held against the reference.
 */
import { gpujsBackend } from "@nnhal/backend-gpujs";
import { ortBackend } from "@nnhal/backend-ort";
import { referenceBackend } from "@nnhal/backend-reference";
import { tfjsBackend } from "@nnhal/backend-tfjs";
import { modelRunner } from "@nnhal/conformance";
import { Model, type OperandDescription } from "@nnhal/runtime";
import type { Device, OperationTypeName } from "@nnhal/types";
import { beforeAll, describe, expect, it } from "vitest";
import { deviceOf } from "./devices.test-helper.ts";

/** A scalar, a constant tensor of float32, or an omitted operand. */
type Constant =
  | readonly [type: "INT32" | "FLOAT32" | "BOOL", value: number | boolean]
  | { readonly dimensions: readonly number[]; readonly elements?: readonly number[] };

interface Given {
  readonly name: OperationTypeName;
  readonly input: OperandDescription;
  readonly constants: readonly Constant[];
  readonly outputs: readonly OperandDescription[];
}

function modelOf({ name, input, constants, outputs }: Given): Model {
  const model = new Model();
  const first = model.addOperand(input);
  const others = constants.map((constant) => {
    if ("dimensions" in constant) {
      const { dimensions, elements } = constant;
      const index = model.addOperand({ type: "TENSOR_FLOAT32", dimensions: [...dimensions] });
      model.setOperandValue(index, elements === undefined ? null : Float32Array.from(elements));
      return index;
    }
    const [type, value] = constant;
    const index = model.addOperand({ type });
    model.setOperandValue(index, value);
    return index;
  });
  const results = outputs.map((output) => model.addOperand(output));
  model.addOperation(name, [first, ...others], results);
  model.identifyInputsAndOutputs([first], results);
  model.finish();
  return model;
}

const bytesOf = (elements: Float32Array) => new Uint8Array(elements.buffer);
const floatsOf = (bytes: Uint8Array) => Array.from(new Float32Array(bytes.slice().buffer));

const engines = {
  ort: () => ortBackend({ threads: 1 }),
  tfjs: () => tfjsBackend({ engine: "wasm" }),
  gpujs: () => gpujsBackend({ mode: "webasm" }),
} as const;

let reference: Device;
beforeAll(async () => {
  reference = await deviceOf(referenceBackend);
});

describe.each(Object.entries(engines))("extreme numbers on %s", { timeout: 60_000 }, (engine, backend) => {
  let device: Device;
  beforeAll(async () => {
    device = await deviceOf(backend());
  });

  async function results(given: Given, input: Uint8Array): Promise<{ ours: Uint8Array; theirs: Uint8Array }> {
    const { hal } = modelOf(given);
    const { supported, reasons } = await device.getSupportedOperations(hal);
    expect(supported, reasons[0]).toEqual([true]);
    const of = async (each: Device) => (await (await modelRunner(hal, [each]))([input]))[0] ?? new Uint8Array(0);
    return { ours: await of(device), theirs: await of(reference) };
  }

  it.each([1e-38, 1e-30, 3e37])("L2_NORMALIZATION of 8 bits with scale %f", async (scale) => {
    const type = "TENSOR_QUANT8_ASYMM";
    const { ours, theirs } = await results(
      {
        name: "L2_NORMALIZATION",
        input: { type, dimensions: [2, 4], scale, zeroPoint: 100 },
        constants: [],
        outputs: [{ type, dimensions: [2, 4], scale: 1 / 128, zeroPoint: 128 }],
      },
      Uint8Array.of(100, 255, 0, 90, 100, 100, 100, 101),
    );
    for (const [place, each] of theirs.entries()) expect(Math.abs((ours[place] ?? 0) - each)).toBeLessThanOrEqual(1);
  });

  it.each([
    [3e38, 0.1],
    [3e38, 3e38],
    [1, 1e-38],
    [3e38, 1e-39],
  ])("SOFTMAX of 8 bits with beta %f and scale %f", async (beta, scale) => {
    const type = "TENSOR_QUANT8_ASYMM";
    const { ours, theirs } = await results(
      {
        name: "SOFTMAX",
        input: { type, dimensions: [2, 3], scale, zeroPoint: 100 },
        constants: [["FLOAT32", beta]],
        outputs: [{ type, dimensions: [2, 3], scale: 1 / 256, zeroPoint: 0 }],
      },
      Uint8Array.of(100, 130, 20, 7, 6, 7),
    );
    for (const [place, each] of theirs.entries()) expect(Math.abs((ours[place] ?? 0) - each)).toBeLessThanOrEqual(1);
  });

  it("SOFTMAX of float32 with a beta of 3e38", async () => {
    const { ours, theirs } = await results(
      {
        name: "SOFTMAX",
        input: { type: "TENSOR_FLOAT32", dimensions: [2, 3] },
        constants: [["FLOAT32", 3e38]],
        outputs: [{ type: "TENSOR_FLOAT32", dimensions: [2, 3] }],
      },
      bytesOf(Float32Array.of(10, 20, -30, 5, 5, 4)),
    );
    expect(floatsOf(ours)).toEqual(floatsOf(theirs));
  });

  it.each([Number.POSITIVE_INFINITY, -1.5, 0, 0.5])("ELU with an alpha of %f", async (alpha) => {
    const points = [1, 2.5, 30, 85, -1, -2.5, -30, -100];
    const { ours, theirs } = await results(
      {
        name: "ELU",
        input: { type: "TENSOR_FLOAT32", dimensions: [points.length] },
        constants: [["FLOAT32", alpha]],
        outputs: [{ type: "TENSOR_FLOAT32", dimensions: [points.length] }],
      },
      bytesOf(Float32Array.from(points)),
    );
    const [actual, expected] = [floatsOf(ours), floatsOf(theirs)];
    for (const [place, each] of expected.entries()) {
      const given = actual[place] ?? Number.NaN;
      const isNear = Math.abs(given - each) <= 1e-5 * Math.max(1, Math.abs(each));
      expect(isNear || Object.is(given, each), `${points[place]}: expected ${each}, got ${given}`).toBe(true);
    }
  });

  // The engines of tfjs visit all cells of a window, and refuse such ones.
  if (engine === "gpujs") {
    it("AVERAGE_POOL_2D with a window far beyond the image", async () => {
      const type = "TENSOR_QUANT8_ASYMM";
      const image = { type, dimensions: [1, 3, 3, 1], scale: 1, zeroPoint: 0 } as const;
      const scalars = [1, 7, 6, 2, 2 ** 31 - 1, 0].map((value): Constant => ["INT32", value]);
      const { ours, theirs } = await results(
        {
          name: "AVERAGE_POOL_2D",
          input: image,
          constants: scalars,
          outputs: [{ ...image, dimensions: [1, 1, 1, 1] }],
        },
        Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8, 9),
      );
      expect([...ours]).toEqual([...theirs]);
    });
  } else {
    it("LSTM with gates near 0 and a great candidate", async () => {
      const column = { dimensions: [1, 1], elements: [1] };
      const none = { dimensions: [0] };
      const vector = (value: number): Constant => ({ dimensions: [1], elements: [value] });
      const weights = (value: number): Constant => ({ dimensions: [1, 1], elements: [value] });
      const { ours, theirs } = await results(
        {
          name: "UNIDIRECTIONAL_SEQUENCE_LSTM",
          input: { type: "TENSOR_FLOAT32", dimensions: [1, 1, 1] },
          constants: [
            ...[weights(-14), weights(-15), weights(3e6), weights(2)],
            ...[weights(0), weights(0), weights(0), weights(0)],
            ...[none, none, none],
            ...[vector(0), vector(0), vector(0), vector(0)],
            { dimensions: [0, 0] },
            none,
            column,
            column,
            ["INT32", 0],
            ["FLOAT32", 0],
            ["FLOAT32", 0],
            ["BOOL", false],
            ...[none, none, none, none],
          ],
          outputs: [{ type: "TENSOR_FLOAT32", dimensions: [1, 1, 1] }],
        },
        bytesOf(Float32Array.of(1)),
      );
      const [[actual = 0], [expected = 0]] = [floatsOf(ours), floatsOf(theirs)];
      expect(Math.abs(actual / expected - 1)).toBeLessThan(1e-5);
    });
  }
});
