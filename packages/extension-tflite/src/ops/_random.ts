/**
 * The random numbers of .tflite: Philox4x32-10 with one seed as the key and the other as the upper half of the counter.
 */
import type { KernelContext, TensorInfo } from "@nnhal/operations";
import { ensureShape, philox, tensor } from "@nnhal/operations/authoring";
import { tfliteTypes } from "../types.ts";

/** The options of the operators: each a tensor of one 64-bit integer. Seeds 0 and 0 are replaced by random ones. */
export const seedParams = [
  tensor("seed", tfliteTypes.TENSOR_INT64),
  tensor("seed2", tfliteTypes.TENSOR_INT64),
] as const;

/** Throws an OperationError unless each seed is one number. */
export function ensureSeeds(seeds: { readonly seed: TensorInfo; readonly seed2: TensorInfo }): void {
  for (const [name, tensor] of Object.entries(seeds)) ensureShape(name, tensor, [1]);
}

/** An endless row of random words of 32 bits, unsigned. The same seeds draw the same words at each execution. */
export function wordsOf(seed: bigint, seed2: bigint, { random }: KernelContext): () => number {
  const anyWord = () => Math.floor(random() * 2 ** 32);
  const halves = (value: bigint): readonly [number, number] => [
    Number(BigInt.asUintN(32, value)),
    Number(BigInt.asUintN(32, value >> 32n)),
  ];
  const isSeeded = seed !== 0n || seed2 !== 0n;
  const key = isSeeded ? halves(seed) : ([anyWord(), anyWord()] as const);
  const [third, fourth] = isSeeded ? halves(seed2) : [anyWord(), anyWord()];
  let block = 0;
  let place = 4;
  let words: readonly number[] = [];
  return () => {
    if (place === 4) {
      words = philox([block >>> 0, Math.floor(block / 2 ** 32), third, fourth], key);
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
