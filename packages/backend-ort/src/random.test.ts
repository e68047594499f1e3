/**
 * Random operations on the ort backend, held against the reference kernels: other shapes, windows, quantisations and hostile
 * numbers than the public vectors have.
 */
import { randomExamples, runArithmetic, runVectors, summarise } from "@nnhal/conformance";
import { operationByCode } from "@nnhal/operations";
import { OperationType } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { deviceOf } from "./_devices.test-helper.ts";
import { ortBackend } from "./ort-backend.ts";

const { CONV_2D, DEPTHWISE_CONV_2D, GROUPED_CONV_2D, TRANSPOSE_CONV_2D, FULLY_CONNECTED } = OperationType;
const { AVERAGE_POOL_2D, MAX_POOL_2D, MEAN, HARD_SWISH } = OperationType;

async function expectRight(
  options: Parameters<typeof randomExamples>[0],
  least: number,
  device = deviceOf(),
): Promise<void> {
  const { failures, passed } = await summarise(runVectors(await device, randomExamples(options)));
  expect(failures.map(({ name, reason }) => `${name}: ${reason}`)).toEqual([]);
  expect(passed).toBeGreaterThan(least);
}

function operationsOf(codes: readonly number[]) {
  return codes.map(operationByCode).filter((operation) => operation !== undefined);
}

describe("the ort backend", { timeout: 120_000 }, () => {
  it("computes random operations", () => expectRight({ count: 8 }, 400));

  // Among them are sums beyond 32 bits, averages in the middle of two numbers, and weights that the engine would round to 8 bits.
  const windows = [CONV_2D, DEPTHWISE_CONV_2D, GROUPED_CONV_2D, TRANSPOSE_CONV_2D, AVERAGE_POOL_2D, MAX_POOL_2D];
  const sums = operationsOf([...windows, FULLY_CONNECTED, MEAN, HARD_SWISH]);

  it("computes random windows and sums", () => expectRight({ count: 60, operations: sums }, 300));

  it("computes random products with unsigned weights", () => {
    const operations = operationsOf([CONV_2D, DEPTHWISE_CONV_2D, GROUPED_CONV_2D, FULLY_CONNECTED]);
    const backend = ortBackend({ threads: 1, unsignedWeights: true });
    return expectRight({ count: 40, operations }, 80, deviceOf({ backend }));
  });

  it("refuses a transposed convolution of which no filter reaches the result", async () => {
    // Two rows of padding less than none below a result of two rows: all of it is the bias.
    const only = "arithmetic/TRANSPOSE_CONV_2D/random/1.8";
    const { failures, reasons } = await summarise(runArithmetic(await deviceOf(), { only }));
    expect(failures).toEqual([]);
    expect([...reasons.keys()]).toEqual([expect.stringContaining("an output that no filter reaches is not available")]);
  });
});
