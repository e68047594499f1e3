/**
 * Small convolutions of random sizes on the device, held against the reference kernels: extents, filters, strides, dilations and paddings
 * of a few cells, in all types. Prints for each mode how many passed, failed and trapped, and the first failures.
 *
 * Run from the top of the repository:
 * `npx tsx --conditions=@nnhal/source packages/backend-gpujs/bench/small-convolutions.ts [COUNT] [SEED] [MODE…]`.
 */
import { type Example, randomExamples, runVectors, summarise } from "@nnhal/conformance";
import { openDevice } from "@nnhal/driver-core/device";
import { operationByCode } from "@nnhal/operations";
import { OperationType } from "@nnhal/types";
import { gpujsBackend } from "../src/index.ts";
import { modeNames } from "../src/machine/machine.ts";

const [count = 5000, seed = 1] = process.argv.slice(2, 4).map(Number);
const wanted = process.argv.slice(4);
const codes = ["CONV_2D", "DEPTHWISE_CONV_2D", "GROUPED_CONV_2D", "TRANSPOSE_CONV_2D"] as const;

/** Convolutions that are right, of each kind in turn. */
function* convolutions(): Generator<Example> {
  const streams = codes.map((code) => {
    const operation = operationByCode(OperationType[code]);
    return randomExamples({ seed, count, ...(operation && { operations: [operation] }) });
  });
  for (let given = 0; given < count; ) {
    for (const stream of streams) {
      const { value, done } = stream.next();
      if (done) return;
      if (value.expectFailure || given === count) continue;
      given++;
      yield value;
    }
  }
}

for (const mode of modeNames.filter((name) => wanted.length === 0 || wanted.includes(name))) {
  const device = await openDevice({ backend: gpujsBackend({ mode }) });
  if ("unavailable" in device) {
    console.log(`${mode}: ${device.unavailable}`);
    continue;
  }
  const { passed, failed, unsupported, failures } = await summarise(runVectors(device, convolutions()));
  const traps = failures.filter(({ reason = "" }) => reason.includes("out of bounds")).length;
  console.log(`${mode}: ${passed} passed, ${failed} failed (${traps} traps), ${unsupported} unsupported`);
  for (const { name, reason } of failures.slice(0, 10)) console.log(`  ${name}: ${reason}`);
}
