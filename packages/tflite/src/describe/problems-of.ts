/** Places of an imported model as problems of its file: a module of its own, since few programs need it. */
import type { problemsOf as find } from "./broken-rules.ts";

/**
 * Places of an imported model, such as those of a rule that it breaks, as problems of its file: each is at the operator that it follows from, if the entry of the model has that, with the names of tensors instead of places of operands. `options`: those of the import.
 */
export async function problemsOf(...given: Parameters<typeof find>): Promise<ReturnType<typeof find>> {
  return (await import("./broken-rules.ts")).problemsOf(...given);
}
