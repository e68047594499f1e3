/**
 * GREATER of 16-bit and 64-bit integers.
 */
import { comparison } from "./_comparison.ts";

export const greater = comparison("GREATER", (order) => order > 0);
