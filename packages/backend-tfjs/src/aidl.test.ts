/** Operations that AIDL adds: limits, and results that the vectors do not have. */
import { viewModel } from "@nnhal/backend";
import { referenceBackend } from "@nnhal/backend-reference";
import { modelRunner } from "@nnhal/conformance";
import { openDevice } from "@nnhal/driver-core/device";
import { list, matmulModel, operationModel } from "@nnhal/test-kit/operation-models";
import { type Model, OperandType, OperationType } from "@nnhal/types";
import { expect, it } from "vitest";
import { deviceOn } from "./_devices.test-helper.ts";
import { tfjsBackend } from "./tfjs-backend.ts";

const { TENSOR_FLOAT32, TENSOR_INT32, TENSOR_QUANT8_ASYMM, TENSOR_QUANT8_ASYMM_SIGNED } = OperandType;

async function refusalOf(model: Model): Promise<string | undefined> {
  const session = await tfjsBackend({ engine: "wasm" }).open();
  if ("unavailable" in session) throw new Error(session.unavailable);
  const [outcome] = viewModel({ model, pools: [] }).operations.map((view) => session.supports(view));
  session.close?.();
  return outcome?.supported === false ? outcome.reason : undefined;
}

it("BATCH_MATMUL takes bytes of depths whose sums float32 has exactly", async () => {
  const facts = { type: TENSOR_QUANT8_ASYMM_SIGNED, scale: 0.5, zeroPoint: -128 };
  for (const isTurned of [false, true]) {
    expect(await refusalOf(matmulModel(facts, [], [2, 258, 3], isTurned, false))).toBeUndefined();
    expect(await refusalOf(matmulModel(facts, [], [2, 259, 3], isTurned, false))).toMatch("259 products");
  }
  const floats = { type: TENSOR_FLOAT32 };
  expect(await refusalOf(matmulModel(floats, [], [2, 259, 3], false, false))).toBeUndefined();
  expect(await refusalOf(matmulModel({ type: TENSOR_INT32 }, [], [2, 2, 2], false, false))).toMatch("INT32");
});

it("the greatest sums of bytes are exact", async () => {
  const facts = { type: TENSOR_QUANT8_ASYMM_SIGNED, scale: 1, zeroPoint: -128 };
  // 258 products of 255 and 255 are 127.998 steps of the result.
  const model = matmulModel(facts, [], [1, 258, 1], false, true, { ...facts, scale: 2 ** 17, zeroPoint: -1 });
  const run = await modelRunner(model, [await deviceOn("wasm")]);
  const most = new Uint8Array(258).fill(127);
  expect(await run([most, most])).toEqual([Uint8Array.of(127)]);
  expect(await run([most, new Uint8Array(258).fill(128)])).toEqual([Uint8Array.of(255)]);
});

it("RSQRT of bytes has the results of the reference", async () => {
  const facts = { type: TENSOR_QUANT8_ASYMM, dimensions: [256], scale: 0.05, zeroPoint: 7 };
  const model = operationModel(OperationType.RSQRT, [facts], { ...facts, scale: 0.02, zeroPoint: 1 });
  const reference = await openDevice({ backend: referenceBackend });
  if ("unavailable" in reference) throw new Error(reference.unavailable);
  const input = Uint8Array.from({ length: 256 }, (_, byte) => byte);
  const [own, right] = await Promise.all(
    [await deviceOn("wasm"), reference].map(async (device) => (await modelRunner(model, [device]))([input])),
  );
  expect(own).toEqual(right);
});

it("REVERSE turns the axis that it is given, also one that is known at run time only", async () => {
  const facts = { type: TENSOR_QUANT8_ASYMM, scale: 1, dimensions: [2, 3] };
  const device = await deviceOn("wasm");
  const along = async (axis: number) =>
    (await modelRunner(operationModel(OperationType.REVERSE, [facts, list([axis])], facts), [device]))([
      Uint8Array.of(1, 2, 3, 4, 5, 6),
    ]);
  expect(await along(0)).toEqual([Uint8Array.of(4, 5, 6, 1, 2, 3)]);
  expect(await along(1)).toEqual([Uint8Array.of(3, 2, 1, 6, 5, 4)]);
  const open = operationModel(OperationType.REVERSE, [facts, { type: TENSOR_INT32, dimensions: [1] }], facts);
  const run = await modelRunner(open, [device]);
  const axis = (place: number) => new Uint8Array(Int32Array.of(place).buffer);
  expect(await run([Uint8Array.of(1, 2, 3, 4, 5, 6), axis(1)])).toEqual([Uint8Array.of(3, 2, 1, 6, 5, 4)]);
  await expect(run([new Uint8Array(6), axis(2)])).rejects.toThrow();
  await expect(run([new Uint8Array(6), axis(-1)])).rejects.toThrow();
});
