/**
 * What something is like, as a list of numbers: similar things have similar lists.
 */
import { elementAt } from "@nnhal/operations";
import { check } from "../error.ts";
import type { Inputs, Model } from "../model.ts";
import type { Tensor } from "../tensor-info.ts";
import { outputsByRole } from "./roles.ts";

/** How to embed. */
export interface EmbedOptions {
  /** The name of the output. Default: the only one, or the one that its maker calls feature or embedding. */
  readonly output?: string | undefined;
  /** Whether the list gets the length 1. Default: no. */
  readonly normalize?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

const roles = {
  embedding: { names: /embed|feature/, fits: ({ shape }: { shape: readonly number[] }) => (shape.at(-1) ?? 0) !== 1 },
};

/** The embedding of what is given: all numbers of the output. */
export async function embed(model: Model, inputs: Inputs, options: EmbedOptions = {}): Promise<Float32Array> {
  const { output, normalize = false, signal } = options;
  const info = outputsByRole("embed", model, roles, output === undefined ? {} : { embedding: output }).embedding;
  const outputs = await model.run(inputs, { signal });
  // It is an output of the model.
  const embedding = Float32Array.from((outputs[info.name] as Tensor).data);
  if (!normalize) return embedding;
  const length = Math.hypot(...embedding);
  return length === 0 ? embedding : embedding.map((value) => value / length);
}

/** How alike two embeddings are: 1 for the same direction, 0 for a right angle, -1 for the opposite; 0 if either has the length 0. */
export function cosineSimilarity(a: ArrayLike<number>, b: ArrayLike<number>): number {
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
