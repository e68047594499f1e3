import { expect, it } from "vitest";
import { RequestPools } from "./request-pools.ts";

it.each([
  [0, 1],
  [1, 1],
  [5, 5],
])("an array of %i bytes lies in a memory of %i: interfaces of AIDL have none without bytes", (length, size) => {
  const pools = new RequestPools(2);
  expect([pools.addBytes(new Uint8Array(length)), pools.addBytes(new Uint8Array(3))]).toEqual([0, 1]);
  expect(pools.list().map((pool) => (pool.kind === "memory" ? pool.memory.size : undefined))).toEqual([size, 3]);
});
