/**
 * Memory of several devices behind one device of the runtime.
 */
import { memoryOf } from "@nnhal/driver-core/memory";
import { androidPolicy } from "@nnhal/driver-core/partition";
import { type BufferRole, type Device, ErrorStatus, type PreparedModel } from "@nnhal/types";
import { beforeEach, expect, it } from "vitest";
import { runtimeAsDevice } from "../runtime-as-device.ts";
import { chain, makeDoublingLoop, requestOf } from "./divided.test-helper.ts";
import { type Calls, openMemoryDevice } from "./memory-backend.test-helper.ts";

const { NONE, INVALID_ARGUMENT, GENERAL_FAILURE } = ErrorStatus;
const roles: readonly BufferRole[] = [{ modelIndex: 0, ioIndex: 0, frequency: 1 }];
const values = memoryOf(new Uint8Array(Float32Array.of(-1.5, 2.5).buffer));

let runtime: Device;
let first: { readonly device: Device; readonly calls: Calls };
let second: typeof first;
beforeEach(async () => {
  // in → FLOOR → a on the first; a → ABS → b → NEG → out on the second.
  first = await openMemoryDevice("first", ["FLOOR", "LESS", "ADD"]);
  second = await openMemoryDevice("second", ["ABS", "NEG", "WHILE"]);
  runtime = runtimeAsDevice([first.device, second.device], { policy: androidPolicy });
});

async function prepare(model = chain(), on = runtime): Promise<PreparedModel> {
  const { preparedModel, message } = await on.prepareModel(model.hal);
  if (preparedModel === null) throw new Error(message);
  return preparedModel;
}

async function allocate(
  models: readonly (PreparedModel | null)[],
  inputs: readonly BufferRole[],
  outputs: readonly BufferRole[],
) {
  const result = await runtime.allocate?.({ dimensions: [] }, models, inputs, outputs);
  if (result === undefined) throw new Error("there is no memory");
  return result;
}

async function numbersIn(buffer: Awaited<ReturnType<typeof allocate>>["buffer"]) {
  const numbers = new Float32Array(2);
  await buffer?.copyTo(memoryOf(new Uint8Array(numbers.buffer)));
  return [...numbers];
}

it("lies on the device that uses it, and is identified by its token", async () => {
  const model = await prepare();
  const input = await allocate([model], roles, []);
  const output = await allocate([model], [], roles);
  expect([first.calls, second.calls]).toEqual([["allocate"], ["allocate"]]);
  // Both devices gave out the same token.
  expect(input.token).not.toBe(output.token);
  await input.buffer?.copyFrom(values, []);
  expect((await model.execute(requestOf(input.token, output.token))).status).toBe(NONE);
  expect(await numbersIn(output.buffer)).toEqual([-2, -2]);
  const answer = await model.executeFenced?.(requestOf(input.token, output.token), []);
  expect(await answer?.syncFence?.wait()).toBe("SIGNALED");
  expect(first.calls).toEqual(["allocate", "write", "run", "run"]);
});

it("is refused for a value that another device uses", async () => {
  const model = await prepare();
  const input = await allocate([model], roles, []);
  const output = await allocate([model], [], roles);
  for (const wrong of [
    requestOf(output.token, input.token),
    requestOf([1, 2], input.token),
    requestOf(0, output.token),
  ]) {
    expect((await model.execute(wrong)).status).toBe(INVALID_ARGUMENT);
    expect(await model.executeFenced?.(wrong, [])).toMatchObject({ status: INVALID_ARGUMENT, callback: null });
  }
  expect((await model.execute(requestOf([1, 2], output.token))).status).toBe(NONE);
});

it("is not allocated if several devices or the runtime itself use the value", async () => {
  const model = await prepare();
  const nothing = { status: GENERAL_FAILURE, buffer: null, token: 0 };
  expect(await allocate([model], roles, roles)).toMatchObject(nothing);
  const interpreting = runtimeAsDevice([first.device, second.device], { policy: androidPolicy, cpu: second.device });
  const loop = await prepare(makeDoublingLoop(10), interpreting);
  expect(await interpreting.allocate?.({ dimensions: [] }, [loop], roles, [])).toMatchObject(nothing);
});

it("keeps the rules of roles", async () => {
  const model = await prepare();
  const foreign = await prepare(chain(), runtimeAsDevice([first.device, second.device], { policy: androidPolicy }));
  const wrong: [string, Parameters<typeof allocate>][] = [
    ["no role", [[model], [], []]],
    ["a model that is null", [[null], roles, []]],
    ["another device's model", [[foreign], roles, []]],
    ["an input that is not there", [[model], [{ modelIndex: 0, ioIndex: 1, frequency: 1 }], []]],
    ["a role twice", [[model, model], [...roles, { modelIndex: 1, ioIndex: 0, frequency: 1 }], []]],
  ];
  for (const [what, call] of wrong) {
    expect(await allocate(...call), what).toMatchObject({ status: INVALID_ARGUMENT, buffer: null, token: 0 });
  }
  expect((await allocate([model], roles, [])).status).toBe(NONE);
});
