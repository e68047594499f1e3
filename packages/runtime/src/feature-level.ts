/** The feature level of the runtime (NNAPI: FeatureLevelCode). */
import { featureLevels, newestHalVersion } from "@nnhal/types";

/** Returns the newest feature level whose functions there are: that of AIDL 4, 1000008 (NNAPI: getRuntimeFeatureLevel). */
export function getRuntimeFeatureLevel(): number {
  return featureLevels[newestHalVersion];
}
