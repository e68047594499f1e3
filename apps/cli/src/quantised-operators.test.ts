/**
 * Operators of 8 bits on engines that compute in float32, and some also on ONNX Runtime, held against the fixed-point arithmetic of the reference: equal for all pairs of
 * elements, where a step in one direction would add up over the layers of a network. By default on the fast engines, with NNHAL_FAULTS=all
 * also on those of plain JavaScript.
 */
import { gpujsBackend } from "@nnhal/backend-gpujs";
import { ortBackend } from "@nnhal/backend-ort";
import { referenceBackend } from "@nnhal/backend-reference";
import { tfjsBackend } from "@nnhal/backend-tfjs";
import { modelRunner } from "@nnhal/conformance";
import { Model, type OperandDescription } from "@nnhal/runtime";
import { everyFault } from "@nnhal/test-kit/samples";
import type { Device, OperationTypeName } from "@nnhal/types";
import { beforeAll, describe, expect, it } from "vitest";
import { deviceOf } from "./devices.test-helper.ts";

type QuantisedType = "TENSOR_QUANT8_ASYMM" | "TENSOR_QUANT8_ASYMM_SIGNED";
type Scalar = readonly [type: "INT32" | "BOOL", value: number | boolean];

interface Operator {
  readonly name: OperationTypeName;
  readonly inputs: readonly OperandDescription[];
  readonly scalars?: readonly Scalar[];
  /** Constant whole numbers after the inputs, such as axes. */
  readonly list?: readonly number[];
  readonly output: OperandDescription;
}

function modelOf({ name, inputs, scalars = [], list, output }: Operator): Model {
  const model = new Model();
  const tensors = inputs.map((input) => model.addOperand(input));
  const constants = list === undefined ? [] : [model.addOperand({ type: "TENSOR_INT32", dimensions: [list.length] })];
  for (const index of constants) model.setOperandValue(index, Int32Array.from(list ?? []));
  const settings = scalars.map(([type, value]) => {
    const index = model.addOperand({ type });
    model.setOperandValue(index, value);
    return index;
  });
  const result = model.addOperand(output);
  model.addOperation(name, [...tensors, ...constants, ...settings], [result]);
  model.identifyInputsAndOutputs(tensors, [result]);
  model.finish();
  return model;
}

const pairs = 256 * 256;
const first = Uint8Array.from({ length: pairs }, (_, pair) => pair & 255);
const second = Uint8Array.from({ length: pairs }, (_, pair) => pair >> 8);
const none: Scalar = ["INT32", 0];

const scales = [
  ["ties", 2 / 255, 2 / 255, 4 / 255],
  ["other ties", 0.3, 0.1, 0.2],
  ["scales without ties", 0.0247, 0.0027, 0.0263],
  ["a fine output", 0.1, 0.07, 0.0021],
  ["one operand far below the other", 1, 1e-6, 1],
] as const;

const fast = [
  ["tfjs, wasm", () => tfjsBackend({ engine: "wasm" })],
  ["gpu.js, webasm", () => gpujsBackend({ mode: "webasm" })],
] as const;
const slow = [
  ["tfjs, cpu", () => tfjsBackend({ engine: "cpu" })],
  ["gpu.js, cpu", () => gpujsBackend({ mode: "cpu" })],
] as const;
const engines = everyFault ? [...fast, ...slow] : fast;

let reference: Device;
beforeAll(async () => {
  reference = await deviceOf(referenceBackend);
});

/** Expects the elements of the reference. */
async function expectSame(device: Device, operator: Operator, inputs: readonly Uint8Array[]): Promise<void> {
  const { hal } = modelOf(operator);
  const resultOf = async (each: Device) => elementsOf(await (await modelRunner(hal, [each]))(inputs));
  const [ours, theirs] = await Promise.all([resultOf(device), resultOf(reference)]);
  const wrong = theirs.findIndex((each, place) => each !== ours[place]);
  expect({ wrong, ours: ours[wrong] }).toEqual({ wrong: -1, ours: undefined });
}

const elementsOf = ([bytes]: readonly Uint8Array[]) => Array.from(bytes ?? []);

describe.each([...engines, ["ort", () => ortBackend({ threads: 1 })] as const])(
  "8-bit functions on %s",
  (_, backend) => {
    let device: Device;
    beforeAll(async () => {
      device = await deviceOf(backend());
    });

    it.each([
      ["TENSOR_QUANT8_ASYMM", 0.5, 0.25, 0.25],
      ["TENSOR_QUANT8_ASYMM", 0.0247, 0.0027, 0.0263],
      ["TENSOR_QUANT8_ASYMM_SIGNED", 0.1, 0.5, 0.2],
      ["TENSOR_QUANT8_ASYMM_SIGNED", 3, 7, 1e-6],
    ] as const)("PRELU of all pairs of %s with scales %f, %f and %f", async (type, input, alpha, output) => {
      const zero = type === "TENSOR_QUANT8_ASYMM" ? 128 : 0;
      const tensor = (scale: number, zeroPoint: number, dimensions = [1, 256, 1, 256]): OperandDescription => ({
        ...{ type, dimensions, scale, zeroPoint },
      });
      const inputs = [tensor(input, zero + 20), tensor(alpha, zero - 3)];
      await expectSame(device, { name: "PRELU", inputs, output: tensor(output, zero + 7) }, [first, second]);
      const byChannel = [tensor(input, zero + 20), tensor(alpha, zero - 3, [256])];
      const factors = first.slice(0, 256).reverse();
      await expectSame(device, { name: "PRELU", inputs: byChannel, output: tensor(output, zero) }, [second, factors]);
    });

    it.each([
      ["TENSOR_QUANT8_ASYMM", 123],
      ["TENSOR_QUANT8_ASYMM_SIGNED", -5],
    ] as const)("HARD_SWISH of all elements of %s", async (type, zeroPoint) => {
      const input = { type, dimensions: [256], scale: 0.0247, zeroPoint };
      const output = { ...input, scale: 0.017, zeroPoint: zeroPoint + 25 };
      await expectSame(device, { name: "HARD_SWISH", inputs: [input], output }, [first.slice(0, 256)]);
    });
  },
);

describe.each(engines)("8-bit operators on %s", { timeout: 60_000 }, (_, backend) => {
  let device: Device;
  beforeAll(async () => {
    device = await deviceOf(backend());
  });

  const expectEqual = (operator: Operator, inputs: readonly Uint8Array[]) => expectSame(device, operator, inputs);

  describe.each([
    ["TENSOR_QUANT8_ASYMM", 128],
    ["TENSOR_QUANT8_ASYMM_SIGNED", 0],
  ] as const)("%s", (type: QuantisedType, zero) => {
    const tensor = (dimensions: number[], scale: number, zeroPoint: number = zero): OperandDescription => ({
      ...{ type, dimensions, scale, zeroPoint },
    });

    it.each(scales)("ADD and SUB of all pairs: %s", async (_, left, right, output) => {
      for (const name of ["ADD", "SUB"] as const) {
        const inputs = [tensor([pairs], left, zero - 3), tensor([pairs], right, zero + 5)];
        await expectEqual({ name, inputs, scalars: [none], output: tensor([pairs], output) }, [first, second]);
      }
    });

    it("ADD with an activation and one that broadcasts", async () => {
      const inputs = [tensor([256, 256], 0.1), tensor([1, 256], 0.07)];
      const scalars = [["INT32", 3]] as const;
      await expectEqual({ name: "ADD", inputs, scalars, output: tensor([256, 256], 0.2) }, [
        first,
        second.filter((_, pair) => (pair & 255) === 0),
      ]);
    });

    it.each([
      [0.1, 0.07, 0.0071],
      [0.5, 0.5, 0.5],
      [0.0247, 0.0027, 0.0001],
    ])("MUL of all pairs with scales %f, %f and %f", async (left, right, output) => {
      const inputs = [tensor([pairs], left, zero - 3), tensor([pairs], right, zero + 5)];
      await expectEqual({ name: "MUL", inputs, scalars: [none], output: tensor([pairs], output) }, [first, second]);
    });

    it.each([
      [1, 2],
      [2, 3],
      [4, 4],
    ])("AVERAGE_POOL_2D of %i x %i", async (height, width) => {
      const [rows, columns] = [256 / height, Math.floor(256 / width)];
      const scalars = [0, 0, 0, 0, width, height, width, height, 0].map((value): Scalar => ["INT32", value]);
      const input = tensor([1, 256, 256, 1], 0.5);
      const output = tensor([1, rows, columns, 1], 0.5);
      await expectEqual({ name: "AVERAGE_POOL_2D", inputs: [input], scalars, output }, [
        first.map((each, place) => (each * 31 + 7 * (place >> 8)) & 255),
      ]);
    });

    it.each([2, 4, 6])("MEAN of %i", async (count) => {
      const input = tensor([256 * 40, count], 0.5, zero - 3);
      const data = Uint8Array.from({ length: 256 * 40 * count }, (_, place) => (place * 89 + (place >> 8) * 7) & 255);
      const output = tensor([256 * 40], 0.5, zero - 3);
      await expectEqual({ name: "MEAN", inputs: [input], list: [1], scalars: [none], output }, [data]);
    });

    it("CONCATENATION with another quantisation", async () => {
      const inputs = [tensor([256], 0.1, zero - 3), tensor([256], 0.3), tensor([256], 0.2)];
      const bytes = first.slice(0, 256);
      await expectEqual({ name: "CONCATENATION", inputs, scalars: [none], output: tensor([768], 0.2) }, [
        bytes,
        bytes,
        bytes,
      ]);
    });

    it.each([
      ["RELU", 0.0247, zero - 5, undefined],
      ["RELU1", 0.0247, zero - 5, undefined],
      ["RELU6", 0.0247, zero - 5, undefined],
      ["HARD_SWISH", 0.0247, zero - 5, [0.017, zero + 20]],
    ] as const)("%s of all elements", async (name, scale, zeroPoint, to) => {
      const output = tensor([256], to?.[0] ?? scale, to?.[1] ?? zeroPoint);
      await expectEqual({ name, inputs: [tensor([256], scale, zeroPoint)], output }, [first.slice(0, 256)]);
    });
  });
});
