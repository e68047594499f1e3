/** A route that reads a digit on the server, here or in a worker (`?worker`), after a picture in WebP. */
import { load, picture, top } from "nnhal";

export async function loader({ request }) {
  const worker = new URL(request.url).searchParams.has("worker");
  const { data } = await picture("white.webp");
  const model = await load("digits.tflite", { worker });
  const { scores } = await model.run({ input: await picture("digit.png") });
  await model.close();
  return new Response(`sees a ${top(scores, 1)[0].index}, and ${data.join(" ")}`);
}
