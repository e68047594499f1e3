/** The examples that show a bias: each row of quantised types has one, its bound tells rounding down from rounding to the nearest. */
import { elementAt } from "@nnhal/operations";
import { beforeAll, describe, expect, it } from "vitest";
import { kernelOperations } from "../random/examples.ts";
import { type BiasExample, biasExample, biasSignatures, stepsOf, withoutBias } from "./bias.ts";
import { roundedDown } from "./reals.ts";

interface Found {
  readonly title: string;
  readonly example: BiasExample | undefined;
}

let all: readonly Found[];
beforeAll(() => {
  all = kernelOperations().flatMap((operation) =>
    biasSignatures(operation).map(({ place, signature }) => ({
      title: `${operation.name} ${signature.row.slice(1).join(" ")}`,
      example: biasExample(place, signature),
    })),
  );
}, 120_000);

const mean = (differences: Float64Array) => differences.reduce((sum, one) => sum + one, 0) / differences.length;

describe("examples of bias", () => {
  it("are there for every row of types whose results are rounded to 8 bits, except those that are listed", () => {
    expect(all.filter(({ example }) => example === undefined).map(({ title }) => title)).toEqual([]);
    expect(all.length).toBeGreaterThan(45);
    const names = new Set<string>(kernelOperations().map(({ name }) => name));
    expect([...withoutBias].filter((name) => !names.has(name))).toEqual([]);
  });

  it("have bounds that results which are rounded down exceed, and exact ones keep by far", () => {
    for (const { title, example } of all) {
      if (example === undefined) continue;
      const { drawn, outputs, bias } = example;
      const output = elementAt(outputs, 0);
      const steps = stepsOf(drawn, outputs);
      expect(bias, title).toBeGreaterThan(0.05);
      if (steps === undefined) continue;
      const down = roundedDown(steps, output.type).map((value, index) => value - elementAt(output.data, index));
      expect(-mean(down), title).toBeGreaterThan(1.7 * bias);
    }
  });

  it("show no bias of the reference kernels themselves", () => {
    for (const { title, example } of all) {
      const output = example && elementAt(example.outputs, 0);
      const steps = example && stepsOf(example.drawn, example.outputs);
      if (output === undefined || steps === undefined) continue;
      const [least, greatest] = output.type === "TENSOR_QUANT8_ASYMM" ? [0, 255] : [-128, 127];
      const differences = steps.map((value, index) => {
        const exact = Math.min(greatest, Math.max(least, value));
        return elementAt(output.data, index) - exact;
      });
      expect(Math.abs(mean(differences)), title).toBeLessThan(0.12);
    }
  });
});
