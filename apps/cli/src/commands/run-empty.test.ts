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

it("profiles a run with such an input, but not several", async () => {
  await put("sum.tflite", emptySumModel());
  await put("none.bin", new Uint8Array(0));
  await put("five.bin", bytesOf(5));
  const profile = async (...files: readonly string[]) =>
    run(["run", "sum.tflite", ...files, "--device", "reference", "--profile"], { engines: knownEngines });
  const { stdout, stderr, exitCode } = await profile("none.bin", "five.bin");
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/\noperation +type +output +device +time +share\n[\s\S]*\d+ +ADD /);
  expect(stderr).toMatch(/^nnhal run: note: operations are not timed: /);
});

it.each([
  ["bench", "measure", ["--device", "reference", "--peers", "none", "--rounds", "1", "--preparations", "1"]],
  ["diff", "compare", ["--device", "reference"]],
])("nnhal %s refuses such an input, and says what it takes", async (command, work, options) => {
  await put("sum.tflite", emptySumModel());
  const { stderr, exitCode } = await run([command, "sum.tflite", ...options], { engines: knownEngines });
  const message = `nnhal ${command}: the input "left" (TENSOR_FLOAT32 [?]) has no elements, which leaves nothing to ${work}: give it a file`;
  expect([stderr, exitCode]).toEqual([expect.stringContaining(message), 2]);
});
