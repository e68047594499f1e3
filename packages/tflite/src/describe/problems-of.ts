/** Places of an imported model as problems of its file: a module of its own, since few programs need it. */
import { quote, type TfliteProblem } from "../error.ts";
import type { ImportedModel } from "../import/imported-model.ts";
import { operatorWhere } from "../import/lowering/place.ts";
import type { ImportOptions } from "../import/options.ts";
import type { TfliteModel } from "../model.ts";
import type { BrokenRule } from "./broken-rules.ts";

/**
 * Places of an imported model, such as those of a rule that it breaks, as problems of its file: each is at the operator that it follows from, if
 * the file has that, with the names of tensors instead of places of operands. `options`: those of the import.
 */
export async function problemsOf(
  places: readonly BrokenRule[],
  imported: Pick<ImportedModel, "model" | "operators" | "operandNames" | "referenced">,
  file: TfliteModel,
  options?: Pick<ImportOptions, "signature">,
): Promise<readonly TfliteProblem[]> {
  return (await import("./broken-rules.ts")).problemsOf(
    { quoted: quote, operatorWhere },
    places,
    imported,
    file,
    options,
  );
}
