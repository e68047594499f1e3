/** The known results of the probes, held against the reference kernels of the operations. */
import { createData, elementCount, operationByCode, runToEnd, type Tensor } from "@nnhal/operations";
import { OperationType } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import {
  digits,
  functionChains,
  functions,
  infinities,
  layersOf8Bits,
  longSums,
  numbersOf8Bits,
  type ProbeCase,
  tinyNumbers,
} from "./float32-cases.ts";
import type { ProbeArgument } from "./run-alone.ts";
import { differenceOf } from "./verdict.ts";

const cases = { digits, functions, infinities, layersOf8Bits, longSums, numbersOf8Bits, tinyNumbers };

function argumentOf(argument: ProbeArgument): Tensor | number | boolean {
  if (typeof argument !== "object") return argument;
  const { elements, ...info } = argument;
  const data = createData(info.type, elementCount(info.dimensions));
  data.set(elements);
  return { ...info, data };
}

function referenceResult({ name, args, output }: ProbeCase): number[] {
  const operation = operationByCode(OperationType[name]);
  const result = { ...output, data: createData(output.type, elementCount(output.dimensions)) };
  const given = Object.fromEntries(Object.entries(args).map(([key, value]) => [key, argumentOf(value)]));
  runToEnd(operation?.reference?.(given, { output: result }, { random: () => 0 }));
  return Array.from(result.data, Number);
}

describe.each(Object.entries(cases))("the cases of %s", (_, list) => {
  it.each(list.map((each) => [each.name, each] as const))("%s: the reference has the result", (name, each) => {
    const { expected, orElse = expected, allowance } = each;
    const actual = referenceResult(each);
    const [first, second] = [expected, orElse].map((right) => differenceOf(name, right, actual, allowance));
    expect([first, second]).toContain(undefined);
  });
});

describe.each(functionChains.map((chain) => [chain.names.join(", "), chain] as const))(
  "the chain of %s",
  (_, chain) => {
    it("has the result of the reference, one function after the other", () => {
      const { expected, allowance, ...first } = chain.first;
      let actual = referenceResult({ ...first, expected });
      for (const { name, args, output, chained } of chain.following) {
        const input = { ...output, elements: actual };
        actual = referenceResult({ name, args: { [chained]: input, ...args }, output, expected });
      }
      expect(differenceOf(first.name, expected, actual, allowance)).toBeUndefined();
    });
  },
);

describe("the cases", () => {
  it("have a chain for each function but SOFTMAX, which takes several kernels", () => {
    const chained = functionChains.flatMap(({ names }) => names);
    expect([...chained, "SOFTMAX"].sort()).toEqual(functions.map(({ name }) => name).sort());
  });

  it("have sums of 8 bits at the greatest whole number of float32, and less than it", () => {
    const [{ args }] = layersOf8Bits as readonly [ProbeCase];
    const { input, weights } = args;
    if (typeof input !== "object" || typeof weights !== "object") throw new TypeError("expected tensors");
    const depth = input.dimensions[1] ?? 0;
    const most = Array.from(input.elements)
      .slice(0, depth)
      .reduce((sum, each) => sum + 255 * each, 0);
    expect(most).toBeLessThan(2 ** 24);
    expect(most + 255 * 255).toBeGreaterThan(2 ** 24);
  });
});
