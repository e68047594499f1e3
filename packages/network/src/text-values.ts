/**
 * The elements of a text for programs that deal with files and bytes of tensors themselves.
 */
import { whenLoaded } from "@nnhal/operations";
import type { ImportedModel } from "@nnhal/tflite";
import { describeModel } from "./describe.ts";
import { encodePlain } from "./inputs.ts";
import type { ModelFile } from "./model-file.ts";
import type { Value } from "./session.ts";
import { textInputs } from "./tokenize/text-inputs.ts";

/**
 * The values of a model's inputs for a text, in their order without states, as `classifyText` makes them. Rejects with a NetworkError: WRONG_TASK for a model that takes no text.
 */
export async function textValues(file: ModelFile, imported: ImportedModel, text: string): Promise<readonly Value[]> {
  const { inputs } = await whenLoaded(() => describeModel(file, imported, []));
  const values = textInputs("text", inputs, text);
  // Each input has a value.
  return Promise.all(inputs.map((info) => encodePlain(values[info.name] ?? [], info, "the input")));
}
