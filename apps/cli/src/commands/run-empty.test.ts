/** `nnhal run` with inputs that have no elements. */
import { expect, it } from "vitest";
import { knownEngines } from "../engines.ts";
import { emptySumModel, useFolder } from "../program.test-helper.ts";

const { run, put } = useFolder();
const bytesOf = (...values: readonly number[]) => new Uint8Array(Float32Array.from(values).buffer);

it("computes a result without elements from a file without bytes", async () => {
  await put("sum.tflite", emptySumModel());
  await put("none.bin", new Uint8Array(0));
  await put("two.bin", bytesOf(1, 2));
  await put("five.bin", bytesOf(5));
  const outputs = async (first: string) => {
    const files = ["sum.tflite", first, "five.bin", "--all-values"];
    const { stdout, stderr } = await run(["run", ...files, "--device", "reference", "--json"], {
      engines: knownEngines,
    });
    expect(stderr).toBe("");
    return JSON.parse(stdout).outputs;
  };
  expect(await outputs("none.bin")).toMatchObject([{ shape: [0], values: [] }]);
  expect(await outputs("two.bin")).toMatchObject([{ shape: [2], values: [6, 7] }]);
});
