/**
 * TRANSPOSE for all types and ranks.
 */
import { movesComplex } from "../_complex.ts";
import { realTypes } from "../_types.ts";
import { wider } from "../_wider.ts";

export const transpose = movesComplex(
  wider("TRANSPOSE", {
    from: "TENSOR_FLOAT32",
    types: realTypes,
    ranks: { input: [1, Number.POSITIVE_INFINITY] },
  }),
);
