/**
 * Operations of the HAL that .tflite has for more types, more axes, or with operands that are computed, and that compute as the HAL's do: one
 * row each. Those with a kernel of their own are files in ops/.
 */

import { tfliteTypes } from "../tflite-types.ts";
import { movesComplex } from "./_complex.tflite.ts";
import { anyRank } from "./_elementwise.tflite.ts";
import { indexTypes } from "./_integers.tflite.ts";
import { complexTypes, depthTypes, integerTypes, quantisedTypes, realTypes, splitTypes } from "./_types.tflite.ts";
import { wider } from "./_wider.tflite.ts";
import { averagePool2d } from "./average-pool-2d.ts";
import { depthToSpace } from "./depth-to-space.ts";
import { expandDims } from "./expand-dims.ts";
import { hashtableLookup } from "./hashtable-lookup.ts";
import { l2Normalization } from "./l2-normalization.ts";
import { lshProjection } from "./lsh-projection.ts";
import { maxPool2d } from "./max-pool-2d.ts";
import { reshape } from "./reshape.ts";
import { slice } from "./slice.ts";
import { spaceToDepth } from "./space-to-depth.ts";
import { split } from "./split.ts";
import { squeeze } from "./squeeze.ts";
import { tile } from "./tile.ts";
import { transpose } from "./transpose.ts";

const from = "TENSOR_FLOAT32";
const movedTypes = [...realTypes, ...complexTypes];
const scalars = [0, Number.POSITIVE_INFINITY] as const;
const int16 = { from: "TENSOR_QUANT8_ASYMM_SIGNED", types: ["TENSOR_QUANT16_SYMM"] } as const;

export const widenings = [
  wider(averagePool2d, int16),
  wider(maxPool2d, int16),
  wider(depthToSpace, { from, types: depthTypes }),
  wider(spaceToDepth, { from, types: depthTypes }),
  wider(expandDims, { from, types: movedTypes, integers: { names: ["axis"], types: indexTypes } }),
  wider(reshape, { from, types: movedTypes, ranks: { input: scalars } }),
  wider(squeeze, { from, types: movedTypes, ranks: { input: anyRank } }),
  wider(split, { from, types: splitTypes, integers: { names: ["axis"], types: ["TENSOR_INT32"] } }),
  movesComplex(wider(slice, { from, types: realTypes, integers: { names: ["begin", "size"], types: indexTypes } })),
  movesComplex(wider(tile, { from, types: realTypes, integers: { names: ["multiples"], types: indexTypes } })),
  movesComplex(wider(transpose, { from, types: realTypes, ranks: { input: anyRank } })),
  // A key that is not found yields zeros, which are empty strings.
  movesComplex(wider(hashtableLookup, { from, types: [...realTypes, tfliteTypes.TENSOR_STRING] })),
  wider(l2Normalization, {
    from,
    types: ["TENSOR_FLOAT32", "TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM_SIGNED"],
    ranks: { input: anyRank },
  }),
  // The bytes of elements are hashed. The rows with this type of the input, so that hashes and weights keep theirs.
  wider(lshProjection, {
    from: "TENSOR_QUANT8_ASYMM",
    types: ["TENSOR_FLOAT32", tfliteTypes.TENSOR_FLOAT64, ...integerTypes, ...quantisedTypes, "TENSOR_BOOL8"],
  }),
] as const;
