import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { readTflite, writeTflite } from "@nnhal/tflite";
import { describe, expect, it } from "vitest";
import type { NodeData } from "./model-explorer.ts";
import { useFolder } from "./program.test-helper.ts";

const { run, get, put } = useFolder();
const digits = fileURLToPath(new URL("../demo/digits-uint8.tflite", import.meta.url));
const float = fileURLToPath(new URL("../demo/digits-float.tflite", import.meta.url));
const read = async (file: string): Promise<NodeData> => JSON.parse(new TextDecoder().decode(await get(file)));

describe("node data for Model Explorer", () => {
  it("have the noise that each operation adds, and the noise as the network runs, by output tensor", async () => {
    const { stdout } = await run(["diff", digits, "--against", float, "--model-explorer", "nodes"]);
    expect(stdout).toContain(
      "for Model Explorer: nodes/error-alone.json, nodes/error-network.json, nodes/device.json\n",
    );
    const [alone, network] = [await read("nodes/error-alone.json"), await read("nodes/error-network.json")];
    expect(alone.gradient?.map(({ stop }) => stop)).toEqual([0, 0.5, 1]);
    expect(Object.keys(alone.results)).toContain("strokes_pool");
    for (const { value } of Object.values(alone.results)) expect(value).toBeTypeOf("number");
    const noise = alone.results.strokes?.value;
    expect(noise).toBeGreaterThan(0);
    expect(noise).toBeLessThan(20);
    expect(Number(network.results.probabilities?.value)).toBeGreaterThanOrEqual(0);
    expect((await read("nodes/device.json")).results.strokes_pool).toEqual({ value: "nnhal-reference" });
  });

  it("have the whole names of tensors, by which the viewer finds nodes", async () => {
    const model = readTflite(new Uint8Array(await readFile(digits)));
    const [main] = model.subgraphs;
    if (main === undefined) throw new Error("the demo has no subgraph");
    // Converters join the names of all that they fused.
    const tensors = main.tensors.map((tensor) => ({ ...tensor, name: `${tensor.name};${"fused/".repeat(100)}` }));
    await put("long.tflite", writeTflite({ ...model, subgraphs: [{ ...main, tensors }] }));
    await run(["diff", "long.tflite", "--device", "reference", "--model-explorer", "long"]);
    const { results } = await read("long/device.json");
    const written = main.operators.flatMap(({ outputs }) => outputs.map((tensor) => tensors[tensor]?.name ?? ""));
    expect(Object.keys(results).sort()).toEqual(written.sort());
  });

  it("have the time of each operation", async () => {
    const { stdout } = await run([
      "run",
      digits,
      "--random",
      "1",
      "--device",
      "reference",
      "--model-explorer",
      "times",
    ]);
    expect(stdout).toContain("times/time.json");
    const { results, gradient } = await read("times/time.json");
    expect(gradient).toHaveLength(3);
    expect(results.strokes_pool?.value).toBeTypeOf("number");
    expect(Object.values((await read("times/device.json")).results)).toContainEqual({ value: "nnhal-reference" });
  });
});
