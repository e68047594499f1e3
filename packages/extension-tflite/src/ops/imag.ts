/**
 * IMAG: the imaginary part of complex numbers.
 */
import { realOfComplex } from "./_complex.ts";

export const imag = realOfComplex("IMAG", 1133, "The imaginary part of x.", (_, part) => part);
