/** Operators whose 8-bit results are whole numbers without a choice: every engine must have those of the reference. */
import { describe, expect, it } from "vitest";
import { cases } from "./cases.ts";
import { compareElements } from "./compare.ts";
import { deviceRunner } from "./device.ts";
import { elementsOf } from "./elements.ts";
import { inputsOf } from "./measure.ts";
import { modelOf } from "./model.ts";
import { oracleAbsence, runOracle } from "./oracle.ts";

const exact = ["RESIZE_BILINEAR"] as const;
const types = ["UINT8", "INT8"] as const;
const rows = exact.flatMap((operator) => types.map((type) => [operator, type] as const));

async function resultsOn(device: string, operator: (typeof exact)[number], type: (typeof types)[number]) {
  const variants = cases[operator]?.variants(type) ?? [];
  const inputs = inputsOf(type, variants, 7);
  const results = await (await deviceRunner(device))(
    modelOf(operator, 1, variants),
    inputs.map((bytes) => elementsOf(type, bytes)),
  );
  if (typeof results === "string") throw new Error(results);
  return { variants, inputs, results: results.map(({ data }) => data) };
}

describe("8-bit results without a choice", { timeout: 60_000 }, () => {
  describe.each(["ort", "tfjs", "gpujs"] as const)("%s has those of the reference", (device) => {
    it.each(rows)("%s %s", async (operator, type) => {
      const [{ results: expected }, { results }] = [
        await resultsOn("reference", operator, type),
        await resultsOn(device, operator, type),
      ];
      expect(results.length).toBeGreaterThan(0);
      const differences = results.map((result, place) => compareElements(result, expected[place] ?? []));
      expect(differences.map(({ differing }) => differing)).toEqual(results.map(() => 0));
    });
  });

  it.for(rows)("TensorFlow Lite has them too: %s %s", async ([operator, type], { skip }) => {
    const absence = oracleAbsence();
    skip(absence !== undefined, absence);
    const { variants, inputs, results } = await resultsOn("reference", operator, type);
    const expected = await runOracle("litert", modelOf(operator, 1, variants), inputs, variants.length);
    if (typeof expected === "string") throw new Error(expected);
    const differences = expected.map((bytes, place) => compareElements(results[place] ?? [], elementsOf(type, bytes)));
    expect(differences.map(({ differing }) => differing)).toEqual(variants.map(() => 0));
  });
});
