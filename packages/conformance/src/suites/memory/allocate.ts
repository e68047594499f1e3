/**
 * Allocating: what may be asked for. What operands have to agree in is in conflicts.ts.
 */
import type { PreparedModel } from "@nnhal/types";
import { type Bench, prepare, smallModel } from "../bench.ts";
import { expectThat } from "../check.ts";
import { casesOf, group, type SuiteCase } from "../suite-case.ts";
import { allocate, expectRefusedBuffer, preparedSmall, role, type Wanted } from "./buffers.ts";

/** A prepared model that no device has made. */
const foreign: PreparedModel = {
  execute: () => Promise.reject(new Error("no device has made this prepared model")),
  close() {},
};

interface Wrong {
  readonly what: string;
  describeWanted(model: PreparedModel): Wanted;
}

const wrong: readonly Wrong[] = [
  { what: "for no models", describeWanted: () => ({ inputs: [role(0)] }) },
  { what: "for no roles", describeWanted: (model) => ({ models: [model] }) },
  { what: "for a null model, as its input", describeWanted: () => ({ models: [null], inputs: [role(0)] }) },
  { what: "for a null model, as its output", describeWanted: () => ({ models: [null], outputs: [role(0)] }) },
  {
    what: "for a null model beside a right one",
    describeWanted: (model) => ({ models: [model, null], inputs: [role(0), role(0, 1)] }),
  },
  { what: "for a model of no device, as its input", describeWanted: () => ({ models: [foreign], inputs: [role(0)] }) },
  {
    what: "for a model of no device, as its output",
    describeWanted: () => ({ models: [foreign], outputs: [role(0)] }),
  },
  {
    what: "with a model index out of range, as an input",
    describeWanted: (model) => ({ models: [model], inputs: [role(0, 1)] }),
  },
  {
    what: "with a model index out of range, as an output",
    describeWanted: (model) => ({ models: [model], outputs: [role(0, 1)] }),
  },
  { what: "with an input index out of range", describeWanted: (model) => ({ models: [model], inputs: [role(9)] }) },
  { what: "with an output index out of range", describeWanted: (model) => ({ models: [model], outputs: [role(9)] }) },
  ...[10, 0, -0.5, Number.NaN].flatMap((frequency): Wrong[] => [
    {
      what: `with frequency ${frequency}, as an input`,
      describeWanted: (model) => ({ models: [model], inputs: [role(0, 0, frequency)] }),
    },
    {
      what: `with frequency ${frequency}, as an output`,
      describeWanted: (model) => ({ models: [model], outputs: [role(0, 0, frequency)] }),
    },
  ]),
  { what: "with an input twice", describeWanted: (model) => ({ models: [model], inputs: [role(0), role(0)] }) },
  { what: "with an output twice", describeWanted: (model) => ({ models: [model], outputs: [role(0), role(0)] }) },
  {
    what: "with an input twice, by two indexes of one model",
    describeWanted: (model) => ({ models: [model, model], inputs: [role(0), role(0, 1)] }),
  },
  {
    what: "with an output twice, by two indexes of one model",
    describeWanted: (model) => ({ models: [model, model], outputs: [role(0), role(0, 1)] }),
  },
];

async function allocates(bench: Bench, wanted: (model: PreparedModel) => Wanted, facts = {}): Promise<void> {
  const { preparedModel } = await preparedSmall(bench, facts);
  await allocate(bench, wanted(preparedModel));
}

export const allocateCases: readonly SuiteCase[] = [
  ...group("allocate", "1.3", {
    "for an input": (bench) => allocates(bench, (model) => ({ models: [model], inputs: [role(0)] })),
    "for an output": (bench) => allocates(bench, (model) => ({ models: [model], outputs: [role(0)] })),
    "for an input and an output": (bench) =>
      allocates(bench, (model) => ({ models: [model], inputs: [role(0)], outputs: [role(0)] })),
    "with dimensions that are the model's": (bench) =>
      allocates(bench, (model) => ({ models: [model], dimensions: [2, 3], inputs: [role(0)] })),
    "with the least frequency that there may be": (bench) =>
      allocates(bench, (model) => ({ models: [model], inputs: [role(0, 0, Number.MIN_VALUE)] })),
    "with dimensions that the model leaves open": (bench) =>
      allocates(bench, (model) => ({ models: [model], dimensions: [2, 3], inputs: [role(0)] }), {
        dimensions: [0, 3],
        outputDimensions: [0, 3],
      }),
    async "for two models"(bench) {
      const small = await smallModel(bench);
      const models = [await prepare(bench, small.model), await prepare(bench, small.model)];
      await allocate(bench, { models, inputs: [role(0), role(0, 1)], outputs: [role(0, 1)] });
    },
    async "tokens of living buffers differ"(bench) {
      const { preparedModel } = await preparedSmall(bench);
      const tokens: number[] = [];
      for (let count = 0; count < 8; count++) {
        tokens.push((await allocate(bench, { models: [preparedModel], inputs: [role(0)] })).token);
      }
      expectThat(new Set(tokens).size === 8, () => `allocate: eight buffers have the tokens ${tokens.join(", ")}`);
    },
  }),
  ...casesOf(
    "allocate",
    "1.3",
    wrong,
    ({ what }) => `refused ${what}`,
    async (bench, { what, describeWanted: wanted }) => {
      const { preparedModel } = await preparedSmall(bench);
      // Control: with the right role a buffer comes.
      await allocate(bench, { models: [preparedModel], inputs: [role(0)] });
      await expectRefusedBuffer(bench, what, wanted(preparedModel));
    },
  ),
];
