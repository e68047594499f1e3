/**
 * Runs vectors through a HAL version: the device is driven through its methods. Examples that the version cannot
 * express count as unsupported.
 */
import { asVersion, type LiftOptions, liftDevice } from "@nnhal/driver-core/versions";
import { canonicalHalVersion, type Device, type HalVersion, isAidl } from "@nnhal/types";
import { minimumVersion } from "@nnhal/validation";
import type { CaseResult } from "./result.ts";
import type { Example } from "./vectors/example.ts";
import { modelOf } from "./vectors/model.ts";
import { runVectors, type VectorsOptions } from "./vectors/run.ts";
import { subjectOf } from "./vectors/subject.ts";
import type { VectorCase } from "./vectors/variant.ts";

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
  { filter = () => true, ...options }: VectorsOptions = {},
): AsyncGenerator<CaseResult> {
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
  yield* runVectors(deviceThrough(version, device), examples, { ...options, filter: isExpressible });
  yield* left.values();
}
