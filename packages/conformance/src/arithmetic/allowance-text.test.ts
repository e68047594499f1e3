/** The allowances in words are those that examples have. */
import { elementAt } from "@nnhal/operations";
import { describe, expect, it } from "vitest";
import { kernelOperations } from "../random/examples.ts";
import type { Allowance } from "../vectors/example.ts";
import { describeAllowance } from "./allowance-text.ts";
import { randomRound } from "./examples.ts";

/** Returns true if a text states the numbers of an allowance. */
function fits(text: string, { absolute, relative }: Allowance): boolean {
  const numbers = [absolute, relative];
  if (text === "0") return numbers.every((number) => number === 0);
  if (text === "1" || text === "1 step") return absolute === 1 && relative === 0;
  if (text.startsWith("the HAL's")) return relative > 2 ** -23;
  if (text.startsWith("(n + 2)")) return absolute >= 0 && relative === 2 ** -23;
  const [, times = "1", bits = ""] = /^(?:(\d) · )?2\^-(\d+) of the result$/.exec(text) ?? [];
  return relative === Number(times) * 2 ** -Number(bits);
}

describe("describeAllowance", () => {
  it("says what each output of examples of every operation is allowed", () => {
    const wrong: string[] = [];
    const texts = new Set<string>();
    for (const operation of kernelOperations()) {
      for (const { example } of randomRound(operation, 1, 8)) {
        for (const index of example.main.outputIndexes) {
          const { type, allowance } = elementAt(example.main.operands, index);
          const text = describeAllowance(operation.name, type);
          texts.add(text);
          if (allowance !== undefined && !fits(text, allowance)) wrong.push(`${example.name} ${type}: ${text}`);
        }
      }
    }
    expect(wrong).toEqual([]);
    expect(texts.size).toBeGreaterThan(6);
  });
});
