/**
 * The oldest HAL version that a model fits, and the parts that need it. Both follow from validation: a model is valid at a version
 * exactly if it is valid at any version, its minimum version is not newer, and AIDL has its codes where the version is one of AIDL.
 */
import { type HalVersion, halVersions, type Model } from "@nnhal/types";
import type { VersionRequirement } from "./context.ts";
import { collectIssues } from "./issues.ts";
import { checkModel, type ModelValidationOptions } from "./model.ts";

/** Options for finding a model's minimum version. */
export type MinimumVersionOptions = Pick<ModelValidationOptions, "mode" | "extensions">;

/** The parts of a model that need more than HAL 1.0; undefined if the model is not valid at any version. */
export function versionRequirements(
  model: Model,
  { mode, extensions }: MinimumVersionOptions = {},
): readonly VersionRequirement[] | undefined {
  const requirements: VersionRequirement[] = [];
  const options = { version: halVersions[0], ...(mode && { mode }), ...(extensions && { extensions }) };
  const issues = collectIssues("model", 1, (list) => checkModel(model, options, list, requirements));
  return issues.length === 0 ? requirements : undefined;
}

/** The oldest HAL version that a model fits; undefined if the model is not valid at any version. */
export function minimumVersion(model: Model, options: MinimumVersionOptions = {}): HalVersion | undefined {
  const requirements = versionRequirements(model, options);
  if (requirements === undefined) return undefined;
  let least: HalVersion = halVersions[0];
  for (const { version } of requirements) if (version > least) least = version;
  return least;
}
