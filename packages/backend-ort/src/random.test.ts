/**
 * Random operations on the ort backend, held against the reference kernels: other shapes, windows, quantisations and hostile
 * numbers than the public vectors have.
 */
import { randomExamples, runVectors, summarise } from "@nnhal/conformance";
import { describe, expect, it } from "vitest";
import { deviceOf } from "./_devices.test-helper.ts";

describe("the ort backend", { timeout: 120_000 }, () => {
  it("computes random operations", async () => {
    const { failures, passed } = await summarise(runVectors(await deviceOf(), randomExamples({ count: 8 })));
    expect(failures.map(({ name, reason }) => `${name}: ${reason}`)).toEqual([]);
    expect(passed).toBeGreaterThan(400);
  });
});
