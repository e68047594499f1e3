/**
 * The device suites as tests, for the author of a backend: in vitest, or any test runner with a similar interface.
 */
import type { Unavailable } from "@nnhal/backend";
import { type Device, type HalVersion, halVersions } from "@nnhal/types";
import type { CaseResult } from "../result.ts";
import type { Need } from "./needs.ts";
import { type DeviceSuiteName, deviceSuiteNames, runDeviceSuites } from "./run.ts";

/** Defines a test, as vitest's `it` does. The time limit is in milliseconds. */
export type DefineTest = (name: string, run: () => Promise<void>, timeLimit: number) => unknown;

/** Options of defineConformanceTests. */
export interface ConformanceTestsOptions {
  /** Default: all. */
  readonly suites?: readonly DeviceSuiteName[] | undefined;
  /** The HAL versions through which the device is driven too, each not newer than its own. Default: all. */
  readonly versions?: readonly HalVersion[] | undefined;
  /**
   * The optional parts that the device lacks. A test fails if a case is unsupported for another part, so that every
   * unproven case is written down. Limits of HAL versions need not be listed. Default: none.
   */
  readonly lacks?: readonly Need[] | undefined;
}

/** The time limit of a test, in milliseconds. */
const timeLimit = 120_000;

/**
 * Defines a test for each device suite, on the device as it is and through each HAL version. A failed test reports the
 * names and reasons of its failed cases. The device is opened once, by the first test.
 */
export function defineConformanceTests(
  test: DefineTest,
  open: () => Device | Unavailable | Promise<Device | Unavailable>,
  { suites = deviceSuiteNames, versions = halVersions, lacks = [] }: ConformanceTestsOptions = {},
): void {
  let opened: Promise<Device> | undefined;
  const device = () => {
    opened ??= openDevice(open);
    return opened;
  };
  for (const version of [undefined, ...versions]) {
    for (const suite of suites) {
      const through = version === undefined ? "" : ` through HAL ${version}`;
      test(
        `conformance: ${suite}${through}`,
        async () => {
          const options = { suites: [suite], ...(version !== undefined && { version }) };
          const results: CaseResult[] = [];
          for await (const result of runDeviceSuites(await device(), options)) results.push(result);
          const problems = problemsOf(results, lacks);
          if (problems.length > 0) throw new Error(problems.join("\n"));
        },
        timeLimit,
      );
    }
  }
}

async function openDevice(open: Parameters<typeof defineConformanceTests>[1]): Promise<Device> {
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
    (cause?.kind === "need" && lacks.includes(cause.need));
  const unexpected = new Set(results.filter((result) => !isExpected(result)).map(({ reason }) => reason));
  return [
    ...(failures.length > 0 ? [`${failures.length} of ${results.length} cases failed`] : []),
    ...lines,
    ...[...unexpected].map((reason) => `unsupported, and not in \`lacks\`: ${reason}`),
  ];
}
