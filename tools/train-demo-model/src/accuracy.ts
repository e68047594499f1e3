/**
 * Measures how often the two files are right, on pictures that training has not seen.
 */
import type { Classifier } from "./classifier.ts";
import { LABELS } from "./glyphs.ts";
import { PICTURE_BYTES } from "./input.ts";
import type { Samples } from "./samples.ts";

/** The index of the greatest value; of equals, the first. */
export const indexOfGreatest = (values: readonly number[]): number => values.indexOf(Math.max(...values));

/** Returns the answers of a classifier to each picture. */
export async function classifyAll(
  classifier: Classifier,
  { pixels, digits }: Samples,
  report: (done: number) => void = () => {},
): Promise<number[]> {
  const answers: number[] = [];
  for (let index = 0; index < digits.length; index++) {
    const picture = pixels.subarray(index * PICTURE_BYTES, (index + 1) * PICTURE_BYTES);
    answers.push(indexOfGreatest(await classifier.classify(picture)));
    if (answers.length % 1000 === 0) report(answers.length);
  }
  return answers;
}

/** The share of right answers, in percent. */
export function agreement(answers: readonly number[], wanted: ArrayLike<number>): number {
  const right = answers.filter((answer, index) => answer === wanted[index]).length;
  return (100 * right) / answers.length;
}

/** The same for each digit's pictures alone. */
export const agreementByDigit = (answers: readonly number[], digits: Uint8Array): number[] =>
  LABELS.map((_, digit) => {
    const own = answers.filter((_, index) => digits[index] === digit);
    return (100 * own.filter((answer) => answer === digit).length) / own.length;
  });
