/**
 * Priorities: every one can be prepared, and changes no result.
 */
import { elementAt } from "@nnhal/operations";
import { ErrorStatus, priorities } from "@nnhal/types";
import { prepare, smallModel } from "../bench.ts";
import { expectStatus, expectThat } from "../check.ts";
import { runTrial, trialFor } from "../execution.ts";
import { launchPrepare, onlyCall, prepareMethods } from "../prepare-launches.ts";
import { sampleValues } from "../small-models.ts";
import { casesOf, group, type SuiteCase } from "../suite-case.ts";

const rows = Object.entries(priorities);

export const priorityCases: readonly SuiteCase[] = [
  ...casesOf(
    "priority",
    "1.3",
    rows,
    ([name]) => `a model of priority ${name} is prepared, and executes`,
    async (bench, [, { code }]) => {
      const small = await smallModel(bench);
      const preparedModel = await prepare(bench, small.model, { priority: code });
      await runTrial(preparedModel, trialFor(small, [sampleValues(small.type, 6)]));
    },
  ),
  ...casesOf(
    "priority",
    "1.3",
    rows,
    ([name]) => `prepareModel_1_3 launches priority ${name}`,
    async (bench, [, { code }]) => {
      const method = elementAt(prepareMethods, prepareMethods.length - 1);
      const launched = launchPrepare(bench, method, (await smallModel(bench)).model, { priority: code });
      expectStatus(method.name, launched.outcome, ErrorStatus.NONE);
      const { status, preparedModel } = await onlyCall(bench, method.name, launched, method.notify);
      expectStatus(`${method.name}'s callback`, { status }, ErrorStatus.NONE);
      expectThat(preparedModel !== null, () => `${method.name}: the callback hears NONE and gets no prepared model`);
    },
  ),
  ...group("priority", "1.3", {
    async "models of all priorities execute at once, and none waits for ever"(bench) {
      const small = await smallModel(bench);
      const preparedModels = await Promise.all(
        rows.map(([, { code }]) => prepare(bench, small.model, { priority: code })),
      );
      const runs = Array.from({ length: 60 }, (_, salt) =>
        runTrial(elementAt(preparedModels, salt % rows.length), trialFor(small, [sampleValues(small.type, 6, salt)])),
      );
      await Promise.all(runs);
    },
  }),
];
