import { allocateMemory } from "@nnhal/driver-core/memory";
import { expect, it } from "vitest";
import { type Place, poolOf, requestOf } from "./place.ts";

const nowhere = { poolIndex: 0, offset: 0, length: 0 };

it("makes a request of places: each memory and each buffer is one pool, and an argument without a place is omitted", () => {
  const pool = poolOf(allocateMemory(16));
  const other = poolOf(allocateMemory(4));
  const first: Place = { pool, offset: 0, length: 8, dimensions: [2] };
  const second: Place = { pool: { ...pool }, offset: 8, length: 8, dimensions: [] };
  const buffer: Place = { pool: { kind: "token", token: 5 }, offset: 0, length: 0, dimensions: [3] };
  const third: Place = { pool: other, offset: 0, length: 4, dimensions: [1] };
  const sameBuffer: Place = { ...buffer, pool: { kind: "token", token: 5 } };
  expect(requestOf([first, undefined, buffer, second], [undefined, third, sameBuffer])).toEqual({
    inputs: [
      { hasNoValue: false, location: { poolIndex: 0, offset: 0, length: 8 }, dimensions: [2] },
      { hasNoValue: true, location: nowhere, dimensions: [] },
      { hasNoValue: false, location: { poolIndex: 1, offset: 0, length: 0 }, dimensions: [3] },
      { hasNoValue: false, location: { poolIndex: 0, offset: 8, length: 8 }, dimensions: [] },
    ],
    outputs: [
      { hasNoValue: true, location: nowhere, dimensions: [] },
      { hasNoValue: false, location: { poolIndex: 2, offset: 0, length: 4 }, dimensions: [1] },
      { hasNoValue: false, location: { poolIndex: 1, offset: 0, length: 0 }, dimensions: [3] },
    ],
    pools: [pool, { kind: "token", token: 5 }, other],
  });
});
