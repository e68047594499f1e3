/** A client of the server: the server's answer equals the model's answer here. The argument is the address of the server. */
import { load } from "nnhal";

const pixels = Uint8Array.from({ length: 32 * 32 * 3 }, (_, index) => (index * 89) % 256);
const model = await load("digits.tflite", { devices: "reference" });
const [input] = model.inputs;
const outputs = await model.run({ [input.name]: pixels });
const [expected] = Object.values(outputs);
const body = { inputs: [{ name: input.name, datatype: "UINT8", shape: [1, 32, 32, 3], data: [...pixels] }] };
const response = await fetch(`${process.argv.at(-1)}/v2/models/digits/infer`, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
});
const answer = await response.json();
// The server answers with the bytes that stand for these numbers.
const stored = Array.from(expected.data, (value) => value * 256);
const isSame = JSON.stringify(answer.outputs?.[0]?.data) === JSON.stringify(stored);
console.log(isSame ? "answers as the model does here" : `${response.status}: ${JSON.stringify(answer)}, not ${stored}`);
