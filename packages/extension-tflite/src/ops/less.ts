/**
 * LESS of 8-bit, 16-bit and 64-bit elements.
 */
import { comparison } from "./_comparison.ts";

export const less = comparison("LESS", (order) => order < 0);
