/** Lowerings of operations that few networks have: see `deferred.ts`. */
import { detections } from "./detection.ts";
import type { LoweringTable } from "./lowering.ts";
import { lstms } from "./lstm.ts";
import { matrices } from "./matrices.ts";
import { normalisations } from "./normalisation.ts";
import { quantisedLstms } from "./quantised-lstm.ts";
import { rearrangements } from "./rearrangement.ts";
import { regions } from "./regions.ts";
import { rnns } from "./rnn.ts";
import { searches } from "./search.ts";
import { addTransposed } from "./transposed.ts";

export { divideSteps } from "./divide.ts";
export { foldOperation } from "./folded.ts";

/** The lowerings. */
export const rare: LoweringTable = {
  ...detections,
  ...lstms,
  ...matrices,
  ...normalisations,
  ...quantisedLstms,
  ...rearrangements,
  ...regions,
  ...rnns,
  ...searches,
  TRANSPOSE_CONV_2D: addTransposed,
};
