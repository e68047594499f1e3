/**
 * The best classes of a run.
 */
import {
  describeMisfit,
  elementsOf,
  findPackedLabels,
  type LabelFinder,
  type Labels,
  type ScoredClass,
  scoresOf,
  topClasses,
} from "@nnhal/network/tensors";
import type { OutputValue } from "./execute.ts";
import type { LoadedModel } from "./load.ts";

/** Names of classes, and how many are wanted. */
export interface ClassOptions {
  readonly top: number;
  /** Labels of the user. Default: those packed with the model. */
  readonly labels: Labels | undefined;
  readonly model: LoadedModel;
  readonly note: (message: string) => void;
}

/** The classes with the highest scores. Empty if no output holds scores. */
export function bestClasses(
  outputs: readonly OutputValue[],
  { top, labels: given, model, note }: ClassOptions,
): ScoredClass[] {
  const scores = scoresOf(outputs);
  const labels = given ?? (scores && packedLabelsOf(model, note)(scores.info));
  const misfit = labels && describeMisfit(labels, { classes: scores && elementsOf(scores.info.shape) });
  if (misfit !== undefined) note(misfit);
  return scores === undefined ? [] : topClasses(scores, top, labels?.names);
}

const finders = new WeakMap<LoadedModel, LabelFinder>();

/** The finder of a model, whose files are read once for all its runs. */
function packedLabelsOf(model: LoadedModel, note: (message: string) => void): LabelFinder {
  const known = finders.get(model) ?? findPackedLabels(model, note);
  finders.set(model, known);
  return known;
}
