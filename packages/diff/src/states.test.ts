/** Networks that keep something between runs. */
import { createReferenceBackend, referenceBackend } from "@nnhal/backend-reference";
import { openDevice } from "@nnhal/driver-core/device";
import { Model } from "@nnhal/runtime";
import { changeElements } from "@nnhal/test-kit/changed-kernel";
import type { Device, Model as HalModel } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { type DiffOptions, diffModel } from "./diff-model.ts";
import type { TensorValue } from "./prepared-part.ts";
import { judgeDiff } from "./verdict.ts";

async function openTested(backend: Parameters<typeof openDevice>[0]["backend"]): Promise<Device> {
  const device = await openDevice({ backend });
  if ("unavailable" in device) throw new Error(device.unavailable);
  return device;
}

/** The reference, whose ADD gives `more` besides. */
function makeAdding(more: number): Promise<Device> {
  return openTested(createReferenceBackend({ definitionFor: changeElements("ADD", (sum) => sum + more) }));
}

/** sum = x + state, which is the next state; result = |sum|. Inputs: x, state. Results: result, sum. */
function accumulator(): HalModel {
  const model = new Model();
  const tensor = () => model.addOperand({ type: "TENSOR_FLOAT32", dimensions: [2] });
  const none = model.addOperand({ type: "INT32" });
  model.setOperandValue(none, 0);
  const [x, state, sum, result] = [tensor(), tensor(), tensor(), tensor()] as const;
  model.addOperation("ADD", [x, state, none], [sum]);
  model.addOperation("ABS", [sum], [result]);
  model.identifyInputsAndOutputs([x, state], [result, sum]);
  model.finish();
  return model.hal;
}

const floats = (...elements: number[]): TensorValue => ({
  bytes: new Uint8Array(Float32Array.from(elements).buffer),
  dimensions: [elements.length],
});
const zero = floats(0, 0);
const inputs: DiffOptions["inputs"] = [
  [floats(1, 2), zero],
  [floats(1, -5), zero],
  [floats(1, 2), zero],
];
const states = [{ input: 1, output: 1 }];

describe("runs of a network that keeps something", () => {
  it("go on from what each side has left", async () => {
    const seen: number[][] = [];
    const found = await diffModel(accumulator(), {
      judge: { devices: [await openTested(referenceBackend)] },
      suspect: { devices: [await makeAdding(0.5)] },
      inputs,
      states,
      onOperation: ({ operation }, { runs }) => {
        if (operation !== "ABS") return;
        for (const { expected, accumulated } of runs)
          for (const [value] of [expected, accumulated])
            seen.push([...new Float32Array(Uint8Array.from(value?.bytes ?? []).buffer)]);
      },
    });
    // The judge's, then the device's, for each run.
    expect(seen).toEqual([
      [1, 2],
      [1.5, 2.5],
      [2, 3],
      [3, 2],
      [3, 1],
      [4.5, 0.5],
    ]);
    const [add, abs] = found.operations;
    // Alone it is half off, and after three runs one and a half.
    expect(add?.outputs[0]?.alone?.largestReal).toBeCloseTo(0.5, 6);
    expect(add?.outputs[0]?.accumulated?.largestReal).toBeCloseTo(1.5, 6);
    expect(abs?.verdict).toBe("right");
    expect(judgeDiff(found).first).toMatchObject({ operation: "ADD" });
    expect(found.whole[0]?.largestReal).toBeCloseTo(1.5, 6);
  });

  it("begin with their own inputs without states", async () => {
    const found = await diffModel(accumulator(), {
      judge: { devices: [await openTested(referenceBackend)] },
      suspect: { devices: [await makeAdding(0.5)] },
      inputs,
    });
    expect(found.operations[0]?.outputs[0]?.accumulated?.largestReal).toBeCloseTo(0.5, 6);
  });

  it("need a judge that computes", async () => {
    const compared = diffModel(accumulator(), {
      judge: { recordedValue: async () => undefined },
      suspect: { devices: [await makeAdding(0.5)] },
      inputs,
      states,
    });
    await expect(compared).rejects.toThrow("states: expected a judge that computes");
  });
});
