import { describe, expect, it } from "vitest";
import { watchData } from "./watched.ts";

const watchFive = () => watchData(Float32Array.of(1, 2, 3, 4, 5));

describe("what a watch notices", () => {
  it.each([
    ["reading after the end", (data: Float32Array) => data[5], "element 5 was read"],
    ["reading before the start", (data: Float32Array) => data[-1], "element -1 was read"],
    ["reading between elements", (data: Float32Array) => data[1.5], "element 1.5 was read"],
    ["reading nowhere", (data: Float32Array) => data[Number.NaN], "element NaN was read"],
    ["reading after the end of a part", (data: Float32Array) => data.subarray(1, 3)[2], "element 2 was read"],
  ])("%s", (_, access, outside) => {
    const { data, watch } = watchFive();
    expect(access(data)).toBeUndefined();
    expect(watch.outside).toBe(outside);
  });

  it.each([
    ["after the end", 5],
    ["before the start", -1],
    ["between elements", 0.5],
  ])("writing %s", (_, index) => {
    const { data, watch } = watchFive();
    data[index] = 9;
    expect(watch.outside).toBe(`element ${index} was written`);
    expect([...watch.written]).toEqual([0, 0, 0, 0, 0]);
  });

  it("the first access outside, not the last", () => {
    const { data, watch } = watchFive();
    data[8] = data[6] ?? 0;
    expect(watch.outside).toBe("element 6 was read");
  });
});

describe("what a watch marks as written", () => {
  it.each([
    ["one element", (data: Float32Array) => void Object.assign(data, { 2: 9 }), [0, 0, 1, 0, 0], [1, 2, 9, 4, 5]],
    ["set", (data: Float32Array) => data.set([8, 9], 3), [0, 0, 0, 1, 1], [1, 2, 3, 8, 9]],
    ["fill", (data: Float32Array) => data.fill(0, 1, -1), [0, 1, 1, 1, 0], [1, 0, 0, 0, 5]],
    ["fill of all", (data: Float32Array) => data.fill(0), [1, 1, 1, 1, 1], [0, 0, 0, 0, 0]],
    ["copyWithin", (data: Float32Array) => data.copyWithin(0, 3), [1, 1, 0, 0, 0], [4, 5, 3, 4, 5]],
    ["copyWithin to the end", (data: Float32Array) => data.copyWithin(3, 0), [0, 0, 0, 1, 1], [1, 2, 3, 1, 2]],
    ["sort", (data: Float32Array) => data.sort((a, b) => b - a), [1, 1, 1, 1, 1], [5, 4, 3, 2, 1]],
    ["a part", (data: Float32Array) => data.subarray(1).subarray(1, -1).fill(7), [0, 0, 1, 1, 0], [1, 2, 7, 7, 5]],
  ])("%s", (_, write, written, values) => {
    const original = Float32Array.of(1, 2, 3, 4, 5);
    const { data, watch } = watchData(original);
    write(data);
    expect([...watch.written]).toEqual(written);
    expect([...original]).toEqual(values);
    expect(watch.outside).toBeUndefined();
  });
});

it("is used like the array itself", () => {
  const { data, watch } = watchData(Int32Array.of(3, 1, 2));
  expect(data).toBeInstanceOf(Int32Array);
  expect(data.constructor).toBe(Int32Array);
  expect(data.length).toBe(3);
  expect([...data]).toEqual([3, 1, 2]);
  expect(Float64Array.from(data)).toEqual(Float64Array.of(3, 1, 2));
  expect(new Float32Array(data)).toEqual(Float32Array.of(3, 1, 2));
  expect(data.map((value) => 2 * value)).toEqual(Int32Array.of(6, 2, 4));
  expect(data.slice(1)).toEqual(Int32Array.of(1, 2));
  const copy = new Int32Array(3);
  copy.set(data);
  expect(copy).toEqual(Int32Array.of(3, 1, 2));
  expect(watch).toEqual({ outside: undefined, written: Uint8Array.of(0, 0, 0) });
});
