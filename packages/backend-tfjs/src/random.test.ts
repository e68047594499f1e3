/**
 * Random operations on the tfjs backend, held against the reference kernels: other shapes, windows, quantisations and hostile
 * numbers than the public vectors have. Those of the windows are more, since tfjs has odd ways with padding.
 */
import {
  extremeConvolutions,
  modelRunner,
  randomExamples,
  runArithmetic,
  runVectors,
  summarise,
} from "@nnhal/conformance";
import { type Operation, operationByCode } from "@nnhal/operations";
import { everyWay } from "@nnhal/test-kit/samples";
import { ErrorStatus, OperandLifeTime, OperandType, OperationType } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { deviceOn } from "./_devices.test-helper.ts";
import { constant, modelOf, network, operand } from "./_models.test-helper.ts";

const { CONV_2D, DEPTHWISE_CONV_2D, GROUPED_CONV_2D, TRANSPOSE_CONV_2D, FILL } = OperationType;
const { AVERAGE_POOL_2D, L2_POOL_2D, MAX_POOL_2D, LOCAL_RESPONSE_NORMALIZATION } = OperationType;

/** `count`: examples of an operation with NNHAL_VECTOR_WAYS=all, of which `least` are passed; half of them by default. */
async function expectRight(count: number, least: number, operations?: readonly Operation[]): Promise<void> {
  const share = everyWay ? 1 : 0.5;
  const examples = randomExamples({ count: share * count, ...(operations && { operations }) });
  const { failures, passed } = await summarise(runVectors(await deviceOn("wasm"), examples));
  expect(failures.map(({ name, reason }) => `${name}: ${reason}`)).toEqual([]);
  expect(passed).toBeGreaterThan(share * least);
}

describe("the tfjs backend", { timeout: 120_000 }, () => {
  it("computes random operations", () => expectRight(12, 900));

  it("computes random windows", () => {
    const convolutions = [CONV_2D, DEPTHWISE_CONV_2D, GROUPED_CONV_2D, TRANSPOSE_CONV_2D];
    const pools = [AVERAGE_POOL_2D, L2_POOL_2D, MAX_POOL_2D];
    const codes: readonly number[] = [...convolutions, ...pools, LOCAL_RESPONSE_NORMALIZATION];
    const operations = codes.map(operationByCode).filter((operation) => operation !== undefined);
    return expectRight(160, 1000, operations);
  });

  it.each(["wasm", "cpu"] as const)(
    "computes layers of 8 bits with extreme values on %s",
    { timeout: everyWay ? 3_600_000 : 120_000 },
    async (engine) => {
      const count = everyWay ? 10_000 : 100;
      const { failures, passed } = await summarise(runVectors(await deviceOn(engine), extremeConvolutions({ count })));
      expect(failures.map(({ name, reason }) => `${name}: ${reason}`)).toEqual([]);
      expect(passed).toBe(count);
    },
  );

  // The engine divides integers as floats: -2147483648 / 2147483647 would be -1.
  it("divides the greatest integers, rounding down", async () => {
    const { failures, passed } = await summarise(runArithmetic(await deviceOn("wasm"), { only: "DIV" }));
    expect(failures).toEqual([]);
    expect(passed).toBeGreaterThan(40);
  });

  it("refuses a tensor that is too large for its engine, and continues", async () => {
    const device = await deviceOn("wasm");
    const fill = modelOf(
      [
        constant(OperandType.TENSOR_INT32, [1], 0, 4),
        constant(OperandType.INT32, [], 4, 4),
        operand(OperandType.TENSOR_INT32, OperandLifeTime.SUBGRAPH_OUTPUT, [0]),
      ],
      [{ type: FILL, inputs: [0, 1], outputs: [2] }],
      new Uint8Array(Int32Array.of(2 ** 29, 7).buffer),
    );
    const { status, message } = await device.prepareModel(fill);
    expect(status).toBe(ErrorStatus.GENERAL_FAILURE);
    expect(message).toMatch(/tensors take 4294967296 bytes, more than the \d+ left in the engine wasm/);
    const run = await modelRunner(network(), [device]);
    const [output] = await run([new Uint8Array(Float32Array.of(1, 2).buffer)]);
    expect(new Float32Array(output.buffer)[0]).toBeCloseTo(2, 6);
  });
});
