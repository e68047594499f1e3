/**
 * Measures the gain of a compilation cache: preparing a model, preparing and saving it, and preparing it from the cache, in
 * turn. Milliseconds, median. A backend that saves blobs must be at least three times as fast from its cache; otherwise the
 * exit code is 1.
 *
 * Run from the top of the repository: `npx tsx --conditions=@nnhal/source packages/driver-core/bench/cache.ts [ROUNDS]`; models
 * come from NNHAL_MODELS, by default ../shared/models beside the checkout, and are left out if there are none.
 */
import type { Backend } from "@nnhal/backend";
import { referenceBackend } from "@nnhal/backend-reference";
import { elementAt } from "@nnhal/operations";
import {
  type Model,
  type Operand,
  OperandLifeTime,
  OperandType,
  OperationType,
  type PreparedModel,
  type PrepareResult,
} from "@nnhal/types";
import { realModels } from "../../tflite/src/_files.test-helper.ts";
import { importTflite } from "../../tflite/src/index.ts";
import { createTestCache } from "../src/cache/cache-files.test-helper.ts";
import { openDevice } from "../src/device/index.ts";
import { memoryOf } from "../src/memory/index.ts";
import { tuningBackend } from "./tuning-backend.ts";

const rounds = Number(process.argv[2] ?? 20);
const size = 768;
const layers = 4;

/** A chain of FULLY_CONNECTED layers with pseudo-random weights. */
function chain(): Model {
  const { SUBGRAPH_INPUT, SUBGRAPH_OUTPUT, TEMPORARY_VARIABLE, CONSTANT_COPY, CONSTANT_REFERENCE } = OperandLifeTime;
  const operands: Operand[] = [];
  const add = (lifetime: number, dimensions: number[], offset = 0, type: number = OperandType.TENSOR_FLOAT32) => {
    const isConstant = lifetime === CONSTANT_COPY || lifetime === CONSTANT_REFERENCE;
    const length = isConstant ? dimensions.reduce((count, extent) => count * extent, 4) : 0;
    const place = { type, dimensions, lifetime, location: { poolIndex: 0, offset, length } };
    const consumers = lifetime === SUBGRAPH_OUTPUT ? 0 : 1;
    return (
      operands.push({ ...place, numberOfConsumers: consumers, scale: 0, zeroPoint: 0, extraParams: { kind: "none" } }) -
      1
    );
  };
  const row = 4 * size;
  const operations = [];
  const input = add(SUBGRAPH_INPUT, [1, size]);
  let previous = input;
  for (let layer = 0; layer < layers; layer++) {
    const weights = add(CONSTANT_REFERENCE, [size, size], layer * row * (size + 1));
    const bias = add(CONSTANT_REFERENCE, [size], layer * row * (size + 1) + row * size);
    const activation = add(CONSTANT_COPY, [], 0, OperandType.INT32);
    const output = add(layer === layers - 1 ? SUBGRAPH_OUTPUT : TEMPORARY_VARIABLE, [1, size]);
    operations.push({
      type: OperationType.FULLY_CONNECTED,
      inputs: [previous, weights, bias, activation],
      outputs: [output],
    });
    previous = output;
  }
  let state = 1;
  const pool = Float32Array.from({ length: layers * size * (size + 1) }, () => {
    state = (state * 48_271) % 0x7fff_ffff;
    return state / 0x7fff_ffff / size;
  });
  return {
    main: { operands, operations, inputIndexes: [input], outputIndexes: [previous] },
    referenced: [],
    operandValues: new Uint8Array(4),
    pools: [memoryOf(new Uint8Array(pool.buffer))],
    relaxComputationFloat32toFloat16: false,
    extensionNameToPrefix: [],
  };
}

async function timePrepare(times: number[], prepare: () => Promise<PrepareResult>): Promise<PreparedModel> {
  const start = performance.now();
  const { preparedModel, message } = await prepare();
  times.push(performance.now() - start);
  if (preparedModel === null) throw new Error(message);
  return preparedModel;
}

/** Returns the result of a prepared chain for inputs of ones. */
async function resultOf(preparedModel: PreparedModel): Promise<string> {
  const values = new Float32Array(2 * size).fill(1);
  const argument = (offset: number) => {
    return { hasNoValue: false, location: { poolIndex: 0, offset, length: 4 * size }, dimensions: [] };
  };
  const { status } = await preparedModel.execute({
    inputs: [argument(0)],
    outputs: [argument(4 * size)],
    pools: [{ kind: "memory", memory: memoryOf(new Uint8Array(values.buffer)) }],
  });
  return `${status}: ${values.subarray(size)}`;
}

function median(times: readonly number[]): number {
  const sorted = times.slice(times.length >> 2).sort((a, b) => a - b);
  return elementAt(sorted, sorted.length >> 1);
}

/** Measures how many times faster a preparation from a cache is. */
async function measure(
  name: string,
  backend: Backend,
  model: Model,
  check: (preparedModel: PreparedModel) => Promise<string> = async () => "",
): Promise<number> {
  const device = await openDevice({ backend, caching: { key: new Uint8Array(32).fill(1) } });
  if ("unavailable" in device) throw new Error(device.unavailable);
  const files = createTestCache();
  const cache = files.open();
  const plain: number[] = [];
  const saving: number[] = [];
  const loading: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const prepared = [
      await timePrepare(plain, () => device.prepareModel(model)),
      await timePrepare(saving, () => device.prepareModel(model, { cache })),
      await timePrepare(loading, () => device.prepareModelFromCache(cache)),
    ];
    const results = new Set(await Promise.all(prepared.map(check)));
    if (results.size > 1) throw new Error(`${name}: the prepared models differ`);
    for (const preparedModel of prepared) preparedModel.close();
  }
  const bytes = files.read("model").length + files.read("data").length;
  files.remove();
  await device.close();
  const ratio = median(plain) / median(loading);
  const columns = [plain, saving, loading].map((times) => median(times).toFixed(2).padStart(10));
  console.log(
    `| ${name.padEnd(44)} |${columns.join(" |")} |${ratio.toFixed(1).padStart(8)} |${String(bytes >> 10).padStart(8)} |`,
  );
  return ratio;
}

console.log(`| ${"milliseconds".padEnd(44)} |    prepare | and save | from cache | times as fast | KiB |`);
const model = chain();
const gained = await measure(`tuning backend, ${layers} layers of ${size} x ${size}`, tuningBackend, model, resultOf);
await measure("reference, the same", referenceBackend, model);
for (const { name, bytes } of realModels) {
  await measure(`reference, ${name}`, referenceBackend, importTflite(bytes).model);
}
process.exitCode = gained >= 3 ? 0 : 1;
