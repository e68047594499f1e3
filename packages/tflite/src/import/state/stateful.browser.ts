/** The import of models with state in a browser: few models have any, so it is loaded when one does. */
import { byNeed } from "@nnhal/operations";

/** Returns what makes the program of a model with resources. Throws a NotLoadedError if it is not loaded. */
export const statefulProgram = byNeed("the import of models with state", async () => {
  const { createStatefulProgram } = await import("./program-stateful.ts");
  return createStatefulProgram;
});
