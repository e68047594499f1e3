import * as ort from "onnxruntime-node";
import { describe, expect, it } from "vitest";
import { openSession, sessionOptions } from "../engine.ts";
import { createBuilder } from "../graph/builder.ts";
import { writeModel, writeModelParts } from "./write.ts";

/** A graph that adds constants to its input. */
function sumWith(constant: Float32Array) {
  const builder = createBuilder();
  const result = { type: "float32", dims: [constant.length] } as const;
  const input = builder.input(result);
  const sum = builder.node("Add", [input, builder.constant("float32", result.dims, () => constant)], result);
  return { graph: builder.graph(), input: input.name, output: builder.output(sum) };
}

describe("constants beside a model", () => {
  it("are where they were, without a copy", () => {
    const memory = new ArrayBuffer(4096);
    const { model, externalData } = writeModelParts(sumWith(new Float32Array(memory, 8, 256)).graph);
    expect(externalData.map(({ data }) => [data.buffer === memory, data.byteOffset, data.length])).toEqual([
      [true, 8, 1024],
    ]);
    expect(model.length).toBeLessThan(512);
  });

  it.each([
    ["is small", new Float32Array(255)],
    ["lies in memory that others can change", new Float32Array(new SharedArrayBuffer(4096))],
  ])("do not contain one that %s", (_, constant) => {
    const { graph } = sumWith(constant);
    const { model, externalData } = writeModelParts(graph);
    expect(externalData).toEqual([]);
    expect(model).toEqual(writeModel(graph));
  });

  it("are read when the session is created, and not later", async () => {
    const constant = new Float32Array(300).fill(3);
    const { graph, input, output } = sumWith(constant);
    const session = await openSession(ort, writeModelParts(graph), sessionOptions(1));
    constant.fill(0);
    const results = await session.run({ [input]: new ort.Tensor("float32", new Float32Array(300).fill(4), [300]) });
    expect(results[output]?.data).toEqual(new Float32Array(300).fill(7));
    await session.release();
  });
});
