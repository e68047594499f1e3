/**
 * Deadlines that have passed, are close, or never come, for preparations and executions.
 */
import { elementAt } from "@nnhal/operations";
import { ErrorStatus, type PrepareResult } from "@nnhal/types";
import { prepare, smallModel, wayOf } from "../bench.ts";
import { expectExecution, expectStatus, expectThat } from "../check.ts";
import { executeMethods, launchExecute } from "../execute-launches.ts";
import { expectBy, trialFor } from "../execution.ts";
import { launchPrepare, onlyCall, prepareByLaunch, prepareMethods } from "../prepare-launches.ts";
import { sampleValues } from "../small-models.ts";
import { casesOf, type SuiteCase } from "../suite-case.ts";

const { NONE, MISSED_DEADLINE_TRANSIENT, MISSED_DEADLINE_PERSISTENT } = ErrorStatus;
const missed = [MISSED_DEADLINE_TRANSIENT, MISSED_DEADLINE_PERSISTENT] as const;

interface Deadline {
  readonly what: string;
  /** When the case begins at `now`. */
  at(now: bigint): bigint;
  readonly allowed: readonly ErrorStatus[];
}

const deadlines: readonly Deadline[] = [
  { what: "that has long passed", at: () => 0n, allowed: missed },
  { what: "of now", at: (now) => now, allowed: missed },
  { what: "in 5 ms", at: (now) => now + 5_000_000n, allowed: [NONE, ...missed] },
  { what: "in an hour", at: (now) => now + 3_600_000_000_000n, allowed: [NONE] },
  { what: "that never comes", at: () => (1n << 63n) - 1n, allowed: [NONE] },
  { what: "of 2^64 - 1", at: () => (1n << 64n) - 1n, allowed: [NONE] },
];

function expectSound({ preparedModel, ...outcome }: PrepareResult, allowed: readonly ErrorStatus[]): void {
  expectStatus("prepareModel", outcome, ...allowed);
  expectThat((preparedModel === null) === (outcome.status !== NONE), () => {
    return `prepareModel: ${preparedModel === null ? "no" : "a"} prepared model beside status ${outcome.status}`;
  });
}

const newestPrepare = elementAt(prepareMethods, prepareMethods.length - 1);
const newestExecute = elementAt(executeMethods, executeMethods.length - 1);

export const deadlineCases: readonly SuiteCase[] = [
  ...casesOf(
    "prepare",
    "1.3",
    deadlines,
    ({ what }) => `a deadline ${what}`,
    async (bench, { at, allowed }) => {
      const result = await bench.device.prepareModel((await smallModel(bench)).model, { deadline: at(bench.now()) });
      bench.after(() => result.preparedModel?.close());
      expectSound(result, allowed);
    },
  ),
  ...casesOf(
    "prepare",
    "1.3",
    deadlines,
    ({ what }) => `prepareModel_1_3 launches with a deadline ${what}: what comes of it is for the callback`,
    async (bench, { at, allowed }) => {
      const { name, notify } = newestPrepare;
      const launched = launchPrepare(bench, newestPrepare, (await smallModel(bench)).model, {
        deadline: at(bench.now()),
      });
      expectStatus(name, launched.outcome, NONE);
      const { status, preparedModel } = await onlyCall(bench, name, launched, notify);
      expectStatus(`${name}'s callback`, { status }, ...allowed);
      expectThat(
        (preparedModel === null) === (status !== NONE),
        () => `${name}: a prepared model beside an error, or none`,
      );
    },
  ),
  ...(["execute", "executeFenced"] as const).flatMap((name) =>
    casesOf(
      "execute",
      "1.3",
      deadlines,
      ({ what }) => `${name} with a deadline ${what}`,
      async (bench, { at, allowed }) => {
        const small = await smallModel(bench);
        const way = await wayOf(bench, name);
        const preparedModel = await prepare(bench, small.model, {}, way.device);
        const trial = trialFor(small, [sampleValues(small.type, 6)]);
        const { status } = await expectBy(way, preparedModel, trial.request, { deadline: at(bench.now()) }, ...allowed);
        if (status === NONE) trial.check(name);
      },
    ),
  ),
  ...casesOf(
    "execute",
    "1.3",
    deadlines,
    ({ what }) => `execute_1_3 launches with a deadline ${what}: what comes of it is for the callback`,
    async (bench, { at, allowed }) => {
      const small = await smallModel(bench);
      const preparedModel = await prepareByLaunch(bench, small.model);
      const trial = trialFor(small, [sampleValues(small.type, 6)]);
      const launched = launchExecute(newestExecute, preparedModel, trial.request, { deadline: at(bench.now()) });
      expectStatus(newestExecute.name, launched.outcome, NONE);
      const call = await onlyCall(bench, newestExecute.name, launched, newestExecute.notify);
      expectExecution(`${newestExecute.name}'s callback`, call, ...allowed);
      if (call.status === NONE) trial.check(newestExecute.name);
    },
  ),
];
