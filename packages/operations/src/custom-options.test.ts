import fc from "fast-check";
import { expect, test } from "vitest";
import { readStruct } from "./custom-options.ts";

const fields = {
  kind: "uint8",
  size: "int32",
  isRound: "bool",
  least: "int16",
  factor: "float32",
  exact: "float64",
} as const;

test("fields of a struct lie at multiples of their sizes", () => {
  // kind 0, size 4, isRound 8, least 10, factor 12, exact 16.
  const given = new Uint8Array(3 + 24);
  const view = new DataView(given.buffer, 3);
  view.setUint8(0, 200);
  view.setInt32(4, -7, true);
  view.setUint8(8, 2);
  view.setInt16(10, -300, true);
  view.setFloat32(12, 0.5, true);
  view.setFloat64(16, 0.1, true);
  const expected = { kind: 200, size: -7, isRound: true, least: -300, factor: 0.5, exact: 0.1 };
  expect(readStruct(given.subarray(3), fields)).toEqual(expected);
  expect(readStruct(Uint8Array.of(254, 0, 255, 255), { a: "int8", b: "uint16" })).toEqual({ a: -2, b: 65_535 });
  expect(readStruct(Uint8Array.of(0, 0, 0, 128), { a: "uint32" })).toEqual({ a: 2 ** 31 });
});

test("a struct needs all of its bytes, and may have more", () => {
  const message = "the struct of kind, size, isRound, least, factor, exact has 24 bytes, here are 23";
  expect(() => readStruct(new Uint8Array(23), fields)).toThrow(message);
  expect(readStruct(new Uint8Array(25), fields)).toMatchObject({ kind: 0, isRound: false, exact: 0 });
  expect(readStruct(new Uint8Array(0), {})).toEqual({});
});

test("any integers of a struct are read as they were written", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), { minLength: 1, maxLength: 5 }),
      (values) => {
        const names = values.map((_, index) => [`f${index}`, "int32"] as const);
        const read = readStruct(new Uint8Array(Int32Array.from(values).buffer), Object.fromEntries(names));
        expect(Object.values(read)).toEqual(values);
      },
    ),
  );
});
