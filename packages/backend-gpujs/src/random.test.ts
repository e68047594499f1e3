/**
 * Random operations on the gpu.js backend, held against the reference kernels. Those of the windows are more: extents, strides, dilations
 * and paddings of a few cells, where only some of the threads that WebAssembly computes as one have a cell of the image. TOPK_V2 has
 * separate tests, since the HAL does not say where NaN comes.
 */
import { extremeConvolutions, randomExamples, runVectors, summarise } from "@nnhal/conformance";
import { operationByCode } from "@nnhal/operations";
import { everyWay } from "@nnhal/test-kit/samples";
import { OperationType, type OperationTypeName } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { deviceOn, deviceOver } from "./_devices.test-helper.ts";
import { kernels } from "./kernels/index.ts";

const windowed: readonly OperationTypeName[] = [
  "AVERAGE_POOL_2D",
  "CONV_2D",
  "DEPTHWISE_CONV_2D",
  "GROUPED_CONV_2D",
  "L2_POOL_2D",
  "LOCAL_RESPONSE_NORMALIZATION",
  "MAX_POOL_2D",
  "TRANSPOSE_CONV_2D",
];
const others = Object.keys(kernels).filter((name) => name !== "TOPK_V2" && !windowed.some((each) => each === name));

function operationsOf(names: readonly string[]) {
  return names.flatMap((name) => operationByCode(new Map(Object.entries(OperationType)).get(name) ?? -1) ?? []);
}

describe.each(["webasm", "cpu"] as const)("in mode %s", { timeout: 240_000 }, (mode) => {
  it.each([
    ["windows", windowed, everyWay ? 36 : 24, 130],
    ["other operations", others, everyWay ? 5 : 3, 120],
  ] as const)("computes random %s", async (_, names, count, least) => {
    const { device, machine } = await deviceOver(mode);
    const examples = randomExamples({ count, seed: 2, operations: operationsOf(names) });
    const { failures, passed } = await summarise(runVectors(device, examples));
    expect(failures.map(({ name, reason }) => `${name}: ${reason}`)).toEqual([]);
    expect(passed).toBeGreaterThan(least);
    expect(machine.statistics.values).toBe(0);
  });

  it("computes layers of 8 bits with extreme values", { timeout: everyWay ? 3_600_000 : 240_000 }, async () => {
    const count = everyWay ? 10_000 : 60;
    const examples = extremeConvolutions({ count });
    const { failures, passed, unsupported } = await summarise(runVectors(await deviceOn(mode), examples));
    expect(failures.map(({ name, reason }) => `${name}: ${reason}`)).toEqual([]);
    // Some have a bias that is not constant and sums beyond 2^23.
    expect(passed + unsupported).toBe(count);
    expect(passed).toBeGreaterThan(0.95 * count);
  });
});
