/**
 * Classification of a picture or of any other input: the best classes.
 */
import type { OptionNames } from "@nnhal/operations";
import { check } from "../error.ts";
import type { Model } from "../model.ts";
import { checkOptions, wrapErrors } from "../options.ts";
import type { Source } from "../read.ts";
import { outputNamed } from "../results.ts";
import type { Inputs } from "../run-inputs.ts";
import { checkLabels, type ScoredClass, top } from "../scores.ts";
import { findByName, infoText } from "../tensor-info.ts";
import { inputsOf } from "./picture-input.ts";
import { checkModel } from "./roles.ts";

/** Options of classifying. */
export interface ClassifyOptions {
  /** Number of classes. Default: 5. */
  readonly top?: number | undefined;
  /** Names of the classes. Default: those that are packed with the model. */
  readonly labels?: readonly string[] | undefined;
  /** The name of the output with the scores. Default: the only one with a number for each class. */
  readonly output?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The names of the options. */
export const classifyOptions: OptionNames<ClassifyOptions> = {
  top: true,
  labels: true,
  output: true,
  signal: true,
};

/** The best classes of a picture (a path, URL, Blob or bytes of one, too) or of any other input, best first. Scores are those of the model: most models give shares of 1. */
export function classify(model: Model, inputs: Inputs | Source, options: ClassifyOptions = {}): Promise<ScoredClass[]> {
  return wrapErrors("classify", options, () => classifyInputs(model, inputs, options));
}

async function classifyInputs(model: Model, inputs: Inputs | Source, options: ClassifyOptions): Promise<ScoredClass[]> {
  checkModel("classify", model);
  checkOptions("classify", options, classifyOptions);
  checkLabels("classify", options.labels);
  const { top: count = 5, labels, output = "scores", signal } = options;
  if (options.output === undefined) refuseDetector(model);
  const outputs = await model.run(await inputsOf(model, inputs, signal), { signal });
  const scores = outputNamed(outputs, output);
  check(scores !== undefined, "WRONG_NAME", () => {
    const list = model.outputs.map(infoText).join(", ");
    return `classify: there is no output "${output}"; there are: ${list}`;
  });
  return top(scores, count, labels);
}

/** Throws WRONG_TASK for a detector: its scores are those of things, not of classes. */
function refuseDetector({ outputs }: Pick<Model, "outputs">): void {
  const scores = findByName(outputs, "scores");
  const boxes = outputs.find(
    ({ shape }) => shape.at(-1) === 4 && shape.length > 1 && shape.at(-2) === scores?.shape.at(-1),
  );
  check(scores === undefined || boxes === undefined, "WRONG_TASK", () => {
    const found = [scores, boxes].flatMap((info) => info ?? []).map(infoText);
    return `classify: expected scores of classes, got those of things, ${found.join(", with the boxes ")}; use detect, or name an output with \`output\``;
  });
}
