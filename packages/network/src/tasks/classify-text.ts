/**
 * Classification of texts: the best classes.
 */
import type { Model } from "../model.ts";
import { checkOptions, wrapErrors } from "../options.ts";
import type { ScoredClass } from "../scores.ts";
import { type ClassifyOptions, classify, classifyOptions } from "./classify.ts";
import { checkModel } from "./roles.ts";

/** Options of classifying a text. */
export type ClassifyTextOptions = ClassifyOptions;

/**
 * The best classes of a text, best first. The model takes strings, or comes with a tokeniser that TFLite Metadata name: WordPiece (BERT),
 * SentencePiece, or a regular expression with a vocabulary. What is longer than the input is cut off. Rejects with a NetworkError: WRONG_TASK for
 * a model that takes no text, NOT_A_TOKENIZER for a tokeniser that is broken, WRONG_SIZE for more than 4,194,304 UTF-16 units.
 */
export function classifyText(model: Model, text: string, options: ClassifyTextOptions = {}): Promise<ScoredClass[]> {
  return wrapErrors("classifyText", options, async () => {
    checkModel("classifyText", model);
    checkOptions("classifyText", options, classifyOptions);
    const { textInputs } = await import("../tokenize/text-inputs.ts");
    return classify(model, textInputs("classifyText", model.inputs, text), options);
  });
}
