/**
 * SLICE for all types; begin and size may be 64-bit.
 */
import { movesComplex } from "../_complex.ts";
import { indexTypes } from "../_integers.ts";
import { realTypes } from "../_types.ts";
import { wider } from "../_wider.ts";

export const slice = movesComplex(
  wider("SLICE", {
    from: "TENSOR_FLOAT32",
    types: realTypes,
    integers: { names: ["begin", "size"], types: indexTypes },
  }),
);
