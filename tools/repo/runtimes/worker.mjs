/** The digit of the demonstration, read in a worker. */
import { load, picture, top } from "nnhal";

const model = await load("digits.tflite", { worker: true });
const { scores } = await model.run({ input: await picture("digit.png") });
await model.close();
console.log(`sees a ${top(scores, 1)[0].index}`);
