/** The device suites: the checks of Android's VTS on a driver, except those of its results, on the kit's models. */

import { asVersion } from "@nnhal/driver-core/versions";
import { type Device, type HalVersion, isAidl } from "@nnhal/types";
import { attempt } from "../attempt.ts";
import type { OnStart } from "../isolated.ts";
import { Unsupported } from "../needs.ts";
import type { CaseResult } from "../result.ts";
import { deviceThrough } from "../versions.ts";
import { aidlCases } from "./aidl/cases.ts";
import { aidlGaps } from "./aidl-gaps.ts";
import { type Bench, type BenchOptions, defaultCallLimit, type SetUp, setUpBench } from "./bench.ts";
import { burstCases } from "./burst/cases.ts";
import { cachingCases } from "./caching/cases.ts";
import { Mismatch } from "./check.ts";
import type { Watch } from "./contract/watch.ts";
import { deviceCases } from "./device/cases.ts";
import { fencedCases } from "./fenced/cases.ts";
import { memoryCases } from "./memory/cases.ts";
import { preparedModelCases } from "./prepared-model/cases.ts";
import { qosCases } from "./qos/cases.ts";
import type { SuiteCase } from "./suite-case.ts";
import { makeMemoryBy } from "./values.ts";

/** A device suite. */
interface DeviceSuite {
  readonly says: string;
  readonly cases: readonly SuiteCase[];
}

/** The device suites by name, in the order in which they run. */
const suites = {
  device: {
    says: "what a device says of itself, the models it takes and refuses, and how preparations are launched",
    cases: deviceCases,
  },
  "prepared-model": {
    says: "executions: results, shapes, durations, wrong requests, many at once, closing",
    cases: preparedModelCases,
  },
  memory: { says: "memory that the device allocates: allocating, copying, executing", cases: memoryCases },
  caching: { says: "prepared models kept in files, and files that were tampered with", cases: cachingCases },
  burst: { says: "bursts: the queues, packets of every malformed kind, memory slots", cases: burstCases },
  fenced: { says: "executions behind fences", cases: fencedCases },
  aidl: {
    says: "the interfaces of Android 12 to 14: configurations, padding, names of memories in bursts, hints, wrong models and requests",
    cases: aidlCases,
  },
  qos: { says: "priorities, deadlines and the time that a loop may take", cases: qosCases },
} as const satisfies Readonly<Record<string, DeviceSuite>>;

/** The name of a device suite. */
export type DeviceSuiteName = keyof typeof suites;

/** The device suites, in the order in which they run. */
export const deviceSuiteNames: readonly DeviceSuiteName[] = Object.keys(suites).filter(isDeviceSuiteName);

/** Returns true if a name is that of a device suite. */
export function isDeviceSuiteName(name: string): name is DeviceSuiteName {
  return Object.hasOwn(suites, name);
}

/** The subject of a device suite, in a few words. */
export function describeDeviceSuite(name: DeviceSuiteName): string {
  return suites[name].says;
}

/** The names of the cases of some suites, in the order in which they run. */
export function listDeviceCases(names: readonly DeviceSuiteName[] = deviceSuiteNames): string[] {
  return names.flatMap((name) => suites[name].cases.map((suiteCase) => nameOf(name, suiteCase)));
}

function nameOf(suite: DeviceSuiteName, { group, name }: SuiteCase): string {
  return `${suite}/${group}: ${name}`;
}

/** Options of runDeviceSuites. */
export interface DeviceSuiteOptions extends Omit<BenchOptions, "version"> {
  /**
   * The HAL version through whose methods the device is driven: as a driver of that version, lifted again. Default: the device is driven as
   * it is.
   */
  readonly version?: HalVersion | undefined;
  /** Default: all. */
  readonly suites?: readonly DeviceSuiteName[] | undefined;
  /** Selects the cases to run by their names. Others are not counted. Default: all. */
  readonly filter?: ((name: string) => boolean) | undefined;
  /** Milliseconds after which a case has failed. Default 20 000. Closing the case's objects has the same limit. */
  readonly timeLimit?: number | undefined;
  /** The number of cases to leave out at the beginning. Default 0. */
  readonly skip?: number | undefined;
  readonly onStart?: OnStart | undefined;
}

/**
 * Runs device suites, case after case. A result is named `suite/group: case`; its subject is `suite/group`. Cases that
 * the HAL version cannot express are unsupported. Throws RangeError for a version that the device does not have.
 */
export async function* runDeviceSuites(device: Device, options: DeviceSuiteOptions = {}): AsyncGenerator<CaseResult> {
  const { suites: names = deviceSuiteNames, filter = () => true, timeLimit = 20_000, skip = 0, onStart } = options;
  // A call that takes too long is named by its own limit, before the case reaches its.
  const callLimit = options.callLimit ?? Math.min(defaultCallLimit, timeLimit / 2);
  const { version, ...others } = options;
  const aidl = version !== undefined && isAidl(version) ? version : undefined;
  const setUp =
    version === undefined || isAidl(version)
      ? setUpBench(aidl === undefined ? device : deviceThrough(aidl, device), {
          ...(aidl !== undefined && { aidl: asVersion[aidl](device) }),
          ...others,
          callLimit,
        })
      : setUpBench(device, { ...others, callLimit, version });
  // A device behind an interface of AIDL is a device of TypeScript again, whose methods get any value.
  const isDirect = (version === undefined || aidl !== undefined) && options.driver === undefined;
  let toSkip = skip;
  for (const suite of names) {
    for (const suiteCase of suites[suite].cases) {
      const subject = `${suite}/${suiteCase.group}`;
      const start = { name: nameOf(suite, suiteCase), subject };
      if (!filter(start.name) || toSkip-- > 0) continue;
      await onStart?.(start);
      const gap = aidl === undefined ? undefined : aidlGaps.find((one) => one.name.test(start.name));
      if (gap !== undefined) {
        yield { ...start, ...judgeUnsupported(gap.reason) };
        continue;
      }
      yield { ...start, ...(await runCase(suiteCase, setUp, timeLimit, isDirect)) };
    }
  }
}

type Judgement = Pick<CaseResult, "verdict" | "reason" | "cause">;

/** The judgement of a case that the HAL version that the device is driven through cannot express. */
function judgeUnsupported(reason: string): Judgement {
  return { verdict: "unsupported", reason, cause: { kind: "halVersion" } };
}

async function runCase(
  suiteCase: SuiteCase,
  setUp: SetUp,
  timeLimit: number,
  isDirect: boolean,
): Promise<Omit<CaseResult, "name" | "subject">> {
  const { watch } = setUp;
  const version = isAidl(suiteCase.since) ? (setUp.aidl?.version ?? setUp.version) : setUp.version;
  if (suiteCase.since > version) return judgeUnsupported(describeMissing(version, suiteCase.since));
  if (suiteCase.isDirect && !isDirect) return judgeUnsupported(inexpressibleIn(version));
  const actions: (() => unknown)[] = [];
  const told: string[] = [];
  const bench: Bench = {
    ...setUp,
    after: (action) => actions.push(action),
    tell: (measured) => told.push(measured),
  };
  makeMemoryBy(setUp.createMemory);
  watch.begin();
  const outcome = await attempt(timeLimit, () => judge(suiteCase, bench), watch.timer);
  const judgement: Judgement = "value" in outcome ? outcome.value : { verdict: "failed", reason: outcome.problem };
  const before = watch.breach();
  const closed = await attempt(timeLimit, () => closeAll(actions, watch), watch.timer);
  const isLost = "isLate" in outcome || "isLate" in closed || watch.isLate();
  const measured = told.length > 0 ? { measured: told.join("; ") } : {};
  const failed = { verdict: "failed", ...measured, ...(isLost && ({ isLost } as const)) } as const;
  if (before !== undefined) return { ...failed, reason: before };
  const problem = watch.breach() ?? ("problem" in closed ? closed.problem : closed.value);
  if (judgement.verdict === "failed") return { ...judgement, ...failed };
  if (problem === undefined) return { ...judgement, ...measured };
  return { ...failed, reason: `closing what the case made: ${problem}` };
}

/** Closes the objects of a case, in the reverse order of their creation. Returns the first problem. */
async function closeAll(actions: (() => unknown)[], watch: Watch): Promise<string | undefined> {
  let problem: string | undefined;
  for (let action = actions.pop(); action !== undefined; action = actions.pop()) {
    const closing = action;
    const closed = await attempt(watch.callLimit, async () => void (await closing()), watch.timer);
    if ("problem" in closed) problem ??= closed.problem;
  }
  await watch.settle();
  return problem;
}

/** Why a case of a newer version proves nothing. */
function describeMissing(version: HalVersion, since: HalVersion): string {
  return `of HAL ${since}, and the device is driven through HAL ${version}`;
}

/** Why a case that calls the device in ways that no HAL version has proves nothing. */
function inexpressibleIn(version: HalVersion): string {
  return `not expressible in a HAL version, and the device is driven through HAL ${version}`;
}

async function judge(suiteCase: SuiteCase, bench: Bench): Promise<Judgement> {
  try {
    await suiteCase.run(bench);
    return { verdict: "passed" };
  } catch (error) {
    if (error instanceof Mismatch) return { verdict: "failed", reason: error.message };
    if (error instanceof Unsupported) {
      return { verdict: "unsupported", reason: error.message, cause: { kind: "need", need: error.need } };
    }
    throw error;
  }
}
