import { expect, it } from "vitest";
import { readCases } from "../cases.ts";
import { type ModelInput, readModel, writeModel } from "../model-input.ts";
import { createRandom } from "../random.ts";
import { mutateModel } from "./model.ts";

it("changes a model with an extent of 32 bits without making a list of so many items", () => {
  const [first] = readCases("corpus", "model");
  const read = readModel(first?.bytes ?? new Uint8Array(0));
  if (read === undefined) throw new Error("the corpus begins with no model");
  const { structure } = read;
  const operands = structure.main.operands.map((operand) => ({ ...operand, dimensions: [0xffff_ffff] }));
  const large: ModelInput = { ...read, structure: { ...structure, main: { ...structure.main, operands } } };
  const input = writeModel(large);
  if (input === undefined) throw new Error("the model cannot be written");
  let withScales = 0;
  for (let seed = 1; seed <= 800; seed++) {
    const changed = readModel(mutateModel(input, createRandom(seed), input) ?? new Uint8Array(0));
    const all = changed?.structure.main.operands ?? [];
    withScales += all.some(({ extraParams }) => extraParams.kind === "channelQuant") ? 1 : 0;
  }
  expect(withScales).toBeGreaterThan(0);
});
