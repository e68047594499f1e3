/**
 * Runs vectors through a HAL version: the device is driven through its methods. Examples that the version cannot
 * express count as unsupported.
 */
import { asVersion, type LiftOptions, liftDevice } from "@nnhal/driver-core/versions";
import { canonicalHalVersion, type Device, type HalVersion, isAidl } from "@nnhal/types";
import { minimumVersion } from "@nnhal/validation";
import { operandNumberOfConsumers } from "./mutations/life-time.ts";
import { type MutationsOptions, originals, runMutations } from "./mutations/run.ts";
import type { CaseResult } from "./result.ts";
import type { Example } from "./vectors/example.ts";
import { modelOf } from "./vectors/model.ts";
import { runVectors, type VectorsOptions } from "./vectors/run.ts";
import { subjectOf } from "./vectors/subject.ts";
import type { VectorCase } from "./vectors/variant.ts";

/** Why mutants of these counts say nothing through AIDL. */
export const noConsumers = "AIDL has no counts of consumers";

/** Returns a device whose calls pass through the methods of a HAL version. */
export function deviceThrough(version: HalVersion, device: Device, options: LiftOptions = {}): Device {
  return liftDevice(device.name, asVersion[version](device), options);
}

/** The oldest HAL version that can express the model of a case. A case that has to fail needs the newest one. */
export function oldestVersion(vectorCase: VectorCase): HalVersion {
  return minimumVersion(modelOf(vectorCase), { mode: "runtime" }) ?? canonicalHalVersion;
}

/** Returns true if only a framework may have the model of a case: a WHILE has operands of unknown size, which drivers of AIDL do not get. */
export function isForFrameworks(vectorCase: VectorCase): boolean {
  const model = modelOf(vectorCase);
  return minimumVersion(model, { mode: "runtime" }) !== undefined && minimumVersion(model) === undefined;
}

/** Why a HAL version cannot express a case; undefined if it can. */
export function inexpressible(vectorCase: VectorCase, version: HalVersion): string | undefined {
  const least = oldestVersion(vectorCase);
  if (least > version) return `the model is of HAL ${least}`;
  if (isAidl(version) && isForFrameworks(vectorCase)) return "a WHILE has operands of unknown size";
  if (!vectorCase.unspecifiedOutputs || version >= "1.2") return undefined;
  return `that an execution finds shapes is of HAL 1.2`;
}

/**
 * As `runVectors`, through a HAL version. Cases that the version cannot express come last: one result for each
 * operation and reason.
 */
export async function* runVectorsThrough(
  version: HalVersion,
  device: Device,
  examples: Iterable<Example> | AsyncIterable<Example>,
  { filter, ...options }: VectorsOptions = {},
): AsyncGenerator<CaseResult> {
  const { isExpressible, left } = keepExpressible(version, filter);
  yield* runVectors(deviceThrough(version, device), examples, { ...options, filter: isExpressible });
  yield* left.values();
}

/**
 * As `runMutations`, through a HAL version. Mutants of what the version does not have are skipped. Examples that it cannot express come last: one
 * result for each operation and reason.
 */
export async function* runMutationsThrough(
  version: HalVersion,
  device: Device,
  examples: Iterable<Example> | AsyncIterable<Example>,
  { filter, ...options }: MutationsOptions = {},
): AsyncGenerator<CaseResult> {
  const { isExpressible, left } = keepExpressible(version, filter);
  const exempt: MutationsOptions["exempt"] = (mutation, mutant) => {
    if (isAidl(version)) return mutation === operandNumberOfConsumers.name ? noConsumers : undefined;
    const hasToken = "request" in mutant && mutant.request.pools.some(({ kind }) => kind === "token");
    return hasToken && version < "1.3" ? "a pool given by token is of HAL 1.3" : undefined;
  };
  yield* runMutations(deviceThrough(version, device), examples, { ...options, exempt, filter: isExpressible });
  for (const result of left.values()) yield { ...result, subject: originals };
}

/** A filter of cases that a version can express, and the results of those that it has left out. */
function keepExpressible(version: HalVersion, filter: (vectorCase: VectorCase) => boolean = () => true) {
  const left = new Map<string, CaseResult & { readonly count: number }>();
  const isExpressible = (vectorCase: VectorCase) => {
    if (!filter(vectorCase)) return false;
    const why = inexpressible(vectorCase, version);
    if (why === undefined) return true;
    const subject = subjectOf(vectorCase.example);
    const reason = `${why}, and the device is driven through HAL ${version}`;
    const name = `${subject}: ${reason}`;
    left.set(name, { name, subject, verdict: "unsupported", reason, count: (left.get(name)?.count ?? 0) + 1 });
    return false;
  };
  return { isExpressible, left };
}
