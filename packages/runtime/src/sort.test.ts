import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sortOperations } from "./sort.ts";

const operation = (inputs: number[], outputs: number[]) => ({ type: 0, inputs, outputs });

describe("sortOperations", () => {
  it("keeps operations that are in order", () => {
    const operations = [operation([0], [1]), operation([1], [2])];
    expect(sortOperations(operations)).toBe(operations);
  });

  it("puts a writer before its readers", () => {
    const [last, first] = [operation([1, 1], [2]), operation([0], [1])];
    expect(sortOperations([last, first])).toEqual([first, last]);
  });

  it("refuses a circle, and an operation that reads what it writes", () => {
    expect(sortOperations([operation([2], [1]), operation([1], [2])])).toBeUndefined();
    expect(sortOperations([operation([1], [1])])).toBeUndefined();
  });

  it("sorts any shuffled graph without circles", () => {
    const shuffledGraph = fc
      .array(fc.array(fc.nat(), { maxLength: 3 }), { minLength: 1, maxLength: 30 })
      // Operation k writes operand k + 1 and reads operands up to k.
      .map((reads) =>
        reads.map((inputs, index) =>
          operation(
            inputs.map((input) => input % (index + 1)),
            [index + 1],
          ),
        ),
      )
      .chain((operations) => fc.shuffledSubarray(operations, { minLength: operations.length }));
    fc.assert(
      fc.property(shuffledGraph, (operations) => {
        const sorted = sortOperations(operations) ?? [];
        expect(new Set(sorted)).toEqual(new Set(operations));
        const position = new Map(sorted.map((one, index) => [one.outputs[0], index]));
        sorted.forEach((one, index) => {
          for (const input of one.inputs) expect(position.get(input) ?? -1).toBeLessThan(index);
        });
      }),
    );
  });
});
