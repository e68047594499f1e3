import { elementAt } from "@nnhal/operations";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { changeModel, firstOperator, firstSubgraph, modelOf, oneOperator } from "./_model.test-helper.ts";
import { TfliteError } from "./error.ts";
import type { TfliteModel, TfliteOperator, TfliteSubgraph, TfliteTensor } from "./model.ts";
import { readTflite } from "./read.ts";
import { builtinOperators } from "./schema/builtin-operators.ts";
import { tensorTypes } from "./schema/codes.ts";
import { type OptionValue, optionsLayout, optionsTableNames } from "./schema/options.ts";
import { writeTflite } from "./write.ts";

const plain = oneOperator("ADD", { x: { shape: [2] }, w: { shape: [2], data: [3, 4] } }, { y: { shape: [2] } });

function withOperator(change: Partial<TfliteOperator>): TfliteModel {
  return changeModel(plain, () => ({ operators: [{ ...firstOperator(plain), options: {}, ...change }] }));
}

function withTensor(change: Partial<TfliteTensor>): TfliteModel {
  return changeModel(plain, ({ tensors }) => ({ tensors: tensors.map((one) => ({ ...one, ...change })) }));
}

/** A value that an option can have beside its default. */
function otherValue(name: string, absent: OptionValue | undefined): OptionValue {
  if (typeof absent === "boolean") return !absent;
  if (typeof absent === "number") return absent + 3;
  if (typeof absent === "string") return 100;
  return ["container", "sharedName", "name"].includes(name) ? "text" : [5, 6];
}

/** Options of an operator, each its default or another value. */
function optionsOf(name: string): fc.Arbitrary<Record<string, OptionValue>> {
  const table = builtinOperators.find((one) => one.name === name)?.options;
  const fields = Object.entries(table === undefined ? {} : optionsLayout(table));
  return fc.tuple(fc.boolean(), ...fields.map(() => fc.boolean())).map(([isGiven, ...others]) =>
    Object.fromEntries(
      fields.flatMap(([option, { absent }], i) => {
        const value = others[i] ? otherValue(option, absent) : absent;
        // Without any option that is set the table itself is left out where it could hold some.
        return value === undefined || !isGiven ? [] : [[option, value]];
      }),
    ),
  );
}

const text = fc.string({ unit: "grapheme", maxLength: 12 });
const int32 = fc.integer();
const extents = fc.array(int32, { maxLength: 5 });

const quantization = fc
  .array(fc.tuple(fc.float(), fc.maxSafeInteger()), { minLength: 1, maxLength: 4 })
  .chain((pairs) =>
    int32.map((quantizedDimension) => ({
      scale: pairs.map(([scale]) => scale),
      zeroPoint: pairs.map(([, zeroPoint]) => zeroPoint),
      quantizedDimension,
    })),
  );

const indexes = fc.array(fc.nat(0x1_ffff), { maxLength: 4 });
const sparsity = fc.record({
  traversalOrder: fc.array(int32, { maxLength: 3 }),
  blockMap: fc.array(int32, { maxLength: 2 }),
  dimensions: fc.array(fc.oneof(fc.record({ size: int32 }), fc.record({ segments: indexes, indexes })), {
    maxLength: 3,
  }),
});

const tensor: fc.Arbitrary<TfliteTensor> = fc.record(
  {
    name: text,
    shape: extents,
    type: fc.constantFrom(...tensorTypes),
    isVariable: fc.boolean(),
    shapeSignature: fc.array(int32, { minLength: 1, maxLength: 5 }),
    data: fc.uint8Array({ minLength: 1, maxLength: 40 }),
    quantization,
    sparsity,
    hasRank: fc.constant(true as const),
  },
  { requiredKeys: ["name", "shape", "type", "isVariable"] },
);

function operator(tensorCount: number): fc.Arbitrary<TfliteOperator> {
  const index = fc.nat(tensorCount - 1);
  return fc
    .oneof(fc.constantFrom(...builtinOperators.map(({ name }) => name as string)), fc.constant("BUILTIN_4321"))
    .chain((name) =>
      fc.record(
        {
          name: fc.constant(name),
          customCode: text,
          customOptions: fc.uint8Array({ maxLength: 9 }),
          version: int32,
          inputs: fc.array(fc.oneof(index, fc.constant(-1)), { maxLength: 4 }),
          outputs: fc.array(index, { maxLength: 3 }),
          options: optionsOf(name),
          intermediates: fc.array(index, { minLength: 1, maxLength: 3 }),
          mutatingVariableInputs: fc.array(fc.boolean(), { minLength: 1, maxLength: 3 }),
        },
        { requiredKeys: ["name", "version", "inputs", "outputs", "options"] },
      ),
    );
}

const subgraph: fc.Arbitrary<TfliteSubgraph> = fc.array(tensor, { minLength: 1, maxLength: 5 }).chain((tensors) => {
  const indexes = fc.array(fc.nat(tensors.length - 1), { maxLength: 3 });
  return fc.record({
    name: text,
    tensors: fc.constant(tensors),
    operators: fc.array(operator(tensors.length), { maxLength: 4 }),
    inputs: indexes,
    outputs: indexes,
  });
});

const model: fc.Arbitrary<TfliteModel> = fc.record({
  version: fc.constant(3),
  description: text,
  subgraphs: fc.array(subgraph, { minLength: 1, maxLength: 3 }),
  metadata: fc.array(fc.record({ name: text, data: fc.uint8Array({ maxLength: 9 }) }), { maxLength: 2 }),
  signatures: fc.array(
    fc.record({
      key: text,
      subgraph: fc.constant(0),
      inputs: fc.array(fc.record({ name: text, tensor: fc.constant(0) }), { maxLength: 2 }),
      outputs: fc.array(fc.record({ name: text, tensor: fc.constant(0) }), { maxLength: 2 }),
    }),
    { maxLength: 2 },
  ),
});

describe("a written model reads back equal", () => {
  test("for any model", () => {
    fc.assert(
      fc.property(model, (given) => {
        expect(readTflite(writeTflite(given))).toEqual(given);
      }),
      { numRuns: 300 },
    );
  });

  test.each(builtinOperators.filter(({ options }) => options))(
    "for $name with all options set",
    ({ name, options }) => {
      if (options === undefined) throw new TypeError("filtered above");
      const values = Object.fromEntries(
        Object.entries(optionsLayout(options)).map(([option, { absent }]) => [option, otherValue(option, absent)]),
      );
      const given = withOperator({ name, options: values });
      expect(readTflite(writeTflite(given))).toEqual(given);
    },
  );

  test("for enum members, by name", () => {
    const options = {
      padding: "VALID",
      strideW: 2,
      strideH: 3,
      filterWidth: 4,
      filterHeight: 5,
      fusedActivationFunction: "TANH",
    };
    const given = withOperator({ name: "MAX_POOL_2D", options });
    expect(readTflite(writeTflite(given))).toEqual(given);
  });

  test("for seeds beyond exact numbers", () => {
    const options = { seed: "-9223372036854775808", seed2: "9223372036854775807" };
    const given = withOperator({ name: "RANDOM_UNIFORM", options });
    expect(readTflite(writeTflite(given))).toEqual(given);
  });

  test("options that are left out read as their defaults once one is given", () => {
    const written = writeTflite(withOperator({ name: "CONV_2D", options: { strideW: 2 } }));
    expect(firstOperator(readTflite(written)).options).toEqual({
      ...{ padding: "SAME", strideW: 2, strideH: 0, fusedActivationFunction: "NONE" },
      ...{ dilationWFactor: 1, dilationHFactor: 1, quantizedBiasType: "FLOAT32" },
    });
  });
});

describe("a written file", () => {
  test("has the identifier of its format", () => {
    expect(new TextDecoder().decode(writeTflite(plain).subarray(4, 8))).toBe("TFL3");
  });

  test("holds constants at multiples of 16 bytes, as views", () => {
    const big = oneOperator(
      "CONCATENATION",
      {
        a: { type: "UINT8", shape: [3], data: [1, 2, 3] },
        b: { type: "UINT8", shape: [5], data: [4, 5, 6, 7, 8] },
        x: { type: "UINT8", shape: [1] },
      },
      { y: { type: "UINT8", shape: [9] } },
    );
    const bytes = writeTflite(big);
    const constants = firstSubgraph(readTflite(bytes)).tensors.flatMap(({ data }) => (data ? [data] : []));
    expect(constants.map(({ length }) => length)).toEqual([3, 5]);
    for (const data of constants) {
      expect(data.buffer).toBe(bytes.buffer);
      expect((data.byteOffset - bytes.byteOffset) % 16).toBe(0);
    }
  });

  test("holds the same constant once", () => {
    const data = new Uint8Array(10_000).fill(7);
    const tensor = elementAt(firstSubgraph(plain).tensors, 0);
    const tensors = Array.from({ length: 5 }, (_, i) => ({ ...tensor, name: `t${i}`, data }));
    const bytes = writeTflite(changeModel(plain, () => ({ tensors })));
    expect(bytes.length).toBeLessThan(12_000);
    expect(firstSubgraph(readTflite(bytes)).tensors.map((one) => one.data?.length)).toEqual(new Array(5).fill(10_000));
  });

  test("may lie in shared memory", () => {
    const bytes = writeTflite(plain);
    const shared = new Uint8Array(new SharedArrayBuffer(bytes.length));
    shared.set(bytes);
    const { tensors } = firstSubgraph(readTflite(shared));
    expect(tensors.map(({ name }) => name)).toEqual(["x", "w", "y"]);
    expect(tensors[1]?.data?.buffer).toBe(shared.buffer);
  });

  test("may start anywhere in its memory", () => {
    const bytes = writeTflite(plain);
    const around = new Uint8Array(bytes.length + 7);
    around.set(bytes, 3);
    expect(readTflite(around.subarray(3, 3 + bytes.length))).toEqual(plain);
  });
});

describe("models that cannot be written", () => {
  test.each([
    [withOperator({ name: "NOTHING" }), 'subgraphs[0].operators[0].name: "NOTHING" is not a builtin operator'],
    [
      withOperator({ options: { stride: 1 } }),
      "subgraphs[0].operators[0].options: ADD has no option stride, only fusedActivationFunction,potScaleInt16",
    ],
    [withOperator({ name: "TANH", options: { a: 1 } }), "TANH has no options, but a are given"],
    [
      withOperator({ options: { fusedActivationFunction: "SELU" } }),
      "options.fusedActivationFunction: SELU is none of NONE, RELU",
    ],
    [withOperator({ options: { potScaleInt16: 1 } }), "options.potScaleInt16: 1 is not a boolean"],
    [withOperator({ name: "SOFTMAX", options: { beta: "1" } }), "options.beta: 1 is not a number"],
    [
      withOperator({ name: "SPLIT", options: { numSplits: 1.5 } }),
      "options.numSplits: 1.5 is not an integer from -2147483648 to 2147483647",
    ],
    [withOperator({ name: "SQUEEZE", options: { squeezeDims: 1 } }), "options.squeezeDims: 1 is not a list"],
    [
      withOperator({ name: "SQUEEZE", options: { squeezeDims: [2 ** 31] } }),
      "options.squeezeDims: 2147483648 is not an integer",
    ],
    [
      withOperator({ name: "BUCKETIZE", options: { boundaries: ["1"] as never } }),
      "options.boundaries: 1 is not a number",
    ],
    [withOperator({ name: "VAR_HANDLE", options: { container: 1 } }), "options.container: 1 is not a string"],
    [withOperator({ name: "RANDOM_UNIFORM", options: { seed: "9223372036854775808" } }), "is not a 64-bit integer"],
    [withOperator({ name: "RANDOM_UNIFORM", options: { seed: 1.5 } }), "1.5 is not a 64-bit integer"],
    [
      withOperator({ mutatingVariableInputs: [1] as never }),
      "mutatingVariableInputs[0]: expected a boolean, got the number 1",
    ],
    [withOperator({ inputs: [2 ** 31] }), "operators[0].inputs: 2147483648 is not an integer"],
    [withOperator({ version: Number.NaN }), "operatorCodes[0].version: NaN is not an integer"],
    [withTensor({ type: "INT5" as never }), "tensors[0].type: INT5 is not a tensor type"],
    [withTensor({ data: [1] as never }), "tensors[0].data: expected a Uint8Array, got an array"],
    [
      withTensor({ sparsity: { traversalOrder: [0], blockMap: [], dimensions: [{}] as never } }),
      "sparsity.dimensions[0].segments: expected a list, got undefined",
    ],
    [
      withTensor({ sparsity: { traversalOrder: [0], blockMap: [], dimensions: [{ segments: [-1], indexes: [] }] } }),
      "sparsity.dimensions[0].segments.values: -1 is not an integer from 0 to 255",
    ],
    [
      withTensor({ quantization: { scale: [1], zeroPoint: [2 ** 53], quantizedDimension: 0 } }),
      "zeroPoint: 9007199254740992 is not an integer",
    ],
  ])("is refused with its place (%#)", (given, message) => {
    const write = () => writeTflite(given);
    expect(write).toThrow(TfliteError);
    expect(write).toThrow(message);
  });

  test("more constants than a file can hold", () => {
    // Views of one small memory: nothing is allocated.
    const memory = new Uint8Array(2 ** 20);
    const tensor = elementAt(firstSubgraph(plain).tensors, 0);
    const tensors = Array.from({ length: 1025 }, (_, i) => ({ ...tensor, data: memory.subarray(0, 2 ** 20 - i) }));
    expect(() => writeTflite(changeModel(plain, () => ({ tensors })))).toThrow("are more than a file can hold");
  });
});

describe("the schema's tables", () => {
  test("list 210 operators and 126 tables of options in the first union", () => {
    expect(builtinOperators).toHaveLength(210);
    expect(optionsTableNames()).toHaveLength(126);
    expect(new Set(builtinOperators.map(({ name }) => name)).size).toBe(210);
  });

  test.each([
    ["ADD", 0],
    ["CUSTOM", 32],
    ["DELEGATE", 51],
    ["HARD_SWISH", 117],
    ["PLACEHOLDER_FOR_GREATER_OP_CODES", 127],
    ["CUMSUM", 128],
    ["REDUCE_ALL", 140],
    ["RIGHT_SHIFT", 161],
    ["STABLEHLO_LOGISTIC", 162],
    ["DILATE", 203],
    ["STABLEHLO_CASE", 209],
  ])("%s has code %d", (name, code) => {
    expect(builtinOperators[code]).toMatchObject({ name, code });
  });

  test.each([
    ["Conv2DOptions", 1],
    ["SubOptions", 28],
    ["CosOptions", 84],
    ["HardSwishOptions", 91],
    ["RightShiftOptions", 126],
  ])("%s has code %d in the union", (name, code) => {
    expect(optionsTableNames()[code - 1]).toBe(name);
  });
});

test("a model without anything to say is as small as it can be", () => {
  const empty = modelOf({ tensors: {}, operators: [], inputs: [], outputs: [] });
  expect(readTflite(writeTflite(empty))).toEqual(empty);
});

test("the options of each operator have a layout", () => {
  const tables = builtinOperators.flatMap(({ options }) => options ?? []);
  expect(tables.length).toBeGreaterThan(140);
  for (const table of tables) expect(optionsLayout(table), table).toBeDefined();
  const tableOf = (wanted: string) => builtinOperators.find(({ name }) => name === wanted)?.options;
  expect(tableOf("DEPTHWISE_CONV_2D")).toBe("DepthwiseConv2DOptions");
  expect(tableOf("TOPK_V2")).toBe("TopKV2Options");
});
