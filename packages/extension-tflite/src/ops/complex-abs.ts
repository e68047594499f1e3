/**
 * COMPLEX_ABS: the magnitude of complex numbers.
 */
import { realOfComplex } from "./_complex.ts";

export const complexAbs = realOfComplex("COMPLEX_ABS", 1135, "The magnitude of x.", Math.hypot);
