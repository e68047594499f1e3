/**
 * LESS_EQUAL of 16-bit and 64-bit integers.
 */
import { comparison } from "./_comparison.ts";

export const lessEqual = comparison("LESS_EQUAL", (order) => order <= 0);
