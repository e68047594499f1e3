import { ErrorStatus, type Hints } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { hintsTaker } from "./hints.ts";

/** Takes hints of some extensions. */
function makeTaker(extensions: readonly string[]) {
  const take = hintsTaker(extensions);
  if ("status" in take) throw new Error(take.message);
  return take;
}

const take = makeTaker(["com.example.wanted"]);
const names = [
  { name: "com.example.other", prefix: 1 },
  { name: "com.example.wanted", prefix: 2 },
];
const token = (prefix: number, code: number) => prefix * 2 ** 16 + code;
const hints = (change: Partial<Hints> = {}): Hints => ({
  pairs: [
    { token: token(1, 7), value: Uint8Array.of(1) },
    { token: token(2, 0xffff), value: Uint8Array.of(2, 3) },
  ],
  extensionNameToPrefix: names,
  ...change,
});

describe("hintsTaker", () => {
  it("takes the hints of the extensions that an engine reads, with copies of their values", () => {
    const value = Uint8Array.of(2, 3);
    const taken = take(hints({ pairs: [{ token: token(2, 0xffff), value }] }));
    value[0] = 9;
    expect(taken).toEqual([{ extension: "com.example.wanted", code: 0xffff, value: Uint8Array.of(2, 3) }]);
    expect(take(hints())).toHaveLength(1);
  });

  it("takes none of other extensions, and of no pairs", () => {
    expect(take(hints({ pairs: [{ token: token(1, 7), value: Uint8Array.of(1) }] }))).toBeUndefined();
    expect(take(hints({ pairs: [] }))).toBeUndefined();
  });

  const pair = { token: token(2, 1), value: new Uint8Array() };
  it.each<[string, unknown, RegExp]>([
    ["no object", 5, /the hints: expected an object, got 5/],
    ["no list of pairs", { ...hints(), pairs: 5 }, /the hints: expected an array, got 5/],
    ["a negative token", hints({ pairs: [{ ...pair, token: -1 }] }), /the hints\[0\]\.token: expected an integer/],
    ["a token of 2^31", hints({ pairs: [{ ...pair, token: 2 ** 31 }] }), /the hints\[0\]\.token: expected an integer/],
    ["a token twice", hints({ pairs: [pair, pair] }), /the hints\[1\]\.token: expected each token once/],
    ["a prefix without a name", hints({ pairs: [{ ...pair, token: token(3, 1) }] }), /expected a prefix of/],
    ["a value of no bytes", { ...hints(), pairs: [{ ...pair, value: "a" }] }, /the hints\[0\]\.value: expected bytes/],
    ["a prefix of 0", hints({ extensionNameToPrefix: [{ name: "com.example.a", prefix: 0 }] }), /prefix: expected/],
    ["a prefix of 2^15", hints({ extensionNameToPrefix: [{ name: "com.example.a", prefix: 2 ** 15 }] }), /prefix: exp/],
    ["a prefix twice", hints({ extensionNameToPrefix: [...names, { name: "a.b.c", prefix: 2 }] }), /each prefix once/],
    [
      "a name twice",
      hints({ extensionNameToPrefix: [...names, { name: names[0]?.name ?? "", prefix: 3 }] }),
      /each na/,
    ],
    [
      "a name without letters",
      hints({ extensionNameToPrefix: [{ name: "", prefix: 1 }] }),
      /expected the name of an ext/,
    ],
  ])("refuses %s", (_, given, message) => {
    expect(take(given)).toEqual({ status: ErrorStatus.INVALID_ARGUMENT, message: expect.stringMatching(message) });
  });

  it("refuses hints that throw when they are read", () => {
    const throwing = {
      get pairs(): never {
        throw new Error("no");
      },
    };
    expect(take(throwing)).toEqual({ status: ErrorStatus.INVALID_ARGUMENT, message: "no" });
  });
});
