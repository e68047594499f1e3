import { elementAt } from "@nnhal/operations";
import { addExample, bytesOf, withOperands } from "@nnhal/test-kit/examples";
import { describe, expect, it } from "vitest";
import { changeExample, outputExample } from "./examples.test-helper.ts";
import { requestOf, type VectorRequest } from "./request.ts";

function poolBytes({ request }: VectorRequest, index: number): Uint8Array {
  const pool = elementAt(request.pools, index);
  if (pool.kind !== "memory" || pool.memory.handle?.kind !== "buffer") throw new Error("no buffer");
  return new Uint8Array(pool.memory.handle.buffer, pool.memory.handle.byteOffset, pool.memory.size);
}

describe("requestOf", () => {
  it("places inputs in one pool and room for outputs in another", () => {
    const made = requestOf(addExample());
    expect(made.request.inputs).toEqual([
      { hasNoValue: false, location: { poolIndex: 0, offset: 0, length: 12 }, dimensions: [] },
    ]);
    expect(made.request.outputs).toEqual([
      { hasNoValue: false, location: { poolIndex: 1, offset: 0, length: 12 }, dimensions: [] },
    ]);
    expect(made.request.pools).toHaveLength(2);
    expect([...poolBytes(made, 0)]).toEqual([...bytesOf(Float32Array.of(1, 2, 3))]);
    poolBytes(made, 1).set(bytesOf(Float32Array.of(4, 5, 6)));
    expect(made.outputBytes(0)).toEqual(bytesOf(Float32Array.of(4, 5, 6)));
    expect(made.findDamage()).toBeUndefined();
  });

  it("omits an input without a value, and still has an input pool", () => {
    const made = requestOf(withOperands(addExample(), { 0: { data: null } }));
    expect(made.request.inputs).toEqual([
      { hasNoValue: true, location: { poolIndex: 0, offset: 0, length: 0 }, dimensions: [] },
    ]);
    expect(poolBytes(made, 0)).toHaveLength(1);
    expect(made.findDamage()).toBeUndefined();
  });

  it("states the extents of an input that the model does not state", () => {
    const made = requestOf(changeExample(addExample(), { 0: { isUnspecified: true } }));
    expect(made.request.inputs.map(({ dimensions }) => dimensions)).toEqual([[1, 3]]);
  });

  it("gives an output without elements a byte", () => {
    const made = requestOf(outputExample("TENSOR_FLOAT32", [0], null));
    expect(elementAt(made.request.outputs, 0).location.length).toBe(1);
  });

  it("tells a byte written after an output from one written in it, and a changed input", () => {
    const outside = requestOf(addExample());
    poolBytes(outside, 1)[11] = 0;
    expect(outside.findDamage()).toBeUndefined();
    poolBytes(outside, 1)[12] = 0;
    expect(outside.findDamage()).toBe("the byte 0 after the end of output 0 was written");

    const input = requestOf(addExample());
    poolBytes(input, 0)[5] = elementAt(poolBytes(input, 0), 5) ^ 1;
    expect(input.findDamage()).toBe("byte 5 of the input pool was changed");
  });
});
