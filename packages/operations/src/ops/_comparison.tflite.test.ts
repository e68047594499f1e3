import { describe, expect, it } from "vitest";
import { elements, giveTensor, of } from "./_tensors.tflite.test-helper.ts";

const tests = {
  EQUAL: [0, 1, 0],
  NOT_EQUAL: [1, 0, 1],
  LESS: [1, 0, 0],
  LESS_EQUAL: [1, 1, 0],
  GREATER: [0, 0, 1],
  GREATER_EQUAL: [0, 1, 1],
} as const;

describe.each(Object.entries(tests))("%s", (name, [less, equal, greater]) => {
  it("of 64-bit integers that doubles cannot tell apart, which broadcast", async () => {
    const left = giveTensor(of("int64"), [2n ** 62n, 2n ** 62n + 1n, 2n ** 62n + 2n], [3, 1]);
    const right = giveTensor(of("int64"), [2n ** 62n + 1n, -5], [2]);
    expect(await elements(name, [left, right], of("bool"))).toEqual([less, greater, equal, greater, greater, greater]);
  });

  it("of 16-bit elements without quantisation", async () => {
    const inputs = [giveTensor(of("int16"), [-3, 4, 5]), giveTensor(of("int16"), [4])];
    expect(await elements(name, inputs, of("bool"))).toEqual([less, equal, greater]);
  });

  it("of quantised 16-bit elements: equality of real numbers in steps of 1/256, all else of elements", async () => {
    const isEquality = name.endsWith("EQUAL") && name.length < 10;
    // 0.5, 1 and 1.5 against 1, as elements 1, 2 and 3 against 4.
    const inputs = [giveTensor(of("int16", 0.5), [1, 2, 3]), giveTensor(of("int16", 0.25), [4])];
    expect(await elements(name, inputs, of("bool"))).toEqual(isEquality ? [less, equal, greater] : [less, less, less]);
    // 1/1024 and 2/1024 are 0 and 1 steps of 1/256, halves being rounded up.
    const fine = [giveTensor(of("int16", 2 ** -10), [1]), giveTensor(of("int16", 2 ** -10), [0])];
    expect(await elements(name, fine, of("bool"))).toEqual([isEquality ? equal : greater]);
  });

  it("of 8-bit elements: real numbers in steps of 1/256", async () => {
    for (const type of ["int8", "uint8"] as const) {
      // 0.5, 1 and 1.5 against 1.
      const inputs = [giveTensor(of(type, 0.5, 3), [4, 5, 6]), giveTensor(of(type, 0.25, 7), [11])];
      expect(await elements(name, inputs, of("bool"))).toEqual([less, equal, greater]);
      // 0, 1/1024 and 2/1024 against 0: the first two are 0 steps, the last 1.
      const fine = [giveTensor(of(type, 2 ** -10, 3), [3, 4, 5]), giveTensor(of(type, 2 ** -10, 3), [3])];
      expect(await elements(name, fine, of("bool"))).toEqual([equal, equal, greater]);
    }
  });
});
