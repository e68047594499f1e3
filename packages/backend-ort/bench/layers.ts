/**
 * Compares each operation of a .tflite network with the reference kernel on the same inputs: how many elements of its result differ, and
 * by how much at most. `npx tsx --conditions=@nnhal/source packages/backend-ort/bench/layers.ts MODEL [INPUT]`
 */
import { readFileSync } from "node:fs";
import { bindArgumentsOf, decodeTensorData, isOmitted, viewModel, withFacts } from "@nnhal/backend";
import { bindOutputs, createData, elementAt, elementCount, runToEnd, type TensorData } from "@nnhal/operations";
import { importTflite } from "@nnhal/tflite";
import * as ort from "onnxruntime-node";
import { sessionOptions } from "../src/engine.ts";
import { lowerGraph, modelOf } from "../src/lower.ts";
import { formsOfThisProcessor } from "../src/onnx-model.ts";

const [path = "", inputPath] = process.argv.slice(2);
const { model } = importTflite(new Uint8Array(readFileSync(path)));
const pools = model.pools.map(({ handle, size }) => {
  if (handle === null || !("buffer" in handle)) throw new Error("the pools of an imported model are buffers");
  return new Uint8Array(handle.buffer, handle.byteOffset, size);
});
const graph = viewModel({ model, pools });
const all = graph.operations.flatMap(({ outputs }) => outputs.map(({ index }) => index));
const whole = { ...graph, outputs: all };
const extents = graph.inputs.map((index) => graph.operands[index]?.dimensions);
const lowered = lowerGraph(whole, extents, await formsOfThisProcessor());
const session = await ort.InferenceSession.create(modelOf(lowered), sessionOptions(1));
const values = new Map<number, TensorData>();
const feeds: Record<string, ort.Tensor> = {};
for (const [position, wire] of lowered.inputs.entries()) {
  if (wire === undefined) continue;
  const { dimensions, type } = wire.info;
  const count = elementCount(dimensions);
  const given = inputPath === undefined ? undefined : new Uint8Array(readFileSync(inputPath));
  const bytes =
    given ??
    (wire.type === "float32"
      ? new Uint8Array(Float32Array.from({ length: count }, Math.random).buffer)
      : Uint8Array.from({ length: count }, () => Math.random() * 256));
  const data = decodeTensorData(type, bytes, count);
  values.set(elementAt(graph.inputs, position), data);
  feeds[wire.name] =
    wire.type === "float32"
      ? new ort.Tensor("float32", new Float32Array(data), [...dimensions])
      : new ort.Tensor(wire.type as "uint8", bytes, [...dimensions]);
}
const results = await session.run(feeds);
for (const [position, wire] of lowered.outputs.entries()) {
  const { data } = elementAt([results[wire.name]], 0) ?? {};
  if (ArrayBuffer.isView(data)) {
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    values.set(elementAt(all, position), decodeTensorData(wire.info.type, bytes, elementCount(wire.info.dimensions)));
  }
}
for (const view of graph.operations) {
  const tensors = view.inputs.map((input) =>
    isOmitted(input) ? undefined : withFacts(input, undefined, values.get(input.index)),
  );
  const { form, args, outputs } = bindArgumentsOf(view, tensors);
  const expected = outputs.map((info) => ({ ...info, data: createData(info.type, elementCount(info.dimensions)) }));
  runToEnd(view.definition.reference?.(args, bindOutputs(form, expected), { random: Math.random }));
  for (const [place, { data, dimensions }] of expected.entries()) {
    const actual = values.get(elementAt(view.outputs, place).index) ?? data;
    let differing = 0;
    let most = 0;
    for (const [at, element] of data.entries()) {
      const difference = Math.abs(element - elementAt(actual, at));
      if (difference > 0) differing++;
      most = Math.max(most, difference);
    }
    console.log(
      `${view.index} ${view.definition.name} [${dimensions}]: ${differing} of ${data.length} differ, by ${most} at most`,
    );
  }
}
