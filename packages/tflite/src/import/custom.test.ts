/** Custom operators that a user registers. */
import { createReferenceBackend } from "@nnhal/backend-reference";
import {
  bool,
  defineExtension,
  defineOperation,
  ensure,
  float32,
  int32,
  type OptionValues,
  omittable,
  optional,
  readStruct,
  type StoredOptions,
  tensor,
} from "@nnhal/operations/authoring";
import { flexible } from "@nnhal/test-kit/flexbuffer";
import { describe, expect, test } from "vitest";
import { changeModel, execute, firstOperator, oneOperator } from "../_model.test-helper.ts";
import { TfliteError } from "../error.ts";
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

type Values = OptionValues<typeof pickedParams>;
const pickedParams = [
  tensor("input", "TENSOR_FLOAT32"),
  tensor("places", "TENSOR_INT32"),
  omittable(tensor("factors", "TENSOR_FLOAT32")),
  bool("isNegated"),
] as const;

/** output = input at some places, times factors. */
const picked = (name: string, code: number, customOptions?: (stored: StoredOptions) => Values) =>
  defineOperation({
    name,
    code,
    summary: "Picks elements, and scales them.",
    params: pickedParams,
    outputs: [tensor("output", "TENSOR_FLOAT32")],
    types: [["1.2"]],
    ...(customOptions && { customOptions }),
    infer: ({ places }) => ({ output: { dimensions: places.dimensions } }),
    reference({ input, places, factors, isNegated }, { output }) {
      for (const [index, place] of places.data.entries()) {
        output.data[index] = (input.data[place] ?? 0) * (factors?.data[index] ?? 1) * (isNegated ? -1 : 1);
      }
    },
  });

/** Options that the operation reads itself: of version 1 a struct, of version 2 a map in a map. */
function readPicked({ version, bytes, map }: StoredOptions): Values {
  ensure(version <= 2, () => `version ${version} is not known`);
  if (version === 1) {
    const { first, last, isNegated } = readStruct(bytes, { first: "int32", last: "int32", isNegated: "bool" });
    return { places: [first, last], isNegated };
  }
  // Of other options some do not exist: that throws a TypeError.
  const { window } = map() as unknown as { window: { places: number[]; mode: string } };
  return { places: window.places, isNegated: window.mode.startsWith("negative") };
}

const mine = defineExtension({
  name: "com.example.mine",
  operations: [affine, picked("Picked", 8), picked("Struct", 9, readPicked)],
});

/** An operator that picks two elements. */
function makePicking(customOptions: Uint8Array, { customCode = "Picked", version = 1, inputs = {} } = {}): TfliteModel {
  const y = { type: "FLOAT32", shape: [2] } as const;
  const bare = oneOperator("CUSTOM", { x: f, ...inputs }, { y }, {}, { customCode });
  return changeModel(bare, () => ({ operators: [{ ...firstOperator(bare), version, customOptions }] }));
}

const pick = (given: TfliteModel) =>
  execute(
    importTflite(given, { customOperators: [mine] }),
    [[1, 2, -4]],
    createReferenceBackend({ extensions: [mine] }),
  );

/** A custom operator; without options it has none. */
function model(options?: object, customCode = "Affine", type: "FLOAT32" | "INT32" = "FLOAT32"): TfliteModel {
  const bare = oneOperator("CUSTOM", { x: { ...f, type } }, { y: f }, {}, { customCode });
  if (options === undefined) return bare;
  return changeModel(bare, () => ({ operators: [{ ...firstOperator(bare), customOptions: flexible(options) }] }));
}

/** The error that an import throws. */
function refusalOf(work: () => unknown): TfliteError {
  try {
    work();
  } catch (error) {
    if (error instanceof TfliteError) return error;
  }
  throw new Error("it is imported");
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
    const byHand = changeModel(given, () => ({ operators: [{ ...firstOperator(given), customOptions: pooled }] }));
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
      "Affine cannot compute it: input 0 (input): expected TENSOR_FLOAT32, got TENSOR_INT32",
    ],
  ])("is refused if its operation does not fit: case %#", (given, message) => {
    expect(() => importTflite(given, { customOperators: [mine] })).toThrow(message);
  });

  test("has lists for tensors that are not inputs, and truth values as numbers", async () => {
    expect(await pick(makePicking(flexible({ places: [2, 0], isNegated: true })))).toEqual([[4, -1]]);
    const factors = [0.5, 3];
    expect(await pick(makePicking(flexible({ places: [2, 0], factors, isNegated: 0 })))).toEqual([[-2, 3]]);
    expect(await pick(makePicking(flexible({ places: [true, false], factors: [], isNegated: 7 })))).toEqual([[-2, -1]]);
    // A tensor of the file comes first.
    const inputs = { places: { type: "INT32", shape: [2], data: [1, 1] } } as const;
    const given = makePicking(flexible({ places: [2, 0], isNegated: false }), { inputs });
    expect(await pick(given)).toEqual([[2, 2]]);
  });

  test("has options that its operation reads itself, by its version", async () => {
    const struct = Uint8Array.of(2, 0, 0, 0, 1, 0, 0, 0, 1);
    const customCode = "Struct";
    expect(await pick(makePicking(struct, { customCode }))).toEqual([[4, -2]]);
    const nested = flexible({ window: { places: [0, 1], mode: "as it is" } });
    expect(await pick(makePicking(nested, { customCode, version: 2 }))).toEqual([[1, 2]]);
  });

  const read = "operators[0] (CUSTOM version 1): the options of the custom operator Struct cannot be read: ";
  test.each([
    ["Struct", 1, new Uint8Array(8), `${read}the struct of first, last, isNegated has 9 bytes, here are 8`],
    ["Struct", 3, new Uint8Array(9), "Struct cannot be read: version 3 is not known"],
    [
      "Struct",
      2,
      Uint8Array.of(1, 2, 3),
      "Struct cannot be read: the root of a FlexBuffer has 1, 2, 4 or 8 bytes, not 3",
    ],
    ["Struct", 2, new Uint8Array(0), "the options of the custom operator Struct cannot be read: "],
    [
      "Struct",
      2,
      flexible({ window: { places: "x", mode: "" } }),
      "option places of the custom operator Struct: expected a list of numbers, got a text",
    ],
    [
      "Picked",
      1,
      Uint8Array.of(1, 2, 3),
      "Picked cannot be read: the root of a FlexBuffer has 1, 2, 4 or 8 bytes, not 3",
    ],
    [
      "Picked",
      1,
      flexible({ places: [1, "two"], isNegated: 1 }),
      "option places of the custom operator Picked: expected a list of numbers, got a list",
    ],
    ["Picked", 1, flexible({ places: [1, 0.5], isNegated: 1 }), "0.5 is not a 32-bit integer"],
    ["Picked", 1, flexible({ places: [], isNegated: 1 }), "option places has to have elements, it has none"],
    [
      "Picked",
      1,
      flexible({ places: [1, 2], isNegated: { a: 1 } }),
      "option isNegated of the custom operator Picked: expected a truth value, got a map",
    ],
    ["Picked", 1, flexible({ places: [1, 2] }), "the custom option isNegated is missing"],
    ["Picked", 1, flexible({ isNegated: 1 }), "Picked needs its places, which the file leaves out"],
  ])("with options that are not its own is refused: %s %i %j", (customCode, version, options, message) => {
    const given = makePicking(options, { customCode, version });
    expect(() => importTflite(given, { customOperators: [mine] })).toThrow(TfliteError);
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
    const made = changeModel(bare, () => ({ operators: [{ ...firstOperator(bare), customOptions: options }] }));
    // A Hann window of 2 samples is 0 and 1.
    expect(await execute(importTflite(made), [[9, 3, 9, -2]])).toEqual([[9, 9, 4, 4]]);
    expect(() => importTflite(made, { extensions: false })).toThrow(
      "the HAL has no counterpart of the custom operator AudioSpectrogram",
    );
  });

  test("of MediaPipe is of a package, which a refusal names", () => {
    const helpFor = (customCode: string) => {
      const [problem] = refusalOf(() => importTflite(model(undefined, customCode))).problems;
      expect(problem?.message).toBe(`the HAL has no counterpart of the custom operator "${customCode}"`);
      return problem?.help;
    };
    expect(helpFor("MaxUnpooling2D")).toMatch(
      /^install @nnhal\/extension-mediapipe, and give it: --extension @nnhal\/extension-mediapipe \(nnhal, nnhal-server\)/,
    );
    expect(helpFor("MaxUnpooling3D")).toMatch(/^give an extension with an operation of its name: /);
    // With an operation of the name, the reason is that operation's alone.
    const unpooling = defineExtension({ name: "com.example.pool", operations: [picked("MaxUnpooling2D", 1)] });
    expect(() => importTflite(model({}, "MaxUnpooling2D"), { customOperators: [unpooling] })).toThrow(
      /^subgraphs\[0\]\.operators\[0\] \(CUSTOM version 1\): the custom option isNegated is missing$/,
    );
  });

  test("is not of the extension for .tflite, whose operations are of builtin operators", () => {
    expect(() => importTflite(model(undefined, "COS"))).toThrow('no counterpart of the custom operator "COS"');
  });

  test.each([[null], [{}], [[1]], [[{ name: "x" }]]])("cannot be registered by %j", (customOperators) => {
    expect(() => importTflite(model(), { customOperators: customOperators as never })).toThrow(
      "options.customOperators: expected a list of extensions",
    );
  });
});
