/** The import of models with state. A bundle for a browser has stateful.browser.ts in place of this file: see package.json. */
import { createStatefulProgram } from "./program-stateful.ts";

/** Returns what makes the program of a model with resources. */
export const statefulProgram = () => createStatefulProgram;
