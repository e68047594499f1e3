/**
 * What is in a picture, or in any other input: the best classes.
 */
import { check, NetworkError } from "../error.ts";
import type { Inputs, Model } from "../model.ts";
import { type ScoredClass, top } from "../scores.ts";
import { infoText, type Tensor } from "../tensor-info.ts";

/** How to classify. */
export interface ClassifyOptions {
  /** How many classes. Default: 5. */
  readonly top?: number | undefined;
  /** Names of the classes. Default: those that are packed with the model. */
  readonly labels?: readonly string[] | undefined;
  /** The name of the output with the scores. Default: the only one with a number for each class. */
  readonly output?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The best classes of what is given, best first. Scores are those of the model: most models give shares of 1. */
export async function classify(model: Model, inputs: Inputs, options: ClassifyOptions = {}): Promise<ScoredClass[]> {
  const { top: count = 5, labels, output = "scores", signal } = options;
  const outputs = await model.run(inputs, { signal });
  const scores: Tensor | undefined = outputs[output];
  check(scores !== undefined, "WRONG_NAME", () => {
    const list = model.outputs.map(infoText).join(", ");
    return `classify: there is no output "${output}"; there are: ${list}`;
  });
  return top(scores, count, labels);
}

/** The only input of a task that takes one picture or sound. Throws WRONG_TASK. */
export function onlyInput(task: string, { inputs }: Pick<Model, "inputs">) {
  const [input] = inputs;
  if (input !== undefined && inputs.length === 1) return input;
  throw new NetworkError("WRONG_TASK", `${task}: the model has ${inputs.length} inputs, and not one alone`);
}
