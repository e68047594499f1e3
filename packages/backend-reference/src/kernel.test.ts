import type { KernelSetup } from "@nnhal/backend";
import type { AnyArgs, Operation, TensorInfo } from "@nnhal/operations";
import { expect, it } from "vitest";
import { type Held, kernelOf } from "./kernel.ts";
import { createScratch } from "./scratch.ts";

const setup: KernelSetup<Held> = {
  constant: () => undefined,
  keep: (handle) => handle,
  onClose() {},
  onIdle() {},
  following: [],
};

/** Runs kernels without inputs and with an output of `count` float32; each says after how many pauses it began, and on which memory. */
function createRuns(count: number) {
  let pauses = 0;
  const began: { readonly pauses: number; readonly isZero: boolean }[] = [];
  const operation = {
    reference: (_: AnyArgs, { output }: { readonly output: Held }) => {
      began.push({ pauses, isZero: (output.data as Float32Array).every((element) => element === 0) });
      (output.data as Float32Array).fill(7);
    },
  } as unknown as Operation;
  const scratch = createScratch();
  const info: TensorInfo = { type: "TENSOR_FLOAT32", dimensions: [count], scale: 0, zeroPoint: 0 };
  const kernel = kernelOf(operation, { scratch, widened: { bytes: 0 }, helper: undefined });
  const prepared = kernel?.prepare({}, { output: info } as unknown as AnyArgs, setup);
  const run = () => {
    pauses = 0;
    const steps = prepared?.(() => expect.unreachable(), { random: () => 0 } as never) as unknown;
    const isDone = Array.isArray(steps);
    let outputs = isDone ? (steps as readonly Held[]) : [];
    for (const work = steps as Generator<void, readonly Held[]>; !isDone; pauses++) {
      const { done, value } = work.next();
      if (!done) continue;
      outputs = value;
      break;
    }
    for (const { data } of outputs) scratch.giveBack(data);
  };
  return { run, began };
}

// The system gives new memory page by page, so that it is cleared like used memory if it is large.
it.each([
  ["small, are cleared at once", 2 ** 16, 0],
  ["large, are cleared with pauses", 2 ** 20, 15],
])("the outputs of a kernel, if they are %s, new or used", (_, count, pauses) => {
  const { run, began } = createRuns(count);
  run();
  run();
  expect(began).toEqual([
    { pauses, isZero: true },
    { pauses, isZero: true },
  ]);
});
