/**
 * Vendor extensions, which any device meets: those that it reports, those that it does not know, and models that use them wrongly.
 */

import { convertToV1_1 } from "@nnhal/driver-core/versions";
import { elementAt, extensionCode } from "@nnhal/operations";
import { ErrorStatus, type ExtensionNameAndPrefix, type Model, OperandLifeTime, type Operation } from "@nnhal/types";
import { extensionIssues } from "@nnhal/validation";
import { findModelProblem } from "../../mutations/answers.ts";
import { type Bench, driverOf, smallModel } from "../bench.ts";
import { expectStatus, expectThat, mismatch } from "../check.ts";
import { group, type SuiteCase } from "../suite-case.ts";

const { INVALID_ARGUMENT, NONE } = ErrorStatus;

/** An extension that no device has. */
const unknownName = "org.nnhal_conformance.unknown";
const prefix = 7;
const known: readonly ExtensionNameAndPrefix[] = [{ name: unknownName, prefix }];

/** A small model that is right, whose output an operation of an unknown extension reads too; its result is an output. */
export async function withUnknownOperation(bench: Bench, extensionNameToPrefix = known): Promise<Model> {
  const { model } = await smallModel(bench);
  const { operands, operations, inputIndexes, outputIndexes } = model.main;
  const index = elementAt(outputIndexes, 0);
  const shared = { ...elementAt(operands, index), numberOfConsumers: 1 };
  const result = { ...shared, lifetime: OperandLifeTime.SUBGRAPH_OUTPUT, numberOfConsumers: 0 };
  const unknown: Operation = { type: extensionCode(prefix, 3), inputs: [index], outputs: [operands.length] };
  return {
    ...model,
    extensionNameToPrefix,
    main: {
      operands: [...operands.map((operand, place) => (place === index ? shared : operand)), result],
      operations: [...operations, unknown],
      inputIndexes,
      outputIndexes: [...outputIndexes, operands.length],
    },
  };
}

/** A small model whose input has a type of an unknown extension. */
async function withUnknownOperand(bench: Bench): Promise<Model> {
  const { model } = await smallModel(bench);
  const { main } = model;
  const index = elementAt(main.inputIndexes, 0);
  const operands = main.operands.map((operand, place) =>
    place === index ? { ...operand, type: extensionCode(prefix, 1), scale: 0, zeroPoint: 0 } : operand,
  );
  return { ...model, extensionNameToPrefix: known, main: { ...main, operands } };
}

/** The mappings of extensions that break a rule. */
const wrongMappings: Readonly<Record<string, readonly ExtensionNameAndPrefix[]>> = {
  "a prefix that no extension has": [{ name: unknownName, prefix: prefix + 1 }],
  "a prefix that two extensions have": [...known, { name: `${unknownName}.other`, prefix }],
  "an extension with two prefixes": [...known, { name: unknownName, prefix: prefix + 1 }],
  "a name without a dot": [{ name: "unknown", prefix }],
  "a name with capital letters": [{ name: "org.Unknown", prefix }],
  "the prefix 0": [...known, { name: `${unknownName}.other`, prefix: 0 }],
};

async function expectRefused({ device }: Bench, name: string, model: Model): Promise<void> {
  const problem = await findModelProblem(device, { name, model, expected: INVALID_ARGUMENT });
  if (problem !== undefined) mismatch(`${name}: ${problem}`);
}

export const extensionCases: readonly SuiteCase[] = [
  ...group("extensions", "1.1", {
    async "types and operations of extensions are refused at HAL 1.1"(bench) {
      const driver = driverOf(bench, "1.1");
      for (const [what, model] of [
        ["operation", await withUnknownOperation(bench)],
        ["operand", await withUnknownOperand(bench)],
      ] as const) {
        const { value } = convertToV1_1.model(model);
        const { supportedOperations, ...outcome } = await driver.getSupportedOperations_1_1(value);
        expectStatus(`getSupportedOperations_1_1 of an extension's ${what}`, outcome, INVALID_ARGUMENT);
        const { length } = supportedOperations;
        expectThat(length === 0, () => `getSupportedOperations_1_1: ${length} answers beside the error`);
      }
    },
  }),
  ...group("extensions", "1.2", {
    "those that it reports are valid, and the same at every call"({ device }) {
      const { extensions, ...outcome } = device.getSupportedExtensions();
      expectStatus("getSupportedExtensions", outcome, NONE);
      const [issue] = extensionIssues(extensions);
      if (issue !== undefined) mismatch(`getSupportedExtensions: ${issue.path}: ${issue.message}`);
      const again = JSON.stringify(device.getSupportedExtensions().extensions);
      expectThat(
        again === JSON.stringify(extensions),
        () => "getSupportedExtensions: a second call answers something else",
      );
    },
    async "an operation of an unknown extension is not supported, with a reason, and others are"(bench) {
      const { supported, ...outcome } = await bench.device.getSupportedOperations(await withUnknownOperation(bench));
      expectStatus("getSupportedOperations", outcome, NONE);
      const answers = JSON.stringify(supported);
      expectThat(answers === "[true,false]", () => {
        return `getSupportedOperations of an operation and one of ${unknownName}: expected [true,false], got ${answers}`;
      });
      // Each answer is watched: that there is a reason is checked with all of them.
    },
    async "a model with an operation of an unknown extension is not prepared"(bench) {
      const { preparedModel, ...outcome } = await bench.device.prepareModel(await withUnknownOperation(bench));
      preparedModel?.close();
      expectStatus(`prepareModel of an operation of ${unknownName}`, outcome, INVALID_ARGUMENT);
      expectThat(preparedModel === null, () => "prepareModel: a prepared model beside an error");
    },
    "an operand of an extension in an operation of the HAL is refused": async (bench) =>
      expectRefused(bench, "an input of an extension's type", await withUnknownOperand(bench)),
    ...Object.fromEntries(
      Object.entries(wrongMappings).map(([what, mapping]): [string, SuiteCase["run"]] => [
        `a model with ${what} is refused`,
        async (bench) => expectRefused(bench, what, await withUnknownOperation(bench, mapping)),
      ]),
    ),
  }),
];
