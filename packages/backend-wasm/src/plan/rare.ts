/** Lowerings of operations that few networks have: see `deferred.ts`. */
import { detections } from "./detection.ts";
import type { LoweringTable } from "./lowering.ts";
import { matrices } from "./matrices.ts";
import { quantisedLstms } from "./quantised-lstm.ts";
import { rearrangements } from "./rearrangement.ts";
import { regions } from "./regions.ts";

/** The lowerings. */
export const rare: LoweringTable = { ...detections, ...matrices, ...quantisedLstms, ...rearrangements, ...regions };
