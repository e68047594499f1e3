/**
 * Allocating for operands that do not agree: in type, scale, zero point, rank or extents, with one another or with the request;
 * each as two inputs, an input and an output, and two outputs.
 */

import { elementAt } from "@nnhal/operations";
import type { PreparedModel } from "@nnhal/types";
import { endAsUnsupported } from "../../needs.ts";
import { type Bench, prepare, smallModel, supportOf } from "../bench.ts";

import { constant, modelOfGraphs, operandOf, type SmallModelFacts } from "../small-models.ts";
import { casesOf, group, type SuiteCase } from "../suite-case.ts";
import { allocate, expectRefusedBuffer, role, type Wanted } from "./buffers.ts";

type Facts = Partial<SmallModelFacts>;

/** Two models that differ in one thing. */
interface Conflict {
  readonly what: string;
  models(): readonly [Facts, Facts];
}

const quantised = { type: "TENSOR_QUANT8_ASYMM" } as const;

const conflicts: readonly Conflict[] = [
  { what: "types", models: () => [{ type: "TENSOR_FLOAT32" }, quantised] },
  { what: "types of floats", models: () => [{ type: "TENSOR_FLOAT32" }, { type: "TENSOR_FLOAT16" }] },
  { what: "signs of a quantised type", models: () => [quantised, { type: "TENSOR_QUANT8_ASYMM_SIGNED" }] },
  { what: "scales", models: () => [quantised, { ...quantised, scale: 0.25 }] },
  { what: "zero points", models: () => [quantised, { ...quantised, zeroPoint: 3 }] },
  { what: "ranks", models: () => [{ dimensions: [2, 3] }, { dimensions: [6] }] },
  { what: "extents", models: () => [{ dimensions: [2, 3] }, { dimensions: [2, 4] }] },
];

interface Pairing {
  readonly what: string;
  describeWanted(models: readonly PreparedModel[]): Wanted;
}

const pairings: readonly Pairing[] = [
  { what: "of two inputs", describeWanted: (models) => ({ models, inputs: [role(0), role(0, 1)] }) },
  {
    what: "of an input and an output",
    describeWanted: (models) => ({ models, inputs: [role(0)], outputs: [role(0, 1)] }),
  },
  { what: "of two outputs", describeWanted: (models) => ({ models, outputs: [role(0), role(0, 1)] }) },
];

const roles: readonly Pairing[] = [
  { what: "of an input", describeWanted: (models) => ({ models, inputs: [role(0)] }) },
  { what: "of an output", describeWanted: (models) => ({ models, outputs: [role(0)] }) },
];

const wrongDimensions = [
  { what: "rank", dimensions: [6] },
  { what: "extents", dimensions: [2, 4] },
];

/** A model with a scalar as its input 1: the activation of an ADD, or the beta of a SOFTMAX. */
async function scalarModel({ device }: Bench) {
  const tensor = (lifetime: Parameters<typeof operandOf>[2]) => operandOf("TENSOR_FLOAT32", [2, 3], lifetime);
  const graphs = [
    {
      operands: [
        tensor("SUBGRAPH_INPUT"),
        operandOf("INT32", [], "SUBGRAPH_INPUT"),
        tensor("SUBGRAPH_OUTPUT"),
        constant("TENSOR_FLOAT32", [2, 3], [1, 2, 3, 4, 5, 6]),
      ],
      operations: [{ type: "ADD", inputs: [0, 3, 1], outputs: [2] }],
    },
    {
      operands: [tensor("SUBGRAPH_INPUT"), operandOf("FLOAT32", [], "SUBGRAPH_INPUT"), tensor("SUBGRAPH_OUTPUT")],
      operations: [{ type: "SOFTMAX", inputs: [0, 1], outputs: [2] }],
    },
  ] as const;
  let reason: string | undefined;
  for (const graph of graphs) {
    const model = modelOfGraphs({ ...graph, inputIndexes: [], outputIndexes: [] });
    const answer = await supportOf(device, model);
    if (answer === undefined) return model;
    reason ??= answer;
  }
  return endAsUnsupported("scalar inputs", reason);
}

export const conflictCases: readonly SuiteCase[] = [
  ...conflicts.flatMap((conflict) =>
    casesOf(
      "conflicts",
      "1.3",
      pairings,
      ({ what }) => `different ${conflict.what} ${what}`,
      async (bench, { what, describeWanted: wanted }) => {
        const prepared = async (facts: Facts) => prepare(bench, (await smallModel(bench, facts)).model);
        const models: PreparedModel[] = [];
        for (const facts of conflict.models()) models.push(await prepared(facts));
        // Each of the two alone can have such a buffer, and so can the first one twice.
        const same = [elementAt(models, 0), await prepared(elementAt(conflict.models(), 0))];
        await allocate(bench, wanted(same));
        await expectRefusedBuffer(bench, `for different ${conflict.what} ${what}`, wanted(models));
      },
    ),
  ),
  ...wrongDimensions.flatMap(({ what: field, dimensions }) =>
    casesOf(
      "conflicts",
      "1.3",
      roles,
      ({ what }) => `another ${field} than that ${what}`,
      async (bench, { what, describeWanted: wanted }) => {
        const models = [await prepare(bench, (await smallModel(bench)).model)];
        await allocate(bench, { ...wanted(models), dimensions: [2, 3] });
        await expectRefusedBuffer(bench, `for another ${field} than that ${what}`, { ...wanted(models), dimensions });
      },
    ),
  ),
  ...group("conflicts", "1.3", {
    async "dimensions for a scalar"(bench) {
      const models = [await prepare(bench, await scalarModel(bench))];
      await allocate(bench, { models, inputs: [role(1)] });
      await expectRefusedBuffer(bench, "for a scalar, with dimensions [1]", {
        models,
        inputs: [role(1)],
        dimensions: [1],
      });
    },
  }),
];
