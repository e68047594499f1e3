/**
 * The random numbers of .tflite: Philox4x32-10 with one seed as the key and the other as the upper half of the counter.
 */
import { defineOperation, type KernelContext } from "../define.ts";
import { int32, read, tensor } from "../params.ts";
import type { KernelResult } from "../phases.ts";
import type { TensorData } from "../tensor.ts";
import { philox } from "./_philox.ts";

/**
 * The options of the operators. .tflite uses their lower 32 bits. Seeds 0 and 0 are replaced by random ones; all others draw the
 * same numbers at each execution.
 */
export const seedParams = [int32("seed"), int32("seed2")] as const;

/** An endless row of random words of 32 bits, unsigned. */
export function wordsOf(seed: number, seed2: number, { random }: KernelContext): () => number {
  const anyWord = () => Math.floor(random() * 2 ** 32);
  const isSeeded = seed !== 0 || seed2 !== 0;
  // Seeds are extended to 64 bits with their sign.
  const pair = (value: number) => (isSeeded ? ([value, value >> 31] as const) : ([anyWord(), anyWord()] as const));
  const key = pair(seed);
  const upper = pair(seed2);
  let block = 0;
  let place = 4;
  let words: readonly number[] = [];
  return () => {
    if (place === 4) {
      words = philox([block >>> 0, Math.floor(block / 2 ** 32), ...upper], key);
      block++;
      place = 0;
    }
    return words[place++];
  };
}

/** A number in [0, 1) of the lower 23 bits of a word. */
export function unitFloat(word: number): number {
  return (word & 0x7f_ffff) * 2 ** -23;
}

/** Defines an operator that draws a tensor of the shape in its input; `draw` fills it with numbers made of random words. */
export function randomTensor<const Name extends string>(
  name: Name,
  code: number,
  summary: string,
  draw: (numbers: TensorData, word: () => number) => KernelResult,
) {
  return defineOperation({
    name,
    code,
    summary,
    params: [read(tensor("shape", "TENSOR_INT32")), ...seedParams],
    outputs: [tensor("output", "TENSOR_FLOAT32")],
    types: [["1.2"]],
    ranks: { shape: 1 },
    random: true,
    work: "functionElement",
    infer: ({ shape }) => ({ output: { dimensions: [...shape.data] } }),
    reference: ({ seed, seed2 }, { output }, context) => draw(output.data, wordsOf(seed, seed2, context)),
  });
}
