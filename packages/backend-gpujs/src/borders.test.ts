/** The borders of kernels: of the image, of the numbers that float32 has, and of the elements that a value may have. */
import { referenceBackend } from "@nnhal/backend-reference";
import { modelRunner } from "@nnhal/conformance";
import { openDevice } from "@nnhal/driver-core/device";
import { Model, type OperandDescription, type OperandValue } from "@nnhal/runtime";
import type { Device, OperationTypeName } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { deviceOf, deviceOn } from "./_devices.test-helper.ts";
import { openMachine } from "./machine/open.ts";

interface Argument extends OperandDescription {
  /** Absent: an input of the model. */
  readonly value?: OperandValue | number;
}

const float = (...dimensions: number[]): Argument => ({ type: "TENSOR_FLOAT32", dimensions });
const whole = (...dimensions: number[]): Argument => ({ type: "TENSOR_INT32", dimensions });
const int = (value: number): Argument => ({ type: "INT32", value });

/** A model of one operation. */
function modelOf(type: OperationTypeName, args: readonly Argument[], results: readonly Argument[]): Model {
  const model = new Model();
  const inputs = args.map(({ value, ...description }) => {
    const index = model.addOperand(description);
    if (value !== undefined) model.setOperandValue(index, value);
    return index;
  });
  const outputs = results.map((each) => model.addOperand(each));
  model.addOperation(type, inputs, outputs);
  model.identifyInputsAndOutputs(
    inputs.filter((_, place) => args[place].value === undefined),
    outputs,
  );
  model.finish();
  return model;
}

const bytesOf = (numbers: Float32Array | Int32Array) => new Uint8Array(numbers.buffer);

async function run(device: Device, model: Model, ...inputs: (Float32Array | Int32Array)[]): Promise<Float32Array[]> {
  const outputs = await (await modelRunner(model.hal, [device]))(inputs.map(bytesOf));
  return outputs.map(({ buffer }) => new Float32Array(buffer));
}

async function reference(): Promise<Device> {
  const device = await openDevice({ backend: referenceBackend });
  if ("unavailable" in device) throw new Error(device.unavailable);
  return device;
}

describe.each(["webasm", "cpu"] as const)("in mode %s", { timeout: 60_000 }, (mode) => {
  it("reads no cell outside an image that is smaller than the filter", async () => {
    const same = [int(1), int(1), int(1), int(0)];
    const filter = { ...float(1, 1, 3, 1), value: Float32Array.of(1, 10, 100) };
    const bias = { ...float(1), value: Float32Array.of(0.5) };
    const model = modelOf("CONV_2D", [float(1, 1, 2, 1), filter, bias, ...same], [float(1, 1, 2, 1)]);
    expect([...(await run(await deviceOn(mode), model, Float32Array.of(2, 3)))[0]]).toEqual([320.5, 32.5]);
  });

  it("replaces an index outside its axis by the nearest one inside", async () => {
    const model = modelOf("GATHER", [float(3), int(0), whole(4)], [float(4)]);
    const indices = Int32Array.of(-1, 3, 2 ** 31 - 1, -(2 ** 31));
    expect([...(await run(await deviceOn(mode), model, Float32Array.of(5, 6, 7), indices))[0]]).toEqual([5, 7, 7, 5]);
  });

  it("has the powers of IEEE 754", async () => {
    const some = [
      0,
      1,
      0.5,
      2,
      3,
      1.5,
      1 / 3,
      2 ** 23 + 1,
      2 ** 24,
      1e30,
      1e-30,
      1e-45,
      3.4028234663852886e38,
      Infinity,
    ];
    const numbers = [...some, ...some.map((each) => -each), Number.NaN];
    const bases = Float32Array.from(numbers.flatMap((base) => numbers.map(() => base)));
    const exponents = Float32Array.from(numbers.flatMap(() => numbers));
    const tensor = float(bases.length);
    const model = modelOf("POW", [tensor, tensor], [tensor]);
    const [ours] = await run(await deviceOn(mode), model, bases, exponents);
    const [theirs] = await run(await reference(), model, bases, exponents);
    const different = [...ours.keys()].filter((index) => {
      const [a, b] = [ours[index], theirs[index]];
      return !Object.is(a, b) && !(Math.abs(a - b) <= 1e-5 * Math.abs(b));
    });
    expect(
      different.map((index) => `${bases[index]} ** ${exponents[index]}: ${ours[index]}, not ${theirs[index]}`),
    ).toEqual([]);
    const [root] = await run(
      await deviceOn(mode),
      modelOf("POW", [float(1), float(1)], [float(1)]),
      ...[-8, 1 / 3].map((each) => Float32Array.of(each)),
    );
    expect(root[0]).toBeNaN();
  });

  it.each([Infinity, -Infinity, Number.NaN])("fills with %f", async (value) => {
    const model = modelOf(
      "FILL",
      [
        { ...whole(1), value: Int32Array.of(2) },
        { type: "FLOAT32", value },
      ],
      [float(2)],
    );
    expect([...(await run(await deviceOn(mode), model))[0]]).toEqual([value, value]);
  });

  it("computes more elements than float32 indexes can be divided", async () => {
    const count = 2 ** 23 + 4;
    const device = await deviceOn(mode);
    const input = new Float32Array(count);
    for (let index = 0; index < count; index++) input[index] = (index % 1000) - 500;
    const [sizes] = await run(device, modelOf("ABS", [float(count)], [float(count)]), input);
    expect(firstOther(sizes, (index) => Math.abs(input[index]))).toBe(-1);
    // Two axes, neither a multiple of the other, in a row that is too long for one of threads.
    const [rows, columns] = [3, count / 12];
    const order = { ...whole(3), value: Int32Array.of(1, 2, 0) };
    const model = modelOf("TRANSPOSE", [float(4, rows, columns), order], [float(rows, columns, 4)]);
    const [moved] = await run(device, model, input);
    const elementAt = (index: number) => {
      const outer = index % 4;
      const column = Math.floor(index / 4) % columns;
      return input[(outer * rows + Math.floor(index / (4 * columns))) * columns + column];
    };
    expect(firstOther(moved, elementAt)).toBe(-1);
  });

  it("looks up elements beyond the last float32 index", async () => {
    const extent = Math.ceil((2 ** 24 + 5) / 3);
    const table = new Float32Array(3 * extent);
    table.set([1, 2, 3], 3 * extent - 3);
    const model = modelOf("GATHER", [float(extent, 3), int(0), whole(1)], [float(1, 3)]);
    expect([...(await run(await deviceOn(mode), model, table, Int32Array.of(extent - 1)))[0]]).toEqual([1, 2, 3]);
  });
});

describe("elements of a value", () => {
  it.each(["input", "output"] as const)(
    "refuses what has too many before a model is prepared: an %s",
    async (which) => {
      const opened = await openMachine("cpu");
      if ("unavailable" in opened) throw new Error(opened.unavailable);
      const { machine } = opened;
      const device = await deviceOf({ ...machine, mostElements: 2 ** 23 });
      const answer = async (count: number) => {
        const large = float(2, count / 2);
        const axes = { ...whole(1), value: Int32Array.of(1) };
        const tiles = { ...whole(2), value: Int32Array.of(1, count / 2) };
        const model =
          which === "input"
            ? modelOf("REDUCE_MAX", [large, axes, { type: "BOOL", value: Uint8Array.of(0) }], [float(2)])
            : modelOf("TILE", [float(2, 1), tiles], [large]);
        const { supported, reasons } = await device.getSupportedOperations(model.hal);
        return { supported, reasons };
      };
      expect((await answer(2 ** 23)).supported).toEqual([true]);
      const { supported, reasons } = await answer(2 ** 23 + 2);
      expect(supported).toEqual([false]);
      expect(reasons[0]).toContain("a value of 8388610 elements is more than the 8388608");
      machine.close();
    },
  );

  it.each(["webasm", "cpu"] as const)("has up to 2^28 in mode %s", async (mode) => {
    const device = await deviceOn(mode);
    const supportOf = async (count: number) =>
      (await device.getSupportedOperations(modelOf("ABS", [float(count)], [float(count)]).hal)).supported;
    expect(await supportOf(2 ** 28)).toEqual([true]);
    expect(await supportOf(2 ** 28 + 1)).toEqual([false]);
    const greatest = async (count: number) =>
      (await device.getSupportedOperations(modelOf("TOPK_V2", [float(count), int(1)], [float(1), whole(1)]).hal))
        .supported;
    expect(await greatest(2 ** 24)).toEqual([true]);
    expect(await greatest(2 ** 24 + 1)).toEqual([false]);
  });
});

describe.each(["webasm", "cpu"] as const)("TOPK_V2 in mode %s", (mode) => {
  it("returns values and places as they are stored, of equal ones the larger index first", async () => {
    const model = modelOf("TOPK_V2", [float(2, 5), int(3)], [float(2, 3), whole(2, 3)]);
    const device = await deviceOn(mode);
    const input = Float32Array.of(1, 3, 3, -1, 2, -0, 0, -5, -4, -Infinity);
    const [values, places] = await run(device, model, input);
    expect([...values]).toEqual([3, 3, 2, 0, -0, -4]);
    expect([...new Int32Array(places.buffer)]).toEqual([2, 1, 4, 1, 0, 3]);
  });
});

/** The place of the first element that is not the expected one; -1 if there is none. A loop: there are millions. */
function firstOther(elements: Float32Array, expected: (index: number) => number): number {
  for (let index = 0; index < elements.length; index++) if (elements[index] !== expected(index)) return index;
  return -1;
}
