// A server that classifies what is posted to it: node server.mjs model.tflite 8080
//   curl --data-binary @cat.jpg http://localhost:8080/classify
import express from "express";
import { classify, load, NetworkError, picture } from "nnhal";

const [modelFile, port = "8080"] = process.argv.slice(2);
// In a worker the network does not keep the server from answering.
const model = await load(modelFile, { worker: true });
// Photographs are decoded at a part of their size: twice the pixels of the input are enough to tell classes apart.
const atLeast = 2 * Math.max(...model.inputs[0].shape);
const app = express();

app.post("/classify", express.raw({ type: () => true, limit: "20mb" }), async (request, response) => {
  try {
    const photo = await picture(request.body, { atLeast });
    response.json(await classify(model, photo, { top: Number(request.query.top ?? 5) }));
  } catch (error) {
    // What the client sent is wrong, or the server is.
    const status = error instanceof NetworkError && error.code !== "FAILED" ? 400 : 500;
    response.status(status).json({ error: error.message });
  }
});

const server = app.listen(Number(port), "127.0.0.1", () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`);
});
process.once("SIGTERM", () => server.close(() => model.close()));
