/**
 * Random examples, and the reference device on all of them: its results equal the kernels', and it refuses the same examples.
 */
import { referenceBackend } from "@nnhal/backend-reference";
import { openDevice } from "@nnhal/driver-core/device";
import { elementAt, operations } from "@nnhal/operations";
import { everyWay } from "@nnhal/test-kit/samples";
import { describe, expect, it } from "vitest";
import { summarise } from "../result.ts";
import { runVectors } from "../vectors/run.ts";
import { kernelOperations, randomExamples } from "./examples.ts";

describe("random examples", () => {
  it("are the same for the same seed, and others for another", () => {
    const list = (seed: number) => [...randomExamples({ seed, count: 3 })];
    expect(list(1)).toEqual(list(1));
    expect(list(1)).not.toEqual(list(2));
  });

  it("are of all operations but IF and WHILE, each with a name of its own", () => {
    const examples = [...randomExamples({ count: 20 })];
    expect(new Set(examples.map(({ name }) => name)).size).toBe(examples.length);
    const subjects = new Set(examples.map(({ main }) => elementAt(main.operations, 0).type));
    expect([...subjects].sort()).toEqual(
      operations
        .map(({ name }) => name)
        .filter((name) => name !== "IF" && name !== "WHILE")
        .sort(),
    );
  });

  it("are right ones for the most part, and wrong ones too", () => {
    const examples = [...randomExamples({ count: 20 })];
    const wrong = examples.filter(({ expectFailure }) => expectFailure).length;
    expect(wrong).toBeGreaterThan(0.05 * examples.length);
    expect(wrong).toBeLessThan(0.4 * examples.length);
  });

  it("can be those of some operations", () => {
    const first = elementAt(kernelOperations(), 0);
    const examples = [...randomExamples({ count: 5, operations: [first] })];
    expect(examples.length).toBeGreaterThan(0);
    for (const { main } of examples) expect(main.operations.map(({ type }) => type)).toEqual([first.name]);
  });
});

it("agree with the reference device", { timeout: 300_000 }, async () => {
  const count = everyWay ? 25 : 10;
  const device = await openDevice({ backend: referenceBackend });
  if ("unavailable" in device) throw new Error(device.unavailable);
  const summary = await summarise(runVectors(device, randomExamples({ count })));
  expect(summary.failures).toEqual([]);
  expect(summary.unsupported).toBe(0);
  expect(summary.bySubject.size).toBe(kernelOperations().length);
  expect(summary.passed).toBeGreaterThan(0.72 * count * kernelOperations().length);
});
