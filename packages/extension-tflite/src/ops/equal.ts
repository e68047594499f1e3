/**
 * EQUAL of 8-bit, 16-bit and 64-bit elements.
 */
import { comparison } from "./_comparison.ts";

export const equal = comparison("EQUAL", (order) => order === 0);
