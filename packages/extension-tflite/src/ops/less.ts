/**
 * LESS of 16-bit and 64-bit integers.
 */
import { comparison } from "./_comparison.ts";

export const less = comparison("LESS", (order) => order < 0);
