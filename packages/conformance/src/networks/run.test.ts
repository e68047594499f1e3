import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createReferenceBackend } from "@nnhal/backend-reference";
import { openDevice } from "@nnhal/driver-core/device";
import { tfliteExtension } from "@nnhal/extension-tflite";
import { changeElements } from "@nnhal/test-kit/changed-kernel";
import { type TfliteOperator, type TfliteTensor, writeTflite } from "@nnhal/tflite";
import type { Device } from "@nnhal/types";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CaseResult } from "../result.ts";
import { runNetworks } from "./run.ts";

/** The reference, with what LOGISTIC gives a little larger if it is to be wrong. */
async function deviceWith(isWrong: boolean): Promise<Device> {
  const plant = isWrong && { definitionFor: changeElements("LOGISTIC", (element) => element + 0.01) };
  const device = await openDevice({ backend: createReferenceBackend({ ...plant, extensions: [tfliteExtension] }) });
  if ("unavailable" in device) throw new Error(device.unavailable);
  return device;
}

const tensor = (name: string): TfliteTensor => ({ name, type: "FLOAT32", shape: [1, 8], isVariable: false });
const unary = (name: string, place: number): TfliteOperator => ({
  ...{ name, version: 1, inputs: [place], outputs: [place + 1], options: {} },
});

/** Operators of one input, one after the other. */
function chain(...names: readonly string[]): Uint8Array {
  const tensors = ["input", ...names.map((name) => name.toLowerCase())].map(tensor);
  const operators = names.map(unary);
  const main = { name: "main", tensors, inputs: [0], outputs: [names.length], operators };
  return writeTflite({ version: 3, description: "", subgraphs: [main], metadata: [], signatures: [] });
}

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nnhal-networks-"));
  await mkdir(join(folder, "more"));
  await writeFile(join(folder, "a.tflite"), chain("TANH", "LOGISTIC", "RELU"));
  await writeFile(join(folder, "more", "b.tflite"), chain("RELU"));
  await writeFile(join(folder, "more", "c.tflite"), "not a network");
  await writeFile(join(folder, "notes.txt"), "");
});
afterAll(() => rm(folder, { recursive: true }));

async function resultsOf(isWrong: boolean, filter?: string): Promise<readonly CaseResult[]> {
  const [device, reference] = [await deviceWith(isWrong), await deviceWith(false)];
  const results: CaseResult[] = [];
  for await (const result of runNetworks(device, { folder, reference, filter })) results.push(result);
  return results;
}

describe("the suite networks", () => {
  it("passes networks whose operations are all right", async () => {
    expect(await resultsOf(false)).toMatchObject([
      { name: "networks/a.tflite", subject: "network", verdict: "passed" },
      { name: "networks/more/b.tflite", verdict: "passed" },
      { name: "networks/more/c.tflite", verdict: "unsupported" },
    ]);
  });

  it("names the operation at fault of one that is wrong", async () => {
    const [first, ...others] = await resultsOf(true);
    expect(first).toMatchObject({ name: "networks/a.tflite", verdict: "failed" });
    expect(first?.reason).toMatch(
      /^operation 2, LOGISTIC \(logistic\), is the first that nnhal-reference computes wrong: 100\.0 % of the elements differ, by up to 0\.01/,
    );
    expect(others.map(({ verdict }) => verdict)).toEqual(["passed", "unsupported"]);
  });

  it("chooses networks by a part of their names", async () => {
    expect((await resultsOf(false, "MORE")).map(({ name }) => name)).toEqual([
      "networks/more/b.tflite",
      "networks/more/c.tflite",
    ]);
  });

  it("says which device does not take anything of a network", async () => {
    const reference = await deviceWith(false);
    const refusing: Device = {
      ...reference,
      name: "refusing",
      async getSupportedOperations(model) {
        const answer = await reference.getSupportedOperations(model);
        return {
          ...answer,
          supported: answer.supported.map(() => false),
          reasons: answer.supported.map(() => "closed"),
        };
      },
    };
    const results: CaseResult[] = [];
    for await (const result of runNetworks(refusing, { folder, reference, filter: "a.tflite" })) results.push(result);
    expect(results).toMatchObject([{ verdict: "unsupported", reason: expect.stringContaining("closed") }]);
  });
});
