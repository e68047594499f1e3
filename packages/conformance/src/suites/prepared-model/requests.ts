/**
 * Wrong requests, through every kind of execution: VTS's ValidateRequest, and further rules. Each class of the kit's request
 * mutations is a case.
 */
import { ErrorStatus, MeasureTiming, type PreparedModel } from "@nnhal/types";
import { findRequestProblem } from "../../mutations/answers.ts";
import { type RequestMutant, requestMutations } from "../../mutations/request.ts";
import { endAsUnsupported } from "../../needs.ts";
import { type Bench, hasMethod, prepare, smallModel } from "../bench.ts";
import { openBurst } from "../burst/open.ts";
import { expectExecution, expectThat, mismatch } from "../check.ts";
import { runTrial, trialFor } from "../execution.ts";
import { sampleValues } from "../small-models.ts";
import { casesOf, type SuiteCase } from "../suite-case.ts";

const { INVALID_ARGUMENT, GENERAL_FAILURE } = ErrorStatus;

/** Fences and tokens are younger than requests. */
const since = { nullFence: "1.3", unknownToken: "1.3" } as const;

function sinceOf(name: string) {
  return Object.entries(since).find(([key]) => key === name)?.[1] ?? "1.0";
}

async function judge(preparedModel: PreparedModel, hasFences: boolean, mutant: RequestMutant): Promise<void> {
  if (mutant.waitFor !== undefined && !hasFences) endAsUnsupported("fenced executions");
  const { executeFenced, ...unfenced } = preparedModel;
  const has = hasFences && executeFenced !== undefined ? { ...unfenced, executeFenced } : unfenced;
  for (const isMeasured of [false, true]) {
    const problem = await findRequestProblem(has, mutant, isMeasured);
    if (problem === undefined) continue;
    if (typeof problem === "string") mismatch(`${mutant.name}: ${problem}`);
    mismatch(problem.unsupported);
  }
}

/** Judges the request in a burst, which carries fewer statuses. */
async function judgeInBurst(
  bench: Bench,
  preparedModel: PreparedModel,
  { name, request }: RequestMutant,
): Promise<void> {
  const { burst } = await openBurst(bench, preparedModel);
  if (burst === null) mismatch("configureExecutionBurst: there is no burst");
  const { fallback, ...result } = await burst.compute(request, { measure: MeasureTiming.YES });
  if (!fallback) expectExecution(`${name}: in a burst`, result, INVALID_ARGUMENT, GENERAL_FAILURE);
}

export const requestCases: readonly SuiteCase[] = requestMutations.flatMap((mutation) =>
  casesOf(
    "requests",
    sinceOf(mutation.name),
    [mutation],
    ({ name }) => name,
    async (bench, { mutate }) => {
      const small = await smallModel(bench, { layout: "pair" });
      const preparedModel = await prepare(bench, small.model);
      const inputs = [sampleValues(small.type, 6), sampleValues(small.type, 6, 1)];
      const { request } = trialFor(small, inputs);
      // Substitutes for methods that a HAL version or the device lacks are not theirs.
      const hasFences = bench.version >= "1.3" && (await hasMethod(bench, "executeFenced"));
      const hasBursts = bench.version >= "1.2" && (await hasMethod(bench, "configureExecutionBurst"));
      let judged = 0;
      for (const mutant of mutate(request, small.model)) {
        if (bench.version < "1.3" && mutant.request.pools.some(({ kind }) => kind === "token")) continue;
        judged++;
        await judge(preparedModel, hasFences, mutant);
        if (hasBursts && mutant.waitFor === undefined) await judgeInBurst(bench, preparedModel, mutant);
      }
      expectThat(judged > 0, () => "the kit breaks no request in this way");
      await runTrial(preparedModel, trialFor(small, inputs));
    },
  ),
);
