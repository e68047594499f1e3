/**
 * The longest time that one operation holds the event loop: single operations of large sizes on the device, in one mode. Each kernel is
 * one call of gpu.js, which is not interrupted. Prints the least of the longest blocks of some executions, as processor time, so that it
 * matters little what else runs on the machine.
 *
 * Run from the top of the repository:
 * `npx tsx --conditions=@nnhal/source packages/backend-gpujs/bench/blocks.ts [MODE] [ROUNDS]`.
 */
import { modelRunner } from "@nnhal/conformance";
import { openDevice } from "@nnhal/driver-core/device";
import { Model } from "@nnhal/runtime";
import type { OperationTypeName } from "@nnhal/types";
import { gpujsBackend } from "../src/index.ts";
import { modeNames } from "../src/machine/machine.ts";

const mode = modeNames.find((name) => name === process.argv[2]) ?? "webasm";
const rounds = Number(process.argv[3] ?? 7);

const numbers = (dimensions: readonly number[]) =>
  Float32Array.from({ length: dimensions.reduce((count, extent) => count * extent, 1) }, (_, at) => Math.sin(at) * 0.1);

/** Extents of a constant, a scalar, or whole numbers. */
type Argument = readonly number[] | number | Int32Array;

interface Case {
  readonly name: OperationTypeName;
  readonly input: readonly number[];
  readonly args: readonly Argument[];
  readonly outputs: readonly (readonly number[])[];
  readonly whole?: boolean;
}

const same = [1, 1, 1];
const image = [1, 112, 112, 64];
const cases: readonly Case[] = [
  { name: "CONV_2D", input: image, args: [[64, 3, 3, 64], [64], ...same, 1], outputs: [image] },
  { name: "CONV_2D", input: image, args: [[128, 1, 1, 64], [128], ...same, 1], outputs: [[1, 112, 112, 128]] },
  { name: "DEPTHWISE_CONV_2D", input: image, args: [[1, 3, 3, 64], [64], ...same, 1, 1], outputs: [image] },
  { name: "FULLY_CONNECTED", input: [1, 4096], args: [[1024, 4096], [1024], 0], outputs: [[1, 1024]] },
  { name: "MAX_POOL_2D", input: image, args: [...same, 3, 3, 0], outputs: [image] },
  { name: "ADD", input: [1024, 1024], args: [[1024, 1024], 0], outputs: [[1024, 1024]] },
  { name: "TANH", input: [1024, 1024], args: [], outputs: [[1024, 1024]] },
  { name: "TRANSPOSE", input: [1024, 1024], args: [Int32Array.of(1, 0)], outputs: [[1024, 1024]] },
  { name: "TOPK_V2", input: [32768], args: [32768], outputs: [[32768], [32768]], whole: true },
  { name: "TOPK_V2", input: [2 ** 20], args: [2 ** 20], outputs: [[2 ** 20], [2 ** 20]], whole: true },
];

function modelOf({ name, input, args, outputs, whole }: Case): Model {
  const model = new Model();
  const first = model.addOperand({ type: "TENSOR_FLOAT32", dimensions: input });
  const others = args.map((arg) => {
    if (typeof arg === "number") {
      const index = model.addOperand({ type: "INT32" });
      model.setOperandValue(index, arg);
      return index;
    }
    const isWhole = arg instanceof Int32Array;
    const dimensions = isWhole ? [arg.length] : arg;
    const index = model.addOperand({ type: isWhole ? "TENSOR_INT32" : "TENSOR_FLOAT32", dimensions });
    model.setOperandValue(index, isWhole ? arg : numbers(arg));
    return index;
  });
  const results = outputs.map((dimensions, place) =>
    model.addOperand({ type: whole && place === 1 ? "TENSOR_INT32" : "TENSOR_FLOAT32", dimensions }),
  );
  model.addOperation(name, [first, ...others], results);
  model.identifyInputsAndOutputs([first], results);
  model.finish();
  return model;
}

const device = await openDevice({ backend: gpujsBackend({ mode }) });
if ("unavailable" in device) throw new Error(device.unavailable);
for (const one of cases) {
  const run = await modelRunner(modelOf(one).hal, [device]);
  const input = new Uint8Array(numbers(one.input).buffer);
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round++) {
    let longest = 0;
    let last = process.cpuUsage().user;
    let isOver = false;
    const tick = () => {
      const now = process.cpuUsage().user;
      longest = Math.max(longest, (now - last) / 1000);
      last = now;
      if (!isOver) setImmediate(tick);
    };
    setImmediate(tick);
    await run([input]);
    isOver = true;
    tick();
    least = Math.min(least, longest);
  }
  console.log(`${mode} ${one.name} of ${one.input.join("x")}: ${least.toFixed(1)} ms`);
}
