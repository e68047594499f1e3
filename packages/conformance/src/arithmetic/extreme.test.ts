/**
 * The random convolutions with extreme values: the reference kernels and the reference device against the exact sums, and that all that
 * matters is drawn. In full (10 000) with NNHAL_VECTOR_WAYS=all.
 */
import { elementAt, integerRange } from "@nnhal/operations";
import { everyWay } from "@nnhal/test-kit/samples";
import { describe, expect, it } from "vitest";
import { exactResults, operandsOf, weightedSums } from "../products/exact.ts";
import { typesOfSum } from "../products/layer.ts";
import { createRandom } from "../random/random.ts";
import { runRandomOperation } from "../random/run.ts";
import { summarise } from "../result.ts";
import { referenceDevice } from "../suites/faulty-device.test-helper.ts";
import { runVectors } from "../vectors/run.ts";
import { extremeConvolution, extremeConvolutions } from "./extreme.ts";

const count = everyWay ? 10_000 : 300;

describe("convolutions with extreme values", { timeout: 600_000 }, () => {
  it("are computed by the reference kernels as by the formula in whole numbers", () => {
    for (let index = 0; index < count; index++) {
      const { drawn } = extremeConvolution(1, index);
      const outcome = runRandomOperation(drawn, createRandom(1), false);
      if (outcome.kind !== "computed") throw new Error(`${index} is ${outcome.kind}`);
      const output = elementAt(outcome.outputs, 0);
      const { dimensions, data } = output;
      const { dimensions: expected, values } = exactResults(operandsOf(drawn), output);
      expect(dimensions).toEqual(expected);
      // The kernels round four times to float32 on the way, of numbers below 2^9, and then to the nearest integer.
      const wrong = values.findIndex((value, place) => Math.abs(value - elementAt(data, place)) > 0.5 + 2 ** -12);
      expect({ index, wrong, exact: values[wrong], kernel: data[wrong] }).toMatchObject({ index, wrong: -1 });
    }
  });

  it("pass on the reference device", async () => {
    const examples = extremeConvolutions({ count: everyWay ? count : 100 });
    const { failures, passed } = await summarise(runVectors(await referenceDevice(), examples));
    expect(failures).toEqual([]);
    expect(passed).toBe(everyWay ? count : 100);
  });

  it("follow from their seed and number", () => {
    const names = (options: Parameters<typeof extremeConvolutions>[0]) => [...extremeConvolutions(options)];
    expect(names({ count: 3, first: 2 })).toEqual(names({ count: 5 }).slice(2));
    expect(names({ count: 2 })).not.toEqual(names({ count: 2, seed: 2 }));
  });

  it("are of all operations, types, layouts and activations, with zero points and elements at both limits", () => {
    const seen = new Map<string, number>();
    const add = (what: string) => seen.set(what, (seen.get(what) ?? 0) + 1);
    for (let index = 0; index < 600; index++) {
      const { drawn, example } = extremeConvolution(1, index);
      const { operation, inputs: params } = drawn.signature;
      const [input, filter] = drawn.inputs;
      if (input === undefined || filter === undefined) throw new Error("an operand is omitted");
      add(`${operation.name} of ${typesOfSum(drawn.signature).join(" and ")}`);
      for (const [name, tensor] of Object.entries({ input, filter })) {
        const [least, greatest] = integerRange(tensor.type);
        for (const [end, value] of Object.entries({ least, greatest })) {
          if (tensor.zeroPoint === value) add(`${name} with the ${end} zero point`);
          if (tensor.data.every((element) => element === value)) add(`${name} with all elements the ${end}`);
        }
      }
      for (const [position, { name }] of params.entries()) {
        const value = drawn.inputs[position]?.data[0];
        if (["nchw", "activation", "dilationWidth", "strideHeight", "paddingScheme"].includes(name))
          add(`${name} ${value}`);
      }
      const bytes = elementAt(example.main.operands, elementAt(example.main.outputIndexes, 0)).data ?? [];
      add(new Set(bytes).size > 2 ? "results between" : "no results between");
    }
    const types = [
      ["TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM"],
      ["TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_SYMM_PER_CHANNEL"],
      ["TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_QUANT8_ASYMM_SIGNED"],
      ["TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_QUANT8_SYMM_PER_CHANNEL"],
    ];
    const operations = weightedSums.flatMap((name) =>
      types
        .filter(([, filter]) => name !== "FULLY_CONNECTED" || filter !== "TENSOR_QUANT8_SYMM_PER_CHANNEL")
        .map((pair) => `${name} of ${pair.join(" and ")}`),
    );
    const ends = ["input", "filter"].flatMap((name) =>
      ["least", "greatest"].flatMap((end) => [
        `${name} with the ${end} zero point`,
        `${name} with all elements the ${end}`,
      ]),
    );
    const scalars = [
      "nchw 1",
      "activation 1",
      "activation 2",
      "activation 3",
      "dilationWidth 3",
      "strideHeight 3",
      "paddingScheme 1",
    ];
    for (const what of [...operations, ...ends, ...scalars]) expect(seen.get(what) ?? 0, what).toBeGreaterThan(4);
    expect(seen.get("results between")).toBeGreaterThan(300);
  });
});
