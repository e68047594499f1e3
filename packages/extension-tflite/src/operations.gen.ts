// Generated from the files in ops/ by `npm run generate`; do not edit.
import { transpose } from "./ops/transpose.ts";

/** Every operation, in the order of the names. */
export const operations = [
  transpose,
] as const;
