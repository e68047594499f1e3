/**
 * Random operations and graphs on the wasm backend, held against the reference kernels: other shapes, windows, quantisations and hostile
 * numbers than the public vectors have.
 */
import { randomExamples, runGraphs, runVectors, summarise } from "@nnhal/conformance";
import { operationByCode } from "@nnhal/operations";
import { OperationType } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { deviceOf } from "./_devices.test-helper.ts";

const { BATCH_MATMUL, MIRROR_PAD, PACK, REVERSE } = OperationType;
const { CONV_2D, DEPTHWISE_CONV_2D, FULLY_CONNECTED, AVERAGE_POOL_2D, MAX_POOL_2D, MEAN, SOFTMAX } = OperationType;

async function expectRight(options: Parameters<typeof randomExamples>[0], least: number): Promise<void> {
  const { failures, passed } = await summarise(runVectors(await deviceOf(), randomExamples(options)));
  expect(failures.map(({ name, reason }) => `${name}: ${reason}`)).toEqual([]);
  expect(passed).toBeGreaterThan(least);
}

describe("the wasm backend", { timeout: 120_000 }, () => {
  it("computes random operations", () => expectRight({ count: 8 }, 100));

  // Among them are sums beyond 32 bits, and averages in the middle of two numbers.
  const codes = [CONV_2D, DEPTHWISE_CONV_2D, FULLY_CONNECTED, AVERAGE_POOL_2D, MAX_POOL_2D, MEAN, SOFTMAX];
  const sums = codes.map(operationByCode).filter((operation) => operation !== undefined);

  it("computes random windows and sums", () => expectRight({ count: 60, operations: sums }, 100));

  const added = [BATCH_MATMUL, MIRROR_PAD, PACK, REVERSE].map(operationByCode).filter((each) => each !== undefined);

  it("computes what AIDL adds", () => expectRight({ count: 60, operations: added }, 100));

  it("computes random graphs, each in one way in turn", async () => {
    const { failures, passed } = await summarise(runGraphs(await deviceOf(), { count: 7 }));
    expect(failures.map(({ name, reason }) => `${name}: ${reason}`)).toEqual([]);
    expect(passed).toBeGreaterThan(4);
  });
});
