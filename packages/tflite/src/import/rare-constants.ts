/** The import of constants that few models have: packed and sparse ones, those that are widened, and inputs without elements. */
export { emptyEntry } from "./empty-inputs.ts";
export { createExpander } from "./stored.ts";
