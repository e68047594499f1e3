import { describe, expect, it } from "vitest";
import { decodeStringBytes, decodeStrings, encodeStrings } from "../tflite-strings.ts";
import { tfliteTypes } from "../tflite-types.ts";
import { bool, type GivenInput, int32, runOperation } from "./_run.tflite.test-helper.ts";

const { TENSOR_STRING, TENSOR_INT64 } = tfliteTypes;

/** Strings as an input. */
function strings(list: readonly (string | Uint8Array)[], shape?: readonly number[], width?: number): GivenInput {
  const { bytes, dimensions } = encodeStrings(list, shape, width);
  return { type: TENSOR_STRING, dimensions, data: bytes };
}

const places = (data: readonly number[], dimensions = [data.length]): GivenInput => ({
  type: "TENSOR_INT32",
  dimensions,
  data: Int32Array.from(data),
});
const longs = (data: readonly (number | bigint)[], dimensions = [data.length]): GivenInput => ({
  type: TENSOR_INT64,
  dimensions,
  data: BigInt64Array.from(data, BigInt),
});
const flag = (value: boolean): GivenInput => ({
  type: "TENSOR_BOOL8",
  dimensions: [1],
  data: Uint8Array.of(value ? 1 : 0),
});

async function run(name: string, inputs: readonly GivenInput[], ...types: readonly GivenInput["type"][]) {
  const results = await runOperation(
    name,
    inputs,
    types.map((type) => ({ type, ...(type === "TENSOR_QUANT8_ASYMM" && { scale: 1 }) })),
  );
  return results.map(({ data, dimensions }, index) =>
    types[index] === TENSOR_STRING
      ? { shape: dimensions.slice(0, -1), strings: decodeStrings({ bytes: data as Uint8Array, dimensions }) }
      : { shape: dimensions, numbers: Array.from(data as Int32Array, Number) },
  );
}

/** Strings whose second row has a length beyond its bytes. */
function breakIt(): GivenInput {
  const input = strings(["ab", "cd"]);
  (input.data as Uint8Array)[6] = 3;
  return input;
}

describe("encodeStrings and decodeStrings", () => {
  it("keep strings of any length and script, in their shape", () => {
    const list = ["", "a", "\u00e4\u{1f600}\u4e2d", "x".repeat(300), "\ufeffmark", "null\0byte"];
    const tensor = encodeStrings(list, [3, 2]);
    expect(tensor.dimensions).toEqual([3, 2, 304]);
    expect(decodeStrings(tensor)).toEqual(list);
  });

  it("write the length, then the bytes", () => {
    expect(encodeStrings(["hi", ""])).toEqual({
      bytes: Uint8Array.of(2, 0, 0, 0, 104, 105, 0, 0, 0, 0, 0, 0),
      dimensions: [2, 6],
    });
    expect(encodeStrings(["hi"], [1], 8).bytes).toEqual(Uint8Array.of(2, 0, 0, 0, 104, 105, 0, 0));
  });

  it("keep bytes that are not UTF-8", () => {
    const bytes = Uint8Array.of(0xff, 0x00, 0x80);
    const tensor = encodeStrings([bytes]);
    expect(decodeStringBytes(tensor)).toEqual([bytes]);
    expect(decodeStrings(tensor)).toEqual(["\ufffd\0\ufffd"]);
  });

  it.each([
    [() => encodeStrings(["a"], [2]), "there are 1 strings where the shape 2 has 2"],
    [() => encodeStrings(["abc"], [1], 6), "a row has 6 bytes where the longest string needs 7"],
    [
      () => decodeStrings({ bytes: new Uint8Array(3), dimensions: [1, 3] }),
      "a row has 3 bytes where the length of a string takes 4",
    ],
    [() => decodeStrings({ bytes: new Uint8Array(7), dimensions: [2, 4] }), "there are 7 bytes where 2x4 takes 8"],
    [
      () => decodeStrings({ bytes: Uint8Array.of(2, 0, 0, 0, 65), dimensions: [1, 5] }),
      "string 0 has a length of 2 bytes where its row has 1",
    ],
  ])("refuse what does not fit (%#)", (work, message) => {
    expect(work).toThrow(message);
  });
});

describe("STRING_INDEXES", () => {
  it("are the places of the strings in their shape", async () => {
    expect(await run("STRING_INDEXES", [strings(["a", "b", "c", "d"], [2, 2])], "TENSOR_INT32")).toEqual([
      { shape: [2, 2], numbers: [0, 1, 2, 3] },
    ]);
  });
});

describe("STRING_GATHER", () => {
  it("chooses strings, in the shape of the places", async () => {
    const inputs = [strings(["a", "bcd", ""], [3, 1]), places([2, 1, 1, 0], [2, 2])];
    expect(await run("STRING_GATHER", inputs, TENSOR_STRING)).toEqual([
      { shape: [2, 2], strings: ["", "bcd", "bcd", "a"] },
    ]);
  });

  it.each([-1, 3])("refuses place %d of 3", async (place) => {
    const inputs = [strings(["a", "b", "c"]), places([0, place])];
    await expect(run("STRING_GATHER", inputs, TENSOR_STRING)).rejects.toThrow(`index ${place} at 1 is outside [0, 3)`);
  });

  it("refuses a string that is longer than its row", async () => {
    await expect(run("STRING_GATHER", [breakIt(), places([1])], TENSOR_STRING)).rejects.toThrow(
      "string 1 has a length of 3 bytes where its row has 2",
    );
  });
});

describe("STRING_EQUAL", () => {
  it("compares bytes, whatever the rows", async () => {
    const inputs = [strings(["a", "ab", "", "\u00e4"]), strings(["a", "a", "", "a"], [4], 20)];
    expect(await run("STRING_EQUAL", inputs, "TENSOR_BOOL8")).toEqual([{ shape: [4], numbers: [1, 0, 1, 0] }]);
  });

  it("broadcasts", async () => {
    const inputs = [strings(["a", "b"], [2, 1]), strings(["a", "b", "c"])];
    expect(await run("STRING_EQUAL", inputs, "TENSOR_BOOL8")).toEqual([{ shape: [2, 3], numbers: [1, 0, 0, 0, 1, 0] }]);
  });

  it("refuses shapes that do not broadcast", async () => {
    await expect(run("STRING_EQUAL", [strings(["a", "b"]), strings(["a", "b", "c"])], "TENSOR_BOOL8")).rejects.toThrow(
      "broadcast",
    );
  });
});

describe("CAST", () => {
  it("copies strings", async () => {
    expect(await run("CAST", [strings(["a", "bc"])], TENSOR_STRING)).toEqual([{ shape: [2], strings: ["a", "bc"] }]);
  });
});

describe("HASHTABLE_LOOKUP", () => {
  it("finds strings; what it does not find is empty", async () => {
    const inputs = [places([7, 5]), places([3, 7]), strings(["three", "seven"])];
    expect(await run("HASHTABLE_LOOKUP", inputs, TENSOR_STRING, "TENSOR_QUANT8_ASYMM")).toEqual([
      { shape: [2], strings: ["seven", ""] },
      { shape: [2], numbers: [1, 0] },
    ]);
  });
});

describe("SKIP_GRAM", () => {
  const grams = async (sentence: string, size: number, skip: number, isAll: boolean) => {
    const [result] = await run(
      "SKIP_GRAM",
      [strings([sentence]), int32(size), int32(skip), bool(isAll)],
      TENSOR_STRING,
    );
    return result?.strings;
  };

  it.each([
    ["a b c d", 2, 0, false, ["a b", "b c", "c d"]],
    ["a b c d", 2, 1, false, ["a b", "a c", "b c", "b d", "c d"]],
    ["a b c d", 3, 1, false, ["a b c", "a b d", "a c d", "b c d"]],
    ["a b c", 2, 1, true, ["a b", "a c", "a", "b c", "b", "c"]],
    ["a b c", 1, 0, false, ["a", "b", "c"]],
    ["  a \t b\n", 2, 0, false, ["a b"]],
    ["a b", 3, 9, true, []],
    [" ab c", 1, 0, false, ["c"]],
    [" ab", 1, 0, false, [" ab"]],
    ["", 1, 0, false, []],
  ])("of %j: %d words, %d skipped, smaller ones %j", async (sentence, size, skip, isAll, expected) => {
    expect(await grams(sentence, size, skip, isAll)).toEqual(expected);
  });

  it("refuses groups of no words", async () => {
    await expect(grams("a", 0, 0, false)).rejects.toThrow("ngramSize: expected at least 1, got 0");
  });

  it("refuses no sentence", async () => {
    const none = [strings([]), int32(1), int32(0), bool(false)];
    await expect(run("SKIP_GRAM", none, TENSOR_STRING)).rejects.toThrow("the input has no strings where the first one");
  });

  it("bounds what groups take", async () => {
    // 36 pairs of 9 words of 1 MiB.
    const sentence = Array.from({ length: 9 }, () => "w".repeat(1 << 20)).join(" ");
    await expect(grams(sentence, 2, 8, false)).rejects.toThrow("the groups of words take more than 67108864 bytes");
  });
});

describe("hash tables", () => {
  const keys = strings(["one", "two", "one"]);
  const values = longs([1, 2, 2n ** 40n]);

  it("find the values of strings; of equal keys the first counts", async () => {
    const inputs = [flag(true), keys, values, strings(["two", "none", "one", "twos"], [2, 2]), longs([-7])];
    expect(await run("HASHTABLE_FIND", inputs, TENSOR_INT64)).toEqual([{ shape: [2, 2], numbers: [2, -7, 1, -7] }]);
  });

  it("find the strings of 64-bit integers", async () => {
    const inputs = [
      flag(true),
      longs([2n ** 60n, 2n ** 60n + 1n]),
      strings(["a", "long"]),
      longs([2n ** 60n + 1n, 5]),
      strings(["?"]),
    ];
    expect(await run("HASHTABLE_FIND", inputs, TENSOR_STRING)).toEqual([{ shape: [2], strings: ["long", "?"] }]);
  });

  it("are not read before they are filled", async () => {
    const inputs = [flag(false), keys, values, strings(["two"]), longs([0])];
    await expect(run("HASHTABLE_FIND", inputs, TENSOR_INT64)).rejects.toThrow(
      "the hash table is read before HASHTABLE_IMPORT fills it",
    );
  });

  it.each([
    [
      [flag(true), keys, longs([1, 2]), strings(["two"]), longs([0])],
      "expected as many values as keys, got 2 values and 3 keys",
    ],
    [[flag(true), keys, values, strings(["two"]), longs([0, 1])], "expected 1 default value, got 2"],
    [[flag(true), breakIt(), longs([1, 2]), strings(["xyz"]), longs([0])], "string 1 has a length of 3 bytes"],
  ] as const)("that do not fit are refused (%#)", async (inputs, message) => {
    await expect(run("HASHTABLE_FIND", inputs, TENSOR_INT64)).rejects.toThrow(message);
  });

  it("have the size of their different keys", async () => {
    expect(await run("HASHTABLE_SIZE", [flag(true), keys], TENSOR_INT64)).toEqual([{ shape: [1], numbers: [2] }]);
    expect(await run("HASHTABLE_SIZE", [flag(false), keys], TENSOR_INT64)).toEqual([{ shape: [1], numbers: [0] }]);
  });

  it("are filled once", async () => {
    const fill = (isFilled: boolean) =>
      run(
        "HASHTABLE_IMPORT",
        [flag(isFilled), keys, values, strings(["three"]), longs([3])],
        TENSOR_STRING,
        TENSOR_INT64,
      );
    expect(await fill(false)).toEqual([
      { shape: [1], strings: ["three"] },
      { shape: [1], numbers: [3] },
    ]);
    expect(await fill(true)).toEqual([
      { shape: [3], strings: ["one", "two", "one"] },
      { shape: [3], numbers: [1, 2, 2 ** 40] },
    ]);
  });
});
