import { type Model as HalModel, OperandLifeTime } from "@nnhal/types";
import { sealModel } from "@nnhal/validation";
import { describe, expect, it } from "vitest";
import { Compilation } from "../compilation.ts";
import { Model } from "../model.ts";
import { addModel, float32, openReference } from "../models.test-helper.ts";
import { deviceForm } from "./device-form.ts";

const isSealed = (model: HalModel) => {
  const result = sealModel(model);
  return "model" in result && result.model === model;
};

/** sum = input + constant, whose 256 bytes are in `operandValues`. */
function withLargeConstant(): HalModel {
  const { hal } = addModel(float32(64));
  const operands = hal.main.operands.map((operand, index) => {
    if (index === 2) return { ...operand, location: { ...operand.location, offset: 256 } };
    if (index !== 1) return operand;
    const location = { poolIndex: 0, offset: 0, length: 256 };
    return { ...operand, lifetime: OperandLifeTime.CONSTANT_COPY, location };
  });
  return { ...hal, main: { ...hal.main, operands, inputIndexes: [0] }, operandValues: new Uint8Array(260) };
}

describe("the form of a model that devices get", () => {
  it("is the model itself if nothing has to change", () => {
    const { hal } = addModel();
    expect(isSealed(hal)).toBe(true);
    expect(deviceForm(hal)).toBe(hal);
  });

  it("is sealed, and made once for each model", () => {
    const { hal } = Model.from(withLargeConstant());
    const form = deviceForm(hal);
    expect(form).not.toBe(hal);
    expect(form.pools).toHaveLength(1);
    expect(isSealed(form)).toBe(true);
    expect(deviceForm(hal)).toBe(form);
    expect(deviceForm(form)).toBe(form);
  });

  it("is what a compilation asks about and prepares", async () => {
    const reference = await openReference();
    const seen: HalModel[] = [];
    const device = {
      ...reference,
      getSupportedOperations(model: HalModel) {
        seen.push(model);
        return reference.getSupportedOperations(model);
      },
      prepareModel(model: HalModel) {
        seen.push(model);
        return reference.prepareModel(model);
      },
    };
    const model = Model.from(withLargeConstant());
    for (let count = 0; count < 2; count++) await new Compilation(model, [device]).finish();
    expect(seen).toHaveLength(4);
    for (const each of seen) expect(each).toBe(deviceForm(model.hal));
  });
});
