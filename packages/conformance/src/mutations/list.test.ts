import { elementAt } from "@nnhal/operations";
import { modelIssues, type RuleCode } from "@nnhal/validation";
import { describe, expect, it } from "vitest";
import { furtherMutations, modelMutations, vtsMutations } from "./list.ts";
import { examples, frozenModel } from "./models.test-helper.ts";

const models = examples.map(frozenModel);

/** The rules that each mutation is there to break. Where validation finds another one first, it stands here too. */
const broken: Readonly<Record<string, readonly RuleCode[]>> = {
  executionOrder: ["read-before-write"],
  operandType: [
    "operand-type",
    "scale-none",
    "extra-params-extension",
    "extension-prefix",
    "subgraph-lifetime",
    "control-flow-compatibility",
  ],
  operandRank: ["scalar-rank", "constant-dimensions"],
  operandScale: ["scale-none", "scale-bias", "scale-positive"],
  operandZeroPoint: ["zero-point-none", "zero-point-quant8"],
  operandLifeTime: ["output-lifetime", "read-before-write"],
  operandInputOutput: ["boundary-unlisted", "boundary-lifetime"],
  operandNumberOfConsumers: ["number-of-consumers"],
  operandAddWriter: ["single-writer"],
  operationOperandType: ["operation-signature", "subgraph-lifetime", "control-flow-compatibility"],
  operationType: ["operation-type"],
  operationInputOperandIndex: ["operation-operand-index"],
  operationOutputOperandIndex: ["operation-operand-index"],
  operationRemoveWrite: ["read-before-write"],
  removeOperand: ["operation-signature", "control-flow-counts"],
  removeOperation: ["never-written", "read-before-write"],
  removeOperationInput: ["operation-signature", "control-flow-counts"],
  removeOperationOutput: ["operation-signature", "control-flow-counts"],
  addOperationInput: ["operation-signature", "control-flow-counts"],
  addOperationOutput: ["operation-signature", "control-flow-counts"],
  operandExtraParams: [
    "extra-params-none",
    "channel-quant",
    "channel-scales-count",
    "channel-scales-positive",
    "channel-extent",
  ],
  unknownLifeTime: ["operand-lifetime"],
  operandLocation: [
    "constant-copy-pool",
    "constant-copy-range",
    "constant-reference-range",
    "constant-length",
    "location-unused",
    "subgraph-location",
  ],
  modelPool: ["model-pool"],
  removeModelInput: ["boundary-unlisted"],
  removeModelOutput: ["boundary-unlisted"],
  modelInputOutputIndex: ["boundary-index", "boundary-duplicate", "boundary-lifetime"],
  subgraphCycle: ["subgraph-cycle"],
  emptyModel: ["model-empty"],
};

/** These mutate how a model is prepared, and not the model. */
const ofOptions = ["executionPreference", "executionPriority"];

it("there are the 22 classes of VTS and those of further rules, each with a name of its own", () => {
  expect(vtsMutations).toHaveLength(22);
  const names = modelMutations.map(({ name }) => name);
  expect(new Set(names).size).toBe(22 + furtherMutations.length);
  expect(names.filter((name) => !ofOptions.includes(name))).toEqual(Object.keys(broken));
});

it("the models to mutate are valid", () => {
  for (const model of models) expect(modelIssues(model)).toEqual([]);
});

describe.each(modelMutations.filter(({ name }) => !ofOptions.includes(name)))("$name", (mutation) => {
  const mutants = models.flatMap((model) =>
    [...mutation.mutate(model)].map((mutant) => ({ ...mutant, original: model })),
  );
  const wrong = mutants.filter(({ exempt }) => exempt === undefined);

  it("makes models that break the rules it is about", () => {
    expect(wrong.length).toBeGreaterThan(0);
    const found = new Set<RuleCode>();
    for (const { name, model } of wrong) {
      const codes = modelIssues(model).map(({ code }) => code);
      const expected = codes.filter((code) => broken[mutation.name]?.includes(code));
      expect(expected, `${name}: refused for ${codes.join(", ") || "nothing"}`).not.toEqual([]);
      for (const code of expected) found.add(code);
    }
    expect([...found].sort(), "rules that were broken").toEqual([...(broken[mutation.name] ?? [])].sort());
  });

  it("gives each mutant of a model a name, and leaves the model as it is", () => {
    for (const model of models) {
      const names = [...mutation.mutate(model)].map(({ name }) => name);
      expect(new Set(names).size, names.join("; ")).toBe(names.length);
    }
    for (const { model, original, name } of wrong) expect(model, name).not.toEqual(original);
  });

  it("makes the same mutants each time", () => {
    const names = () => models.flatMap((model) => [...mutation.mutate(model)].map(({ name }) => name));
    expect(names()).toEqual(names());
  });
});

it.each(ofOptions)("%s is one value on each side of the enum, for a model that is right", (name) => {
  const mutation = modelMutations.find((one) => one.name === name);
  const mutants = [...(mutation?.mutate(elementAt(models, 0)) ?? [])];
  expect(mutants.map(({ model }) => model)).toEqual([models[0], models[0]]);
  expect(mutants.flatMap(({ options }) => Object.values(options ?? {}))).toEqual([-1, 3]);
});
