/**
 * TILE for all types; the multiples may be 64-bit.
 */
import { movesComplex } from "../_complex.ts";
import { indexTypes } from "../_integers.ts";
import { realTypes } from "../_types.ts";
import { wider } from "../_wider.ts";

export const tile = movesComplex(
  wider("TILE", {
    from: "TENSOR_FLOAT32",
    types: realTypes,
    integers: { names: ["multiples"], types: indexTypes },
  }),
);
