/**
 * Infinities and NaN in images, filters and biases: cells outside of an image add nothing to a sum, as in the reference. Times zeros around the image they would be NaN.
 */

import { referenceBackend } from "@nnhal/backend-reference";
import { modelRunner } from "@nnhal/conformance";
import { openDevice } from "@nnhal/driver-core/device";
import { Model } from "@nnhal/runtime";
import type { Device, Model as HalModel, OperationTypeName } from "@nnhal/types";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { deviceOf } from "./_devices.test-helper.ts";

interface Tensor {
  readonly dimensions: readonly number[];
  /** Undefined: an input of the model. */
  readonly data?: Float32Array | undefined;
}

/** A model of one operation. */
function modelOf(
  name: OperationTypeName,
  tensors: readonly Tensor[],
  settings: readonly (number | boolean)[],
  result: number[],
) {
  const model = new Model();
  const operands = tensors.map(({ dimensions, data }) => {
    const index = model.addOperand({ type: "TENSOR_FLOAT32", dimensions: [...dimensions] });
    if (data !== undefined) model.setOperandValue(index, data);
    return index;
  });
  const numbers = settings.map((value) => {
    const index = model.addOperand({ type: typeof value === "boolean" ? "BOOL" : "INT32" });
    model.setOperandValue(index, value);
    return index;
  });
  const output = model.addOperand({ type: "TENSOR_FLOAT32", dimensions: result });
  model.addOperation(name, [...operands, ...numbers], [output]);
  const inputs = operands.filter((_, place) => tensors[place]?.data === undefined);
  model.identifyInputsAndOutputs(inputs, [output]);
  model.finish();
  return model.hal;
}

const count = (dimensions: readonly number[]) => dimensions.reduce((product, extent) => product * extent, 1);

/** Small whole numbers, of which every sum is exact, with few others among them. */
const numbers = fc.oneof(
  { arbitrary: fc.integer({ min: -4, max: 4 }), weight: 20 },
  fc.constantFrom(Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN),
);
const elements = (dimensions: readonly number[]) =>
  fc
    .array(numbers, { minLength: count(dimensions), maxLength: count(dimensions) })
    .map((list) => Float32Array.from(list));

interface Window {
  readonly extents: readonly [height: number, width: number];
  readonly filter: readonly [height: number, width: number];
  readonly strides: readonly [height: number, width: number];
  readonly pads: readonly [left: number, right: number, top: number, bottom: number];
}

const from = (min: number, max: number) => fc.integer({ min, max });
const windows = fc.tuple(from(1, 4), from(1, 4)).chain(([height, width]) =>
  fc.record<Window>({
    extents: fc.tuple(from(1, 6), from(1, 6)),
    filter: fc.constant([height, width]),
    strides: fc.tuple(from(1, 3), from(1, 3)),
    // The HAL's are less than the window.
    pads: fc.tuple(from(0, width - 1), from(0, width - 1), from(0, height - 1), from(0, height - 1)),
  }),
);

/** The extents of the result of a window, of which a part may lie outside of the image. */
function slide(
  { extents, filter, strides, pads }: Window,
  [down, across]: readonly [number, number],
): [number, number] {
  const [left, right, top, bottom] = pads;
  const places = (extent: number, pad: number, cells: number, stride: number) =>
    Math.floor((extent + pad - cells) / stride) + 1;
  return [
    places(extents[0], top + bottom, (filter[0] - 1) * down + 1, strides[0]),
    places(extents[1], left + right, (filter[1] - 1) * across + 1, strides[1]),
  ];
}

const plain = [1, 1] as const;

/** The tensors, the settings and the result of each operation on windows. */
const operations = {
  CONV_2D: (window: Window) => ({
    tensors: [[1, ...window.extents, 3], [5, ...window.filter, 3], [5]],
    settings: [...window.pads, window.strides[1], window.strides[0], 0],
    result: [1, ...slide(window, plain), 5],
  }),
  GROUPED_CONV_2D: (window: Window) => ({
    tensors: [[1, ...window.extents, 4], [6, ...window.filter, 2], [6]],
    settings: [...window.pads, window.strides[1], window.strides[0], 2, 0, false],
    result: [1, ...slide(window, plain), 6],
  }),
  DEPTHWISE_CONV_2D: (window: Window) => ({
    tensors: [[1, ...window.extents, 3], [1, ...window.filter, 6], [6]],
    settings: [...window.pads, window.strides[1], window.strides[0], 2, 0],
    result: [1, ...slide(window, plain), 6],
  }),
  TRANSPOSE_CONV_2D: (window: Window) => {
    const [left, right, top, bottom] = window.pads;
    const [height, width] = window.extents;
    return {
      tensors: [[1, height, width, 3], [5, ...window.filter, 3], [5]],
      settings: [...window.pads, window.strides[1], window.strides[0], 0, false],
      result: [
        1,
        (height - 1) * window.strides[0] + window.filter[0] - top - bottom,
        (width - 1) * window.strides[1] + window.filter[1] - left - right,
        5,
      ],
    };
  },
  AVERAGE_POOL_2D: pool,
  L2_POOL_2D: pool,
  MAX_POOL_2D: pool,
} as const satisfies Readonly<Record<string, (window: Window) => Operation>>;

interface Operation {
  readonly tensors: readonly (readonly number[])[];
  readonly settings: readonly (number | boolean)[];
  readonly result: number[];
}

function pool(window: Window): Operation {
  return {
    tensors: [[1, ...window.extents, 3]],
    settings: [...window.pads, window.strides[1], window.strides[0], window.filter[1], window.filter[0], 0],
    result: [1, ...slide(window, plain), 3],
  };
}

describe("infinities and NaN in windows with padding", { timeout: 120_000 }, () => {
  let devices: readonly Device[] = [];
  beforeAll(async () => {
    const reference = await openDevice({ backend: referenceBackend });
    if ("unavailable" in reference) throw new Error(reference.unavailable);
    devices = [await deviceOf(), reference];
  });

  async function expectSame(model: HalModel, inputs: readonly Float32Array[]): Promise<void> {
    const bytes = inputs.map((input) => new Uint8Array(input.buffer));
    const [own, right] = await Promise.all(
      devices.map(async (device) => {
        const run = await modelRunner(model, [device]);
        const [result = new Uint8Array()] = await run(bytes);
        // Means and roots may differ in their last digits, and zeros in their signs.
        return Array.from(new Float32Array(result.buffer), (value) => Math.round(value * 1000) / 1000 + 0);
      }),
    );
    expect(own).toEqual(right);
  }

  it.each(Object.entries(operations))("are where those of the reference are in %s", async (name, operationOf) => {
    const cases = windows
      .map((window) => operationOf(window))
      .filter(({ result }) => result.every((extent) => extent > 0))
      .chain(({ tensors, settings, result }) =>
        fc.record({
          tensors: fc.constant(tensors),
          settings: fc.constant(settings),
          result: fc.constant(result),
          values: fc.tuple(...tensors.map(elements)),
          isConstant: fc.boolean(),
        }),
      );
    await fc.assert(
      fc.asyncProperty(cases, async ({ tensors, settings, result, values, isConstant }) => {
        const given = tensors.map((dimensions, place) => ({
          dimensions,
          data: place > 0 && isConstant ? values[place] : undefined,
        }));
        const inputs = values.filter((_, place) => given[place]?.data === undefined);
        await expectSame(modelOf(name as OperationTypeName, given, settings, result), inputs);
      }),
      { numRuns: 40 },
    );
  });
});
