/** A data set for `nnhal conformance --suite accuracy`: fresh pictures of digits as the quantised network takes them. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PICTURE_BYTES } from "./input.ts";
import { createRandom } from "./random.ts";
import { drawFreshSamples } from "./samples.ts";

/** No other purpose draws with it. */
const SEED = 20_263;
/** Accuracy of both networks on fresh pictures, see the README, less the variation of a few hundred pictures. */
const EXPECTED = { "top-1": 0.98, "top-5": 0.99 };

/** Writes pictures and `answers.json` into a folder. */
export function writeAccuracyData(folder: string, count: number): void {
  mkdirSync(folder, { recursive: true });
  const { pixels, digits } = drawFreshSamples(createRandom(SEED), count);
  const inputs = Array.from(digits, (answer, index) => {
    const file = `${index}.bin`;
    writeFileSync(join(folder, file), pixels.subarray(index * PICTURE_BYTES, (index + 1) * PICTURE_BYTES));
    return { files: [file], answer };
  });
  const answers = { task: "classification", expected: EXPECTED, inputs };
  writeFileSync(join(folder, "answers.json"), `${JSON.stringify(answers)}\n`);
}
