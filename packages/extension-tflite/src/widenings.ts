/**
 * Operations of the HAL that .tflite has for more types, more axes, or with operands that are computed, and that compute as the HAL's do: one
 * row each. Those with a kernel of their own are files in ops/.
 */
import { movesComplex } from "./_complex.ts";
import { anyRank } from "./_elementwise.ts";
import { indexTypes } from "./_integers.ts";
import { complexTypes, depthTypes, integerTypes, quantisedTypes, realTypes, splitTypes } from "./_types.ts";
import { wider } from "./_wider.ts";
import { comparison } from "./ops/_comparison.ts";
import { tfliteTypes } from "./types.ts";

const from = "TENSOR_FLOAT32";
const movedTypes = [...realTypes, ...complexTypes];
const scalars = [0, Number.POSITIVE_INFINITY] as const;
const int16 = { from: "TENSOR_QUANT8_ASYMM_SIGNED", types: ["TENSOR_QUANT16_SYMM"] } as const;

export const widenings = [
  wider("AVERAGE_POOL_2D", int16),
  wider("MAX_POOL_2D", int16),
  wider("DEPTH_TO_SPACE", { from, types: depthTypes }),
  wider("SPACE_TO_DEPTH", { from, types: depthTypes }),
  wider("EXPAND_DIMS", { from, types: movedTypes, integers: { names: ["axis"], types: indexTypes } }),
  wider("RESHAPE", { from, types: movedTypes, ranks: { input: scalars } }),
  wider("SQUEEZE", { from, types: movedTypes, ranks: { input: anyRank } }),
  wider("SPLIT", { from, types: splitTypes, integers: { names: ["axis"], types: ["TENSOR_INT32"] } }),
  movesComplex(wider("SLICE", { from, types: realTypes, integers: { names: ["begin", "size"], types: indexTypes } })),
  movesComplex(wider("TILE", { from, types: realTypes, integers: { names: ["multiples"], types: indexTypes } })),
  movesComplex(wider("TRANSPOSE", { from, types: realTypes, ranks: { input: anyRank } })),
  // A key that is not found yields zeros, which are empty strings.
  movesComplex(wider("HASHTABLE_LOOKUP", { from, types: [...realTypes, tfliteTypes.TENSOR_STRING] })),
  wider("L2_NORMALIZATION", {
    from,
    types: ["TENSOR_FLOAT32", "TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM_SIGNED"],
    ranks: { input: anyRank },
  }),
  // The bytes of elements are hashed. The rows with this type of the input, so that hashes and weights keep theirs.
  wider("LSH_PROJECTION", {
    from: "TENSOR_QUANT8_ASYMM",
    types: ["TENSOR_FLOAT32", tfliteTypes.TENSOR_FLOAT64, ...integerTypes, ...quantisedTypes, "TENSOR_BOOL8"],
  }),
  comparison("EQUAL", (order) => order === 0),
  comparison("NOT_EQUAL", (order) => order !== 0),
  comparison("GREATER", (order) => order > 0),
  comparison("GREATER_EQUAL", (order) => order >= 0),
  comparison("LESS", (order) => order < 0),
  comparison("LESS_EQUAL", (order) => order <= 0),
] as const;
