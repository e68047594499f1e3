import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { referenceBackend } from "@nnhal/backend-reference";
import { openDevice } from "@nnhal/driver-core/device";
import { type TfliteModel, writeTflite } from "@nnhal/tflite";
import type { Device } from "@nnhal/types";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CaseResult } from "../result.ts";
import { readAccuracyData } from "./data.ts";
import { runAccuracy } from "./run.ts";

let reference: Device;
const folder = mkdtempSync(join(tmpdir(), "nnhal-accuracy-"));
const network = join(folder, "relu.tflite");

/** One RELU: its input is its scores. */
const model: TfliteModel = {
  version: 3,
  description: "",
  subgraphs: [
    {
      name: "",
      tensors: ["in", "out"].map((name) => ({ name, shape: [1, 4], type: "FLOAT32", isVariable: false })),
      operators: [{ name: "RELU", version: 1, inputs: [0], outputs: [1], options: {} }],
      inputs: [0],
      outputs: [1],
    },
  ],
  metadata: [],
  signatures: [],
};

beforeAll(async () => {
  const opened = await openDevice({ backend: referenceBackend });
  if ("unavailable" in opened) throw new Error(opened.unavailable);
  reference = opened;
  writeFileSync(network, writeTflite(model));
  for (const [index, scores] of [
    [9, 1, 1, 1],
    [1, 9, 1, 1],
    [1, 1, 9, 1],
    [1, 8, 9, 1],
  ].entries()) {
    writeFileSync(join(folder, `${index}.bin`), Float32Array.from(scores));
  }
  writeFileSync(join(folder, "classes.bin"), Uint8Array.of(0));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The device with each result changed. */
function changeOne(change: (scores: Float32Array) => void): Device {
  return {
    ...reference,
    async prepareModel(...given) {
      const result = await reference.prepareModel(...given);
      const { preparedModel } = result;
      if (preparedModel === null) return result;
      return {
        ...result,
        preparedModel: {
          close: () => preparedModel.close(),
          async execute(request, options) {
            const answer = await preparedModel.execute(request, options);
            const [output] = request.outputs;
            const pool = request.pools[output?.location.poolIndex ?? 0];
            if (pool?.kind === "memory" && pool.memory.handle?.kind === "buffer") {
              const { buffer, byteOffset } = pool.memory.handle;
              change(new Float32Array(buffer, byteOffset + (output?.location.offset ?? 0), 4));
            }
            return answer;
          },
        },
      };
    },
  };
}

async function run(device: Device, answers: unknown, more: { mostLoss?: number } = {}): Promise<CaseResult[]> {
  writeFileSync(join(folder, "answers.json"), JSON.stringify(answers));
  const results: CaseResult[] = [];
  for await (const result of runAccuracy(device, { network, data: folder, reference, ...more })) results.push(result);
  return results;
}

const inputs = [0, 1, 2, 1].map((answer, index) => ({ files: [`${index}.bin`], answer }));
const classification = { task: "classification", inputs };

describe("runAccuracy", () => {
  it("reports each metric beside the reference, and the loss", async () => {
    expect(await run(reference, classification)).toEqual([
      {
        ...{ name: "accuracy/top-1", subject: "classification", verdict: "passed" },
        measured: "75.00 % of 4 inputs, reference 75.00 %, loss 0.00 %",
      },
      {
        ...{ name: "accuracy/top-5", subject: "classification", verdict: "passed" },
        measured: "100.00 % of 4 inputs, reference 100.00 %, loss 0.00 %",
      },
    ]);
  });

  it("fails a device that loses more than is allowed, and one that is below what the data expects", async () => {
    const worse = changeOne((scores) => scores.reverse());
    const [topOne] = await run(worse, classification);
    expect(topOne).toMatchObject({
      verdict: "failed",
      reason: "the loss against the reference: expected at most 5.00 %, got 50.00 %",
    });
    expect((await run(worse, classification, { mostLoss: 0.5 }))[0]?.verdict).toBe("passed");
    const expecting = (part: number) => run(reference, { ...classification, expected: { "top-1": part } });
    expect((await expecting(0.79))[0]?.verdict).toBe("passed");
    expect((await expecting(0.81))[0]).toMatchObject({
      verdict: "failed",
      reason: "expected 81.00 % within 5.00 %, got 75.00 %",
    });
  });

  it("measures segmentations and sequences", async () => {
    const segmentation = { task: "segmentation", inputs: [{ files: ["0.bin"], answer: "classes.bin" }] };
    expect(await run(reference, segmentation)).toMatchObject(
      [{ name: "accuracy/mIoU", measured: /^100.00 %/ }].map((one) => ({
        ...one,
        measured: expect.stringMatching(one.measured),
      })),
    );
    const sequence = {
      task: "sequence",
      inputs: [
        { files: ["0.bin"], answer: [0] },
        { files: ["1.bin"], answer: [3] },
      ],
    };
    const [rate] = await run(reference, sequence);
    expect(rate).toMatchObject({ name: "accuracy/error-rate", verdict: "passed" });
    expect(rate?.measured).toBe("50.00 % of 2 inputs, reference 50.00 %, loss 0.00 %");
    const worse = await run(
      changeOne((scores) => scores.reverse()),
      sequence,
    );
    expect(worse[0]?.reason).toContain("the loss against the reference: expected at most 5.00 %, got 50.00 %");
  });

  it("counts as unsupported what the device cannot run", async () => {
    const refusing: Device = {
      ...reference,
      getSupportedOperations: () => ({ status: 0, supported: [false], reasons: ["RELU: not today"] }),
    };
    expect(await run(refusing, classification)).toMatchObject([
      { verdict: "unsupported", reason: "RELU: not today" },
      { verdict: "unsupported", reason: "RELU: not today" },
    ]);
  });

  it("names what is wrong with a data set", async () => {
    for (const [answers, message] of [
      [{ ...classification, task: "tasting" }, "task: expected one of classification"],
      [{ task: "classification", inputs: [] }, "inputs: expected a list that is not empty"],
      [
        { ...classification, inputs: [{ files: "0.bin", answer: 1 }] },
        "inputs[0].files: expected a list of file names",
      ],
      [
        { ...classification, inputs: [{ files: ["0.bin"], answer: "one" }] },
        "inputs[0].answer: expected the number of a class",
      ],
      [
        { task: "detection", inputs: [{ files: ["0.bin"], answer: [{ box: [1], class: 1 }] }] },
        "inputs[0].answer: expected a list of { box",
      ],
      [{ ...classification, expected: { "top-1": "high" } }, "expected.top-1: expected a number, got high"],
      [[], "expected an object"],
    ] as const) {
      await expect(run(reference, answers)).rejects.toThrow(message);
    }
    await expect(
      run(reference, { ...classification, inputs: [{ files: ["0.bin", "1.bin"], answer: 1 }] }),
    ).rejects.toThrow("inputs[0] has 2 files, and the network 1 inputs");
    const withFile = (file: string) => ({ ...classification, inputs: [{ files: [file], answer: 1 }] });
    await expect(run(reference, withFile("gone.bin"))).rejects.toThrow(/inputs\[0\]: cannot read gone\.bin: ENOENT/);
    await expect(run(reference, withFile("classes.bin"))).rejects.toThrow(
      "inputs[0]: classes.bin has 1 bytes, and input 0 of the network, TENSOR_FLOAT32 [1, 4], has 16",
    );
    await expect(
      run(reference, { task: "segmentation", inputs: [{ files: ["0.bin"], answer: "gone.bin" }] }),
    ).rejects.toThrow(/inputs\[0\]: cannot read gone\.bin/);
    expect(() => readAccuracyData(join(folder, "gone"))).toThrow(/cannot read .*gone/);
  });
});
