import type { OperationTypeName } from "@nnhal/types";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { askAndPlan, wholePlan } from "./ask-and-plan.ts";
import { plan } from "./partition.ts";
import { capabilitiesOf, deviceOf, modelOf, type Sketch, sketch } from "./planning.test-helper.ts";
import { androidPolicy, costPolicy } from "./policy.ts";

const names = ["ABS", "NEG", "EXP", "FLOOR"] as const satisfies readonly OperationTypeName[];

/** A model whose operations read earlier results: `reads` chooses which. */
function modelFrom(operations: readonly { readonly name: OperationTypeName; readonly reads: number }[]) {
  const lines = operations.map(({ name, reads }, index): Sketch[number] => [
    name,
    `t${reads % (index + 1)}`,
    `t${index + 1}`,
  ]);
  return modelOf(sketch(lines, "t0", `t${operations.length}`));
}

const models = fc
  .array(fc.record({ name: fc.constantFrom(...names), reads: fc.nat(8) }), { minLength: 1, maxLength: 8 })
  .map(modelFrom);

describe("a plan for one device", () => {
  it("is the one that plan returns", () => {
    fc.assert(
      fc.property(models, fc.constantFrom(androidPolicy, costPolicy), (model, policy) => {
        const devices = [deviceOf("only", capabilitiesOf(0.5))];
        const whole = wholePlan(model, devices, { policy });
        const general = plan(model, devices, { policy });
        if (whole === undefined || "unplannable" in general) throw new Error("the model has no plan");
        // The times are added in another order.
        const near = expect.closeTo(general.predictedTime, 6) as number;
        const steps = general.steps.map((step) => ({ ...step, predictedTime: near }));
        expect(whole).toEqual({ ...general, steps, predictedTime: near });
      }),
    );
  });

  it("does not exist if the device lacks an operation, and askAndPlan says why", async () => {
    const devices = [deviceOf("only", capabilitiesOf(0.5), ["ABS"])];
    const model = modelFrom([
      { name: "ABS", reads: 0 },
      { name: "NEG", reads: 1 },
    ]);
    expect(wholePlan(model, devices, {})).toBeUndefined();
    expect(await askAndPlan(model, devices)).toEqual(plan(model, devices));
  });

  it("does not exist for two devices", () => {
    const devices = [deviceOf("a", capabilitiesOf(1)), deviceOf("b", capabilitiesOf(1))];
    expect(wholePlan(modelFrom([{ name: "ABS", reads: 0 }]), devices, {})).toBeUndefined();
  });
});

describe("askAndPlan", () => {
  it("separates operations if it is asked to", async () => {
    const model = modelFrom([
      { name: "ABS", reads: 0 },
      { name: "NEG", reads: 1 },
    ]);
    const devices = [deviceOf("only", capabilitiesOf(1))];
    expect(await askAndPlan(model, devices)).toMatchObject({ steps: [{ operations: [0, 1] }] });
    expect(await askAndPlan(model, devices, { separateOperations: true })).toMatchObject({
      steps: [{ operations: [0] }, { operations: [1] }],
    });
  });
});
