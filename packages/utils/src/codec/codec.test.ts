import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { UnreadableBytes, Unwritable } from "./bytes.ts";
import {
  bytes,
  type Codec,
  decode,
  empty,
  encode,
  flag,
  float64,
  int32,
  list,
  mapCodec,
  nullable,
  optional,
  struct,
  text,
  uint8,
  uint32,
  uint64,
  union,
} from "./codec.ts";

type Shape = { readonly kind: "point" } | { readonly kind: "circle"; readonly radius: number };

interface Whole {
  readonly small: number;
  readonly count: number;
  readonly sign: number;
  readonly big: bigint;
  readonly real: number;
  readonly raw: Uint8Array;
  readonly name: string;
  readonly yes: boolean;
  readonly shapes: readonly Shape[];
  readonly perhaps: number | undefined;
  readonly nothing: string | null;
}

const whole: Codec<Whole> = struct<Whole>({
  small: uint8,
  count: uint32,
  sign: int32,
  big: uint64,
  real: float64,
  raw: bytes,
  name: text,
  yes: flag,
  shapes: list(union<Shape>({ point: empty, circle: struct({ radius: float64 }) })),
  perhaps: optional(uint32),
  nothing: nullable(text),
});

const values: fc.Arbitrary<Whole> = fc.record({
  small: fc.integer({ min: 0, max: 255 }),
  count: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  sign: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
  big: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  real: fc.double(),
  raw: fc.uint8Array({ maxLength: 5 }),
  name: fc.string({ unit: "grapheme", maxLength: 5 }),
  yes: fc.boolean(),
  shapes: fc.array(
    fc.oneof(
      fc.constant({ kind: "point" } as const),
      fc.record({ kind: fc.constant("circle" as const), radius: fc.double() }),
    ),
    { maxLength: 3 },
  ),
  perhaps: fc.option(fc.integer({ min: 0, max: 9 }), { nil: undefined }),
  nothing: fc.option(fc.string({ maxLength: 3 })),
});

const sample: Whole = {
  ...{ small: 1, count: 2, sign: -3, big: 4n, real: 5.5, raw: Uint8Array.of(6), name: "ä", yes: true },
  ...{ shapes: [{ kind: "point" }, { kind: "circle", radius: 7 }], perhaps: 8, nothing: "n" },
};

describe("a codec", () => {
  it("reads what it has written", () => {
    fc.assert(
      fc.property(values, (value) => {
        expect(decode(whole, encode(whole, value))).toEqual(value);
      }),
      { numRuns: 200 },
    );
  });

  it("refuses bytes that are cut short at any place, or too many", () => {
    const all = encode(whole, sample);
    for (let length = 0; length < all.length; length++) {
      expect(() => decode(whole, all.subarray(0, length)), `${length} bytes`).toThrow(UnreadableBytes);
    }
    expect(() => decode(whole, Uint8Array.of(...all, 0))).toThrow(`byte ${all.length}: 1 bytes are too many`);
  });

  it("reads or refuses any bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (any) => {
        try {
          decode(whole, any);
        } catch (error) {
          expect(error).toBeInstanceOf(UnreadableBytes);
        }
      }),
      { numRuns: 500 },
    );
  });

  it("claims no fewer bytes than it needs", () => {
    fc.assert(fc.property(values, (value) => encode(whole, value).length >= whole.least));
  });

  it.each<[string, number, number, string]>([
    ["a flag of 2", 36, 2, "byte 36: .yes: expected 0 or 1, got 2"],
    ["an unknown kind", 41, 2, "byte 41: .shapes[0]: the kind 2 is not known"],
    ["text that is not UTF-8", 34, 0x20, "byte 30: .name: it is not valid UTF-8"],
    ["a count beyond the end", 37, 255, "byte 37: .shapes: 255 items take more than the"],
  ])("names the field and the byte of %s", (_, at, value, message) => {
    const damaged = encode(whole, sample);
    damaged[at] = value;
    expect(() => decode(whole, damaged)).toThrow(message);
  });

  it("checks a count before it reads the items", () => {
    let reads = 0;
    const counted = mapCodec<number, number>(uint32, Number, (value) => {
      reads++;
      return value;
    });
    expect(() => decode(list(counted), Uint8Array.of(255, 255, 255, 255, 1, 0, 0, 0))).toThrow(UnreadableBytes);
    expect(reads).toBe(0);
  });

  it.each<[string, Record<string, unknown>, string]>([
    ["a number that does not fit", { small: 256 }, ".small: 256 does not fit its field"],
    ["a negative number", { count: -1 }, ".count: -1 does not fit its field"],
    ["a fraction", { sign: 0.5 }, ".sign: 0.5 does not fit its field"],
    ["a number for a bigint", { big: 4 }, ".big: number instead of a bigint"],
    ["a bigint of 65 bits", { big: 2n ** 64n }, ".big: 18446744073709551616 does not fit its field"],
    ["a text for a number", { real: "5" }, ".real: string instead of a number"],
    ["an array for bytes", { raw: [1] }, ".raw: object instead of a Uint8Array"],
    ["a number for a text", { name: 1 }, ".name: number instead of a text"],
    ["a number for a flag", { yes: 1 }, ".yes: number instead of a boolean"],
    ["a hole in a list", { shapes: [undefined, { kind: "point" }] }, ".shapes[0]: the kind undefined is not known"],
    ["an unknown kind", { shapes: [{ kind: "cube" }] }, ".shapes[0]: the kind cube is not known"],
    ["no list", { shapes: undefined }, ".shapes: undefined instead of an array"],
  ])("does not write %s", (_, change, message) => {
    const wrong: Whole = Object.assign({ ...sample }, change);
    expect(() => encode(whole, wrong)).toThrow(Unwritable);
    expect(() => encode(whole, wrong)).toThrow(message);
  });
});
