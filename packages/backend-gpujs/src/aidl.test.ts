/** Operations that AIDL adds: limits, and results that the vectors do not have. */
import { viewModel } from "@nnhal/backend";
import { referenceBackend } from "@nnhal/backend-reference";
import { modelRunner } from "@nnhal/conformance";
import { openDevice } from "@nnhal/driver-core/device";
import { byteExamples, mostExactProducts } from "@nnhal/test-kit/aidl-examples";
import { int32, matmulModel, operationModel } from "@nnhal/test-kit/operation-models";
import { type Model, OperandType, OperationType } from "@nnhal/types";
import { expect, it } from "vitest";
import { deviceOn } from "./_devices.test-helper.ts";
import { gpujsBackend } from "./gpujs-backend.ts";

const { TENSOR_FLOAT32, TENSOR_INT32, TENSOR_QUANT8_ASYMM, TENSOR_QUANT8_ASYMM_SIGNED } = OperandType;

async function refusalOf(model: Model): Promise<string | undefined> {
  const session = await gpujsBackend({ mode: "webasm" }).open();
  if ("unavailable" in session) throw new Error(session.unavailable);
  const [outcome] = viewModel({ model, pools: [] }).operations.map((view) => session.supports(view));
  session.close?.();
  return outcome?.supported === false ? outcome.reason : undefined;
}

it("BATCH_MATMUL takes bytes of depths whose sums float32 has exactly", async () => {
  const facts = { type: TENSOR_QUANT8_ASYMM_SIGNED, scale: 0.5, zeroPoint: -128 };
  for (const isTurned of [false, true]) {
    expect(await refusalOf(matmulModel(facts, [], [2, mostExactProducts, 3], isTurned, false))).toBeUndefined();
    expect(await refusalOf(matmulModel(facts, [], [2, mostExactProducts + 1, 3], isTurned, false))).toMatch(
      `${mostExactProducts + 1} products`,
    );
  }
  const floats = { type: TENSOR_FLOAT32 };
  expect(await refusalOf(matmulModel(floats, [], [2, mostExactProducts + 1, 3], false, false))).toBeUndefined();
  expect(await refusalOf(matmulModel({ type: TENSOR_INT32 }, [], [2, 2, 2], false, false))).toMatch("INT32");
});

it.each(byteExamples.map((example) => [example.name, example] as const))("%s", async (_, { model, runs }) => {
  const run = await modelRunner(model, [await deviceOn("webasm")]);
  for (const { inputs, result } of runs) expect(await run(inputs)).toEqual([result]);
});

it("RSQRT of bytes has the results of the reference", async () => {
  const facts = { type: TENSOR_QUANT8_ASYMM, dimensions: [256], scale: 0.05, zeroPoint: 7 };
  const model = operationModel(OperationType.RSQRT, [facts], { ...facts, scale: 0.02, zeroPoint: 1 });
  const reference = await openDevice({ backend: referenceBackend });
  if ("unavailable" in reference) throw new Error(reference.unavailable);
  const input = Uint8Array.from({ length: 256 }, (_, byte) => byte);
  const [own, right] = await Promise.all(
    [await deviceOn("webasm"), reference].map(async (device) => (await modelRunner(model, [device]))([input])),
  );
  expect(own).toEqual(right);
});

it("REVERSE refuses an axis that is not constant", async () => {
  const facts = { type: TENSOR_QUANT8_ASYMM, scale: 1, dimensions: [2, 3] };
  const open = operationModel(OperationType.REVERSE, [facts, { type: TENSOR_INT32, dimensions: [1] }], facts);
  expect(await refusalOf(open)).toBe("REVERSE: the axis is not constant");
});

it("PACK joins more tensors than one program reads", async () => {
  const facts = { type: TENSOR_QUANT8_ASYMM, scale: 1, dimensions: [2] };
  const tensors = Array.from({ length: 9 }, () => facts);
  const model = operationModel(OperationType.PACK, [int32(1), ...tensors], { ...facts, dimensions: [2, 9] });
  const run = await modelRunner(model, [await deviceOn("webasm")]);
  const rows = tensors.map((_, place) => Uint8Array.of(place, 10 + place));
  expect(await run(rows)).toEqual([Uint8Array.of(0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14, 15, 16, 17, 18)]);
});
