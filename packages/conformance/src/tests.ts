/**
 * The device suites as tests, for the author of a backend: in vitest, or any test runner with a similar interface.
 */
import type { Unavailable } from "@nnhal/backend";
import { type Device, type HalVersion, hidlVersions } from "@nnhal/types";
import { runArithmetic } from "./arithmetic/run.ts";
import { runGraphs } from "./graphs/run.ts";
import type { CaseStart } from "./isolated.ts";
import { runModule } from "./module/run-module.ts";
import type { OwnSuiteName } from "./module/serve-module.ts";
import type { Need } from "./needs.ts";
import type { CaseResult } from "./result.ts";
import { deviceSuiteNames, isDeviceSuiteName, runDeviceSuites } from "./suites/run.ts";
import { watchThread } from "./suites/watch-thread.ts";

/** Defines a test, as vitest's `it` does. The time limit is in milliseconds. */
export type DefineTest = (name: string, run: () => Promise<void>, timeLimit: number) => unknown;

/** Options of defineConformanceTests. */
export interface ConformanceTestsOptions {
  /** Default: the device suites. `arithmetic` takes about a minute, `graphs` half of one. */
  readonly suites?: readonly OwnSuiteName[] | undefined;
  /** The HAL versions through which the device is driven too, those of HIDL not newer than its own. Default: those of HIDL. */
  readonly versions?: readonly HalVersion[] | undefined;
  /**
   * The optional parts that the device lacks. A test fails if a case is unsupported for another part, so that every
   * unproven case is written down. Limits of HAL versions need not be listed. If all device suites run, one more test fails if the list has
   * a part that no case lacks. Default: none.
   */
  readonly lacks?: readonly Need[] | undefined;
  /**
   * Milliseconds for which a driver in the process of the tests may block its thread. After that the process ends, with the name of the
   * device and the case on stderr: nothing else ends such code. Infinity: never, as for breakpoints. Default 60 000.
   */
  readonly mostBlocked?: number | undefined;
}

/** The time limit of a test, in milliseconds. */
const timeLimit = 120_000;
/** The same in a separate process, where each case can take its time: a driver that blocks in each of them ends within this. */
const moduleTimeLimit = 3_600_000;

/**
 * Defines a test for each suite, on the device as it is, and for each device suite through each HAL version. A failed test
 * reports the names and reasons of its failed cases.
 *
 * The device is what `open` returns, once, for the first test; it runs in the process of the tests, which ends if it blocks the
 * thread for longer than `mostBlocked`. Or `open` is the URL of a module that exports `backend` or `openDevice`: then each
 * suite runs in a separate process, and a driver that blocks, ends its process or crashes fails the case alone, and the other
 * cases run on.
 */
export function defineConformanceTests(
  test: DefineTest,
  open: Opener | URL,
  {
    suites = deviceSuiteNames,
    versions = hidlVersions,
    lacks = [],
    mostBlocked = 60_000,
  }: ConformanceTestsOptions = {},
): void {
  let opened: Promise<Device> | undefined;
  const device = (opener: Opener) => {
    opened ??= openDevice(opener);
    return opened;
  };
  async function* runHere(opener: Opener, suite: OwnSuiteName, version: HalVersion | undefined) {
    const own = await device(opener);
    const watch = watchThread(mostBlocked);
    const onStart = ({ name }: CaseStart) => watch.begin(`${own.name}: ${name}`);
    watch.begin(own.name);
    try {
      if (suite === "arithmetic") yield* runArithmetic(own, { onStart });
      else if (suite === "graphs") yield* runGraphs(own, { onStart });
      else yield* runDeviceSuites(own, { suites: [suite], onStart, ...(version !== undefined && { version }) });
    } finally {
      await watch.close();
    }
  }
  const ways = [undefined, ...versions].flatMap((version) =>
    suites
      .filter((suite) => isDeviceSuiteName(suite) || version === undefined)
      .map((suite) => {
        let results: Promise<readonly CaseResult[]> | undefined;
        const run = () => {
          results = all(open instanceof URL ? runModule(open, suite, { version }) : runHere(open, suite, version));
          return results;
        };
        return { suite, version, run, results: () => results ?? run() };
      }),
  );
  for (const { suite, version, run } of ways) {
    const through = version === undefined ? "" : ` through HAL ${version}`;
    test(
      `conformance: ${suite}${through}`,
      async () => failWith(problemsOf(await run(), lacks)),
      open instanceof URL ? moduleTimeLimit : isDeviceSuiteName(suite) ? timeLimit : 5 * timeLimit,
    );
  }
  // A missing feature may only show in one of the suites.
  if (lacks.length === 0 || !deviceSuiteNames.every((name) => suites.includes(name))) return;
  const ofDevices = ways.filter(({ suite }) => isDeviceSuiteName(suite));
  test(
    "conformance: the device lacks what `lacks` has",
    async () => {
      let stale = lacks;
      // Suites that have run are not run again, and those that have not, by a filter of names, only as long as a part has not been lacked.
      for (const way of ofDevices) {
        if (stale.length === 0) return;
        stale = notLackedIn(stale, await way.results());
      }
      failWith(stale.map((need) => `\`lacks\` has "${need}", but no case lacked it: remove it from the list`));
    },
    open instanceof URL ? moduleTimeLimit : ofDevices.length * timeLimit,
  );
}

async function all(results: AsyncIterable<CaseResult>): Promise<readonly CaseResult[]> {
  const list: CaseResult[] = [];
  for await (const result of results) list.push(result);
  return list;
}

function failWith(problems: readonly string[]): void {
  if (problems.length > 0) throw new Error(problems.join("\n"));
}

type Opener = () => Device | Unavailable | Promise<Device | Unavailable>;

async function openDevice(open: Opener): Promise<Device> {
  const device = await open();
  if ("unavailable" in device) throw new Error(`the device is not available: ${device.unavailable}`);
  return device;
}

function problemsOf(results: readonly CaseResult[], lacks: readonly Need[]): string[] {
  const failures = results.filter(({ verdict }) => verdict === "failed");
  const lines = failures.map(({ name, reason }) => `${name}\n    ${reason}`);
  const isExpected = ({ verdict, cause }: CaseResult) =>
    verdict === "passed" ||
    verdict === "failed" ||
    cause?.kind === "halVersion" ||
    // Of an example: the device need not have every operation and type.
    (verdict === "unsupported" && cause === undefined) ||
    (cause?.kind === "need" && lacks.includes(cause.need));
  const unexpected = new Set(results.filter((result) => !isExpected(result)).map(({ reason }) => reason));
  return [
    ...(failures.length > 0 ? [`${failures.length} of ${results.length} cases failed`] : []),
    ...lines,
    ...[...unexpected].map((reason) => `unsupported, and not in \`lacks\`: ${reason}`),
  ];
}

/** Those of the parts that no case lacked. */
function notLackedIn(parts: readonly Need[], results: readonly CaseResult[]): readonly Need[] {
  const needs = new Set(results.map(({ cause }) => (cause?.kind === "need" ? cause.need : undefined)));
  return parts.filter((need) => !needs.has(need));
}
