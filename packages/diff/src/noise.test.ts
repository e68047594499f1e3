import { describe, expect, it } from "vitest";
import { mulberry32, randomTensor } from "./noise.ts";

const plain = { scale: 0, zeroPoint: 0 };
const shape = [1000];

describe("mulberry32", () => {
  it("gives the known sequence", () => {
    const random = mulberry32(1000);
    expect([random(), random(), random()].map((u) => Math.floor(u * 256))).toEqual([203, 211, 177]);
  });
});

describe("randomTensor", () => {
  it("differs by seed and by place, and by nothing else", () => {
    const tensor = { ...plain, type: "TENSOR_FLOAT32", shape } as const;
    expect(randomTensor(tensor, 1, 0)).toEqual(randomTensor(tensor, 1, 0));
    expect(randomTensor(tensor, 1, 0)).not.toEqual(randomTensor(tensor, 1, 1));
    expect(randomTensor(tensor, 1, 0)).not.toEqual(randomTensor(tensor, 2, 0));
  });

  it("uses the whole range of each type, in bytes of its size", () => {
    const bytes = (type: Parameters<typeof randomTensor>[0]["type"]) => randomTensor({ ...plain, type, shape }, 7, 0);
    const range = (values: Iterable<number>) => {
      const list = [...values];
      return [Math.min(...list), Math.max(...list), list.length] as const;
    };
    const [least, greatest] = range(new Float32Array(bytes("TENSOR_FLOAT32").buffer));
    expect([least < -0.99, least >= -1, greatest > 0.99, greatest < 1]).toEqual([true, true, true, true]);
    expect(bytes("TENSOR_FLOAT16")).toHaveLength(2000);
    expect(range(bytes("TENSOR_QUANT8_ASYMM"))).toEqual([0, 255, 1000]);
    expect(range(new Int8Array(bytes("TENSOR_QUANT8_ASYMM_SIGNED").buffer))).toEqual([-128, 127, 1000]);
    expect(range(new Int32Array(bytes("TENSOR_INT32").buffer))).toEqual([0, 9, 1000]);
    expect(range(bytes("TENSOR_BOOL8"))).toEqual([0, 1, 1000]);
    const [lowest, highest] = range(new Int16Array(bytes("TENSOR_QUANT16_SYMM").buffer));
    expect([lowest < -32_000, highest > 32_000]).toEqual([true, true]);
    expect(range(new Uint16Array(bytes("TENSOR_QUANT16_ASYMM").buffer))[1]).toBeGreaterThan(64_000);
  });
});
