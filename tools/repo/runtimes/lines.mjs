/** The three lines of the README, on the digit of the demonstration; then a picture that WebAssembly decodes. */
import { load, picture, top } from "nnhal";

const model = await load("digits.tflite");
const { scores } = await model.run({ input: await picture("digit.png") });
const [best] = top(scores, 1);
const { data } = await picture("white.webp");
console.log(`sees a ${best.index}, and ${data.join(" ")}`);
