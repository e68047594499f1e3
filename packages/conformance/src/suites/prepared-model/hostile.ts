/**
 * Arguments of a prepared model's methods that are nothing of the kind: each gets a status, and the next request executes.
 */
import {
  ErrorStatus,
  type ExecuteOptions,
  type FmqDescriptor,
  type Outcome,
  type PreparedModel,
  type Request,
} from "@nnhal/types";
import { type Bench, needMethod, prepare, smallModel } from "../bench.ts";
import { mismatch } from "../check.ts";
import { runTrial, trialFor } from "../execution.ts";
import { asArgument, expectRefusal, type Hostile, hostileLists, hostileValues } from "../hostile.ts";
import { sampleValues } from "../small-models.ts";
import { casesOf, directly, type SuiteCase } from "../suite-case.ts";

interface Ready {
  readonly preparedModel: PreparedModel;
  readonly request: Request;
}

/** Calls a method with a hostile value, and checks the answer and the next call. */
async function answers(
  bench: Bench,
  call: string,
  run: (ready: Ready) => Promise<Outcome>,
  mayBeNone = false,
): Promise<void> {
  const small = await smallModel(bench);
  const preparedModel = await prepare(bench, small.model);
  const { request } = trialFor(small, [sampleValues(small.type, 6)]);
  const outcome = await run({ preparedModel, request });
  if (!mayBeNone || outcome.status !== ErrorStatus.NONE) expectRefusal(call, outcome);
  await runTrial(preparedModel, trialFor(small, [sampleValues(small.type, 6, 1)]));
}

/** executeFenced. Its end is waited for. */
async function executeToFence(
  bench: Bench,
  { preparedModel }: Ready,
  request: Request,
  hostile?: Hostile,
): Promise<Outcome> {
  await needMethod(bench, "executeFenced");
  const waitFor = hostile === undefined ? [] : asArgument<[]>(hostile);
  const launched = await preparedModel.executeFenced?.(request, waitFor);
  if (launched === undefined) mismatch("this prepared model has no fenced executions, but others of the device have");
  await launched.syncFence?.wait();
  return (await launched.callback?.getExecutionInfo()) ?? launched;
}

const parts = ["inputs", "outputs", "pools"] as const;

export const hostileCases: readonly SuiteCase[] = directly([
  ...casesOf(
    "hostile",
    "1.0",
    hostileValues,
    ({ what }) => `a request that is ${what} is refused`,
    async (bench, hostile) => {
      const request = asArgument<Request>(hostile);
      await answers(bench, `execute of ${hostile.what}`, ({ preparedModel }) => preparedModel.execute(request));
    },
  ),
  ...parts.flatMap((part) =>
    casesOf(
      "hostile",
      "1.0",
      hostileLists,
      ({ what }) => `a request whose ${part} are ${what} is refused`,
      (bench, hostile) =>
        answers(bench, `execute of a request whose ${part} are ${hostile.what}`, ({ preparedModel, request }) =>
          preparedModel.execute({ ...request, [part]: asArgument(hostile) }),
        ),
    ),
  ),
  ...casesOf(
    "hostile",
    "1.0",
    hostileValues,
    ({ what }) => `options of execute that are ${what} get a status`,
    (bench, hostile) =>
      answers(
        bench,
        `execute with options that are ${hostile.what}`,
        ({ preparedModel, request }) => preparedModel.execute(request, asArgument<ExecuteOptions>(hostile)),
        true,
      ),
  ),
  ...casesOf(
    "hostile",
    "1.3",
    hostileValues,
    ({ what }) => `a request for executeFenced that is ${what} is refused`,
    (bench, hostile) =>
      answers(bench, `executeFenced of ${hostile.what}`, (ready) =>
        executeToFence(bench, ready, asArgument<Request>(hostile)),
      ),
  ),
  ...casesOf(
    "hostile",
    "1.3",
    hostileLists.filter(({ what }) => what !== "an empty object"),
    ({ what }) => `fences that are ${what} are refused`,
    (bench, hostile) =>
      answers(bench, `executeFenced behind ${hostile.what}`, (ready) =>
        executeToFence(bench, ready, ready.request, hostile),
      ),
  ),
  ...casesOf(
    "hostile",
    "1.2",
    hostileValues,
    ({ what }) => `queues of a burst that are ${what} are refused`,
    async (bench, hostile) => {
      await needMethod(bench, "configureExecutionBurst");
      await answers(
        bench,
        `configureExecutionBurst with queues that are ${hostile.what}`,
        async ({ preparedModel }) => {
          const callback = { getMemories: () => ({ status: ErrorStatus.INVALID_ARGUMENT, buffers: [] }) };
          const result = await preparedModel.configureExecutionBurst?.(
            callback,
            asArgument<FmqDescriptor<"FmqRequestDatum">>(hostile),
            asArgument<FmqDescriptor<"FmqResultDatum">>(hostile),
          );
          bench.after(() => result?.context?.close?.());
          return result ?? mismatch("this prepared model has no bursts, but others of the device have");
        },
      );
    },
  ),
]);
