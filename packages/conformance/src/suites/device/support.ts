/**
 * getSupportedOperations: an answer for each operation, none for a model that is wrong.
 */

import { convertToV1_0, convertToV1_1, convertToV1_2 } from "@nnhal/driver-core/versions";
import { elementAt } from "@nnhal/operations";
import { ErrorStatus, type HalVersion, type Model } from "@nnhal/types";
import { endAsUnsupported } from "../../needs.ts";
import { type Bench, driverOf, smallModel, supportOf } from "../bench.ts";
import { expectStatus, expectThat } from "../check.ts";
import { ifModel, unsupportedOperation } from "../control-flow-models.ts";
import { group, type SuiteCase } from "../suite-case.ts";

interface Question {
  readonly name: string;
  readonly since: HalVersion;
  ask(bench: Bench, model: Model): ReturnType<ReturnType<typeof driverOf<"1.3">>["getSupportedOperations_1_3"]>;
}

/** getSupportedOperations of each version. */
const questions: readonly Question[] = [
  {
    name: "getSupportedOperations",
    since: "1.0",
    ask: (bench, model) => driverOf(bench, "1.0").getSupportedOperations(convertToV1_0.model(model).value),
  },
  {
    name: "getSupportedOperations_1_1",
    since: "1.1",
    ask: (bench, model) => driverOf(bench, "1.1").getSupportedOperations_1_1(convertToV1_1.model(model).value),
  },
  {
    name: "getSupportedOperations_1_2",
    since: "1.2",
    ask: (bench, model) => driverOf(bench, "1.2").getSupportedOperations_1_2(convertToV1_2.model(model).value),
  },
  {
    name: "getSupportedOperations_1_3",
    since: "1.3",
    ask: (bench, model) => driverOf(bench, "1.3").getSupportedOperations_1_3(model),
  },
];

/** A model whose two operations wait for each other: VTS's CycleTest. */
export async function cyclicModel(bench: Bench): Promise<Model> {
  const { model } = await smallModel(bench, { layout: "chain" });
  const [first, second] = [elementAt(model.main.operations, 0), elementAt(model.main.operations, 1)];
  const x = elementAt(model.main.inputIndexes, 0);
  const y = elementAt(second.outputs, 0);
  // The first reads the second's output; no operation reads the input any more.
  const inputs = first.inputs.map((input) => (input === x ? y : input));
  const readers = (index: number) => [...inputs, ...second.inputs].filter((input) => input === index).length;
  const operands = model.main.operands.map((operand, index) => ({ ...operand, numberOfConsumers: readers(index) }));
  return { ...model, main: { ...model.main, operands, operations: [{ ...first, inputs }, second] } };
}

export const supportCases: readonly SuiteCase[] = [
  ...questions.flatMap(({ name, since, ask }) =>
    group("support", since, {
      async [`${name} says yes to each operation of a model that can be prepared`](bench) {
        const { model, label } = await smallModel(bench, { layout: "chain" });
        const { supportedOperations, ...outcome } = await ask(bench, model);
        expectStatus(`${name} of ${label}`, outcome, ErrorStatus.NONE);
        const answers = JSON.stringify(supportedOperations);
        expectThat(answers === "[true,true]", () => `${name} of ${label} twice: expected [true,true], got ${answers}`);
      },
      async [`${name} refuses a model with a cycle`](bench) {
        const { supportedOperations, ...outcome } = await ask(bench, await cyclicModel(bench));
        expectStatus(`${name} of a model with a cycle`, outcome, ErrorStatus.INVALID_ARGUMENT);
        const { length } = supportedOperations;
        expectThat(length === 0, () => `${name} of a model with a cycle: ${length} answers beside the error`);
      },
    }),
  ),
  ...group("support", "1.0", {
    async "the answer is the same at every call"(bench) {
      const { model } = await smallModel(bench);
      const answers = [
        await bench.device.getSupportedOperations(model),
        await bench.device.getSupportedOperations(model),
      ];
      const [first, second] = answers.map((answer) => JSON.stringify(answer));
      expectThat(first === second, () => `getSupportedOperations: ${first}, and at the next call ${second}`);
    },
  }),
  ...group("support", "1.3", {
    async "IF is supported if its branches are"(bench) {
      const reason = await supportOf(bench.device, ifModel(await smallModel(bench)));
      if (reason !== undefined) endAsUnsupported("IF", reason);
    },
    async "IF is not supported if an operation of a branch is not"(bench) {
      const model = ifModel(await unsupportedOperation(bench));
      const { supported, ...outcome } = await bench.device.getSupportedOperations(model);
      expectStatus("getSupportedOperations", outcome, ErrorStatus.NONE);
      const answers = JSON.stringify(supported);
      expectThat(answers === "[false]", () => {
        return `getSupportedOperations of an IF with a branch that is not supported: expected [false], got ${answers}`;
      });
    },
  }),
];
