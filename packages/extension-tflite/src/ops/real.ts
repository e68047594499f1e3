/**
 * REAL: the real part of complex numbers.
 */
import { realOfComplex } from "./_complex.ts";

export const real = realOfComplex("REAL", 1134, "The real part of x.", (part) => part);
