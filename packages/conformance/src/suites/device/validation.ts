/**
 * Wrong models: the mutations of the kit on models that it makes itself, each class a case. With vectors, the suite
 * `mutations` does the same to many more models.
 */

import type { Model } from "@nnhal/types";
import { findModelProblem } from "../../mutations/answers.ts";
import { modelMutations } from "../../mutations/list.ts";
import { endAsUnsupported, Unsupported } from "../../needs.ts";
import { type Bench, smallModel, supportOf } from "../bench.ts";
import { mismatch } from "../check.ts";
import { constantModel } from "../constant-models.ts";
import { countingModel, ifModel } from "../control-flow-models.ts";
import { casesOf, type SuiteCase } from "../suite-case.ts";

/** Models that the device supports, of several kinds where it does. */
async function models(bench: Bench): Promise<Model[]> {
  const made: Model[] = [];
  let reason: Unsupported | undefined;
  const makers = [
    async () => (await smallModel(bench, { layout: "chain" })).model,
    async () => (await smallModel(bench, { type: "TENSOR_QUANT8_ASYMM" })).model,
    async () => (await constantModel(bench, [1, 2, 3, 4, 5, 6])).model,
    ...(bench.version >= "1.3"
      ? [async () => ifModel(await smallModel(bench)), async () => countingModel(bench, 3)]
      : []),
  ];
  for (const make of makers) {
    try {
      const model = await make();
      if ((await supportOf(bench.device, model)) === undefined) made.push(model);
    } catch (error) {
      if (!(error instanceof Unsupported)) throw error;
      reason ??= error;
    }
  }
  if (made.length === 0 && reason !== undefined) throw reason;
  return made;
}

const since = { executionPreference: "1.1", executionPriority: "1.3", subgraphCycle: "1.3" } as const;

function sinceOf(name: string) {
  return Object.entries(since).find(([key]) => key === name)?.[1] ?? "1.0";
}

export const validationCases: readonly SuiteCase[] = modelMutations.flatMap((mutation) =>
  casesOf(
    "validation",
    sinceOf(mutation.name),
    [mutation],
    ({ name }) => name,
    async (bench, { mutate }) => {
      let judged = 0;
      for (const model of await models(bench)) {
        for (const mutant of mutate(model)) {
          if (mutant.exempt !== undefined) continue;
          judged++;
          const problem = await findModelProblem(bench.device, mutant);
          if (problem !== undefined) mismatch(`${mutant.name}: ${problem}`);
        }
      }
      if (judged === 0) endAsUnsupported("models to break", mutation.name);
    },
  ),
);
