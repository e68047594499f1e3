/** The reader of FlexBuffers, against the library's writer and bytes by hand. */

import { flexible } from "@nnhal/test-kit/flexbuffer";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { flexbufferMap } from "./flexbuffer.ts";

/** A map with the option `v`: a value of 8 bits. `packed`: its type. */
const oneByte = (value: number, packed: number) => Uint8Array.of(118, 0, 1, 3, 1, 1, value, packed, 2, 36, 1);

/** A map with the option `v`: a list that lies before it. `packed`: the list's type. */
function withList(list: readonly number[], size: readonly number[], packed: number): Uint8Array {
  const head = [118, 0, ...size, ...list];
  // Keys: one, whose distance is that from its place to byte 0.
  const keys = [1, head.length + 1];
  const map = [1, 1, 1];
  const at = head.length + keys.length + map.length;
  const elements = at - (2 + size.length);
  return Uint8Array.of(...head, ...keys, ...map, elements, packed, 2, 36, 1);
}

describe("a FlexBuffer", () => {
  test("has values of all kinds inside each other", () => {
    const values = {
      nothing: null,
      yes: true,
      no: false,
      zero: 0,
      small: -3,
      wide: 70_000,
      least: -(2 ** 40),
      third: 1 / 3,
      text: "bilinear – zwölf",
      empty: "",
      list: [1, "two", [3, [4.5]], { five: 5 }],
      integers: [1, 2, 300],
      floats: [0.5, 0.25],
      window: { size: { height: 3, width: 4 }, names: ["a", "b"] },
      nested: { deeper: { deepest: [true, false] } },
    };
    expect(flexbufferMap(flexible(values))).toEqual(values);
    expect(flexbufferMap(flexible({ half: 0.5, none: 0, less: -2.5 }))).toEqual({ half: 0.5, none: 0, less: -2.5 });
    const big = 2n ** 62n + 1n;
    expect(flexbufferMap(flexible({ big, safe: 12n }))).toEqual({ big, safe: 12 });
    expect(flexbufferMap(withList([1, 0, 255], [3], 25 << 2))).toEqual({ v: Uint8Array.of(1, 0, 255) });
  });

  test("is read from a view of a larger buffer", () => {
    const given = flexible({ a: [1, 2], b: "x" });
    const pooled = new Uint8Array(given.length + 16);
    pooled.set(given, 5);
    expect(flexbufferMap(pooled.subarray(5, 5 + given.length))).toEqual({ a: [1, 2], b: "x" });
  });

  test("has vectors with a type, of any length, and of 2 to 4 elements without a size", () => {
    const [int8, uint8, bool] = [11 << 2, 12 << 2, 36 << 2];
    const long = Array.from({ length: 200 }, (_, index) => index % 100);
    expect(flexbufferMap(withList(long, [200], uint8))).toEqual({ v: long });
    expect(flexbufferMap(withList([255, 2], [2], int8))).toEqual({ v: [-1, 2] });
    expect(flexbufferMap(withList([1, 0, 1], [3], bool))).toEqual({ v: [true, false, true] });
    expect(flexbufferMap(withList([254, 5], [], 16 << 2))).toEqual({ v: [-2, 5] });
    expect(flexbufferMap(withList([1, 2, 3], [], 20 << 2))).toEqual({ v: [1, 2, 3] });
    const floats = [...new Uint8Array(Float32Array.of(0.5, -1, 2, 4).buffer)];
    expect(flexbufferMap(withList(floats, [], (24 << 2) | 2))).toEqual({ v: [0.5, -1, 2, 4] });
    expect(flexbufferMap(withList([], [0], uint8))).toEqual({ v: [] });
  });

  test("has a name that objects have too as any other", () => {
    expect(Object.keys(flexbufferMap(flexible({ toString: 1, constructor: 2 })))).toEqual(["constructor", "toString"]);
    const own = flexbufferMap(flexible(JSON.parse('{ "__proto__": { "a": 1 } }')));
    expect(Object.getPrototypeOf(own)).toBe(Object.prototype);
    expect(Object.entries(own)).toEqual([["__proto__", { a: 1 }]]);
  });

  test.each([
    [Uint8Array.of(1, 4), "at least 3 bytes, here are 2"],
    [Uint8Array.of(1, 4, 1), "the root of the FlexBuffer: expected a map (type 9), got type 1"],
    [Uint8Array.of(1, 36, 3), "the root of a FlexBuffer has 1, 2, 4 or 8 bytes, not 3"],
    [new Uint8Array(2 ** 20 + 1).fill(36), "1048577 bytes of options are more than 1048576"],
    [Uint8Array.of(9, 36, 1), "there is a value at byte -"],
    [oneByte(7, 27 << 2), "FlexBuffers have no type 27"],
    [oneByte(7, 3 << 2), "floats have 4 or 8 bytes, not 1"],
    // The map itself.
    [oneByte(0, 36), "more than 32 lists and maps are inside each other"],
    // A list with more elements than bytes.
    [withList([], [200], 11 << 2), "a value of 200 elements is longer than the 13 bytes"],
  ])("is refused if it is not one: case %#", (bytes, message) => {
    expect(() => flexbufferMap(bytes)).toThrow(message);
  });

  test("is read up to a size, a depth and a number of values", () => {
    const deep = (depth: number): object => (depth === 0 ? { end: 1 } : { a: deep(depth - 1) });
    expect(() => flexbufferMap(flexible(deep(31)))).not.toThrow();
    expect(() => flexbufferMap(flexible(deep(32)))).toThrow("more than 32 lists and maps");
    // Each list has the one before it 20 times: 20 ** 8 values in 350 bytes.
    const bytes = [118, 0, 1, 0];
    let last = 3;
    let packed = 0;
    for (let level = 0; level < 8; level++) {
      const width = 2;
      if (bytes.length % 2 === 1) bytes.push(0);
      bytes.push(20, 0);
      const start = bytes.length;
      for (let index = 0; index < 20; index++) {
        const distance = start + index * width - last;
        bytes.push(distance & 255, distance >> 8);
      }
      for (let index = 0; index < 20; index++) bytes.push(packed);
      last = start;
      packed = (10 << 2) | 1;
    }
    const at = bytes.length + 8;
    bytes.push(1, 0, bytes.length + 2 - 0, 0, 2, 0, 2, 0);
    bytes[at - 8 + 2] = (at - 8 + 2) & 255;
    bytes[at - 8 + 3] = (at - 8 + 2) >> 8;
    bytes.push(1, 0);
    const element = bytes.length;
    bytes.push((element - last) & 255, (element - last) >> 8, packed, 0);
    const root = bytes.length;
    bytes.push((root - element) & 255, (root - element) >> 8, 37, 2);
    expect(() => flexbufferMap(Uint8Array.from(bytes))).toThrow("more values than bytes");
  });

  test("of any values is read as it was written", () => {
    const { json } = fc.letrec((tie) => ({
      json: fc.oneof({ maxDepth: 4 }, fc.boolean(), fc.integer(), double, name, tie("list"), tie("map")),
      list: fc.array(tie("json"), { maxLength: 5 }),
      map: fc.dictionary(name, tie("json"), { maxKeys: 5 }),
    }));
    fc.assert(
      fc.property(fc.dictionary(name, json, { maxKeys: 6 }), (values) => {
        // As JSON, which has no -0 and plain objects.
        const plain = JSON.parse(JSON.stringify(values));
        expect(flexbufferMap(flexible(plain))).toEqual(plain);
      }),
      { numRuns: 300 },
    );
  });

  test("with any bytes is read or refused, and soon", () => {
    const seed = flexible({ a: [1, 2, 3], b: { c: "text", d: [0.5, [true]] }, e: 2 ** 33 });
    const change = fc.tuple(fc.nat(seed.length - 1), fc.nat(255));
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), (changes) => {
        const bytes = seed.slice();
        for (const [at, value] of changes) bytes[at] = value;
        try {
          flexbufferMap(bytes);
        } catch (error) {
          expect(error).toHaveProperty("name", "OperationError");
        }
      }),
      { numRuns: 2000 },
    );
  });
});

/** The builder writes a float32 beside wider values as 4 bytes of 8, so these are of 64 bits. */
const double = fc
  .double({ noNaN: true, min: -1e300, max: 1e300 })
  .filter((value) => Math.fround(value) !== value && !Number.isInteger(value));
const name = fc.string({ maxLength: 6 }).filter((text) => !text.includes("\0"));
