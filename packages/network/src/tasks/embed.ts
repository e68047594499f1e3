/**
 * Embeddings: lists of numbers that are similar for similar things.
 */

import type { OptionNames } from "@nnhal/operations";
import { elementAt } from "@nnhal/operations";
import { check } from "../error.ts";
import type { Model } from "../model.ts";
import { checkOptions, wrapErrors } from "../options.ts";
import type { Source } from "../read.ts";
import type { Inputs } from "../run-inputs.ts";
import { isNumbers } from "../scores.ts";
import type { Tensor } from "../tensor-info.ts";
import { kindOf } from "../values.ts";
import { inputsOf } from "./picture-input.ts";
import { checkModel, outputsByRole } from "./roles.ts";

/** Options of embedding. */
export interface EmbedOptions {
  /** The name of the output. Default: the only one, or the one that its maker calls feature or embedding. */
  readonly output?: string | undefined;
  /** True if the list gets the length 1. Default: no. */
  readonly normalize?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

const roles = {
  embedding: { names: /embed|feature/, fits: ({ shape }: { shape: readonly number[] }) => (shape.at(-1) ?? 0) !== 1 },
};

const embedOptions: OptionNames<EmbedOptions> = {
  output: true,
  normalize: true,
  signal: true,
};

/**
 * The embedding of a picture (a path, URL, Blob or bytes of one, too), of a text, or of any other input: all numbers of the output. A string is a
 * text for a model that takes one: see `classifyText`.
 */
export function embed(model: Model, inputs: Inputs | Source, options: EmbedOptions = {}): Promise<Float32Array> {
  return wrapErrors("embed", options, () => embedInputs(model, inputs, options));
}

async function embedInputs(model: Model, inputs: Inputs | Source, options: EmbedOptions): Promise<Float32Array> {
  checkModel("embed", model);
  checkOptions("embed", options, embedOptions);
  const { output, normalize = false, signal } = options;
  const info = outputsByRole("embed", model, roles, output === undefined ? {} : { embedding: output }).embedding;
  const isText =
    typeof inputs === "string" && model.inputs.some(({ type, tokenizer }) => type === "string" || tokenizer);
  const given = isText
    ? (await import("../tokenize/text-inputs.ts")).textInputs("embed", model.inputs, inputs)
    : await inputsOf(model, inputs, signal);
  const outputs = await model.run(given, { signal });
  // It is an output of the model.
  const embedding = Float32Array.from((outputs[info.name] as Tensor).data);
  if (!normalize) return embedding;
  const length = Math.hypot(...embedding);
  return length === 0 ? embedding : embedding.map((value) => value / length);
}

/** Similarity of two embeddings: 1 for the same direction, 0 for a right angle, -1 for the opposite; 0 if either has the length 0. */
export function cosineSimilarity(a: ArrayLike<number>, b: ArrayLike<number>): number {
  for (const list of [a, b])
    check(isNumbers(list), "WRONG_TYPE", () => `cosineSimilarity: expected numbers, got ${kindOf(list)}`);
  check(
    a.length === b.length,
    "WRONG_SIZE",
    () => `cosineSimilarity: one list has ${a.length} numbers, the other ${b.length}`,
  );
  let [product, ofA, ofB] = [0, 0, 0];
  for (let index = 0; index < a.length; index++) {
    const [one, other] = [elementAt(a, index), elementAt(b, index)];
    product += one * other;
    ofA += one * one;
    ofB += other * other;
  }
  return ofA === 0 || ofB === 0 ? 0 : product / Math.sqrt(ofA * ofB);
}
