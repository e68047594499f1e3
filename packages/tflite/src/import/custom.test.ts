/** Custom operators that a user registers. */
import { createReferenceBackend } from "@nnhal/backend-reference";
import {
  defineExtension,
  defineOperation,
  ensure,
  float32,
  int32,
  optional,
  tensor,
} from "@nnhal/operations/authoring";
import { builder } from "flatbuffers/js/flexbuffers.js";
import { describe, expect, test } from "vitest";
import { changed, execute, firstOperator, oneOperator } from "../_model.test-helper.ts";
import type { TfliteModel } from "../model.ts";
import { writeTflite } from "../write.ts";
import { importTflite } from "./import.ts";

const f = { type: "FLOAT32", shape: [3] } as const;

/** output = input * factor + shift */
const affine = defineOperation({
  name: "Affine",
  code: 7,
  summary: "Scales and shifts.",
  params: [tensor("input", "TENSOR_FLOAT32"), float32("factor"), optional("1.2", int32("shift"), 0)],
  outputs: [tensor("output", "TENSOR_FLOAT32")],
  types: [["1.2"]],
  infer({ input, factor }) {
    ensure(factor !== 0, () => "the factor is 0");
    return { output: { dimensions: input.dimensions } };
  },
  reference({ input, factor, shift }, { output }) {
    for (const [index, value] of input.data.entries()) output.data[index] = value * factor + shift;
  },
});
const mine = defineExtension({ name: "com.example.mine", operations: [affine] });

/** A FlexBuffer with a map. */
function flexible(values: object): Uint8Array {
  const flex = builder();
  flex.add(values);
  return flex.finish();
}

/** A custom operator; without options it has none. */
function model(options?: object, customCode = "Affine", type: "FLOAT32" | "INT32" = "FLOAT32"): TfliteModel {
  const bare = oneOperator("CUSTOM", { x: { ...f, type } }, { y: f }, {}, { customCode });
  if (options === undefined) return bare;
  return changed(bare, () => ({ operators: [{ ...firstOperator(bare), customOptions: flexible(options) }] }));
}

describe("a custom operator", () => {
  test("becomes the operation of its name of a registered extension, with its options", async () => {
    const imported = importTflite(model({ factor: 2.5, shift: -1 }), { customOperators: [mine] });
    expect(imported.model.extensionNameToPrefix).toEqual([{ name: "com.example.mine", prefix: 2 }]);
    expect(await execute(imported, [[1, 2, -4]], createReferenceBackend({ extensions: [mine] }))).toEqual([
      [1.5, 4, -11],
    ]);
  });

  test("has its options if the file, or its options alone, are a Buffer of Node.js", async () => {
    const given = model({ factor: 2.5, shift: -1 });
    const [operator] = given.subgraphs[0]?.operators ?? [];
    const pooled = Buffer.concat([Buffer.alloc(3), operator?.customOptions ?? Buffer.alloc(0)]).subarray(3);
    const byHand = changed(given, () => ({ operators: [{ ...firstOperator(given), customOptions: pooled }] }));
    for (const source of [Buffer.from(writeTflite(given)), byHand]) {
      const imported = importTflite(source, { customOperators: [mine] });
      expect(await execute(imported, [[1, 2, -4]], createReferenceBackend({ extensions: [mine] }))).toEqual([
        [1.5, 4, -11],
      ]);
    }
  });

  test("has the defaults of options that are missing", async () => {
    const imported = importTflite(model({ factor: 3 }), { customOperators: [mine], extensions: false });
    expect(await execute(imported, [[1, 2, -4]], createReferenceBackend({ extensions: [mine] }))).toEqual([
      [3, 6, -12],
    ]);
  });

  test.each([
    [model({ shift: 1 }), "the custom option factor is missing"],
    [model(), "the custom option factor is missing"],
    [model({ factor: 0 }), "Affine cannot compute it: the factor is 0"],
    [model({ factor: 1 }, "Other"), 'the HAL has no counterpart of the custom operator "Other"'],
    [
      model({ factor: 1 }, "Affine", "INT32"),
      "Affine cannot compute it: input 0 (input) is TENSOR_INT32 where TENSOR_FLOAT32 is needed",
    ],
  ])("is refused if its operation does not fit: case %#", (given, message) => {
    expect(() => importTflite(given, { customOperators: [mine] })).toThrow(message);
  });

  test("of sounds that TensorFlow Lite registers itself is of the extension for .tflite", async () => {
    const sound = { x: { type: "FLOAT32", shape: [4, 1] } } as const;
    const bare = oneOperator(
      "CUSTOM",
      sound,
      { y: { type: "FLOAT32", shape: [1, 2, 2] } },
      {},
      { customCode: "AudioSpectrogram" },
    );
    const options = flexible({ window_size: 2, stride: 2, magnitude_squared: true });
    const made = changed(bare, () => ({ operators: [{ ...firstOperator(bare), customOptions: options }] }));
    // A Hann window of 2 samples is 0 and 1.
    expect(await execute(importTflite(made), [[9, 3, 9, -2]])).toEqual([[9, 9, 4, 4]]);
    expect(() => importTflite(made, { extensions: false })).toThrow(
      "the HAL has no counterpart of the custom operator AudioSpectrogram",
    );
  });

  test("is not of the extension for .tflite, whose operations are of builtin operators", () => {
    expect(() => importTflite(model(undefined, "COS"))).toThrow('no counterpart of the custom operator "COS"');
  });

  test.each([[null], [{}], [[1]], [[{ name: "x" }]]])("cannot be registered by %j", (customOperators) => {
    expect(() => importTflite(model(), { customOperators: customOperators as never })).toThrow(
      "options.customOperators: it has to be a list of extensions",
    );
  });
});
