/** Constants are packed and copied in parts, between which work can be ended. */
import { describe, expect, it, vi } from "vitest";
import { bytesAtOnce, copyInParts, writeConstants } from "./constants.ts";
import { packedLength, packInto } from "./plan/packing.ts";

const matrix = (depth: number, columns: number) => ({
  depth,
  columns,
  data: Int8Array.from({ length: depth * columns }, (_, place) => (place * 37) % 101),
  depthStep: 1,
  columnStep: depth,
  zeroPoint: 3,
});

describe("constants", () => {
  it.each([1, 3, 7, 64])("are packed in ranges of %i as at once", (size) => {
    for (const [depth, columns] of [
      [5, 11],
      [8, 3],
      [1, 9],
      [13, 1],
    ] as const) {
      for (const isPaired of [true, false]) {
        const own = matrix(depth, columns);
        const create = () => {
          const length = packedLength(own, 8, isPaired);
          return isPaired ? new Int16Array(length) : new Float32Array(length);
        };
        const [whole, ranges] = [create(), create()];
        packInto(whole, own, 8, isPaired);
        for (let first = 0; first < depth * columns; first += size)
          packInto(ranges, own, 8, isPaired, first, Math.min(depth * columns, first + size));
        expect(ranges).toEqual(whole);
      }
    }
  });

  it("are made with a pause after some work, however many or large they are", async () => {
    const most = 2 ** 18;
    const calls: [number, number][] = [];
    const late = (count: number) => ({
      byteLength: 4,
      count,
      fill: (_: Uint8Array, first: number, end: number) => void calls.push([first, end]),
    });
    const pause = vi.fn(async () => {});
    const regions = [late(2.5 * most), late(1), late(most), late(10)].map((data) => ({ address: 0, bytes: 4, data }));
    await writeConstants(new Uint8Array(4), regions, pause);
    expect(calls).toEqual([
      [0, most],
      [most, 2 * most],
      [2 * most, 2.5 * most],
      [0, 1],
      [0, most],
      [0, 10],
    ]);
    expect(pause).toHaveBeenCalledTimes(3);
  });

  it("are not made to the end if a pause rejects", async () => {
    const fill = vi.fn();
    const regions = [{ address: 0, bytes: 4, data: { byteLength: 4, count: 2 ** 20, fill } }];
    const late = new Error("late");
    await expect(writeConstants(new Uint8Array(4), regions, () => Promise.reject(late))).rejects.toBe(late);
    expect(fill).toHaveBeenCalledTimes(1);
  });

  it("are copied in parts", async () => {
    const source = new Uint8Array(2 * bytesAtOnce + 5).fill(7);
    const target = new Uint8Array(source.length + 3);
    const pause = vi.fn(async () => {});
    await copyInParts(target, 3, source, pause);
    expect(pause).toHaveBeenCalledTimes(2);
    expect(Buffer.compare(target.subarray(3), source)).toBe(0);
    expect([...target.subarray(0, 4)]).toEqual([0, 0, 0, 7]);
  });
});
