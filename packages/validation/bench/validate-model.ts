/**
 * Measures the time of validation: for real models, cold and warm, and for generated models of growing size, where time
 * must grow no faster than the number of operations.
 *
 * Targets: a MobileNet of 65 operations within 0.5 ms, 100 000 operations within 1.5 s. The exit code is 1 if a target is
 * missed.
 *
 * Run from the top of the repository: `npx tsx --conditions=@nnhal/source --expose-gc packages/validation/bench/validate-model.ts`;
 * models come from NNHAL_MODELS, by default ../shared/models beside the checkout.
 */
import { elementAt } from "@nnhal/operations";
import { type Model, type Operand, OperandLifeTime, OperandType, type Operation, OperationType } from "@nnhal/types";
import { noModels, realModels } from "../../tflite/src/_files.test-helper.ts";
import { importTflite, readTflite } from "../../tflite/src/index.ts";
import { modelIssues } from "../src/index.ts";

const rounds = 201;

function milliseconds(action: () => unknown): number {
  const start = performance.now();
  action();
  return performance.now() - start;
}

function median(times: readonly number[]): number {
  return elementAt(
    [...times].sort((a, b) => a - b),
    Math.floor(times.length / 2),
  );
}

function validate(model: Model): void {
  const [issue] = modelIssues(model);
  if (issue !== undefined) throw new Error(`${issue.path}: ${issue.message}`);
}

/** A chain of additions, pools and activations, each with separate constants. */
function chain(length: number): Model {
  const operands: Operand[] = [];
  const operations: Operation[] = [];
  const add = (facts: Partial<Operand>) =>
    operands.push({
      type: OperandType.TENSOR_FLOAT32,
      dimensions: [1, 8, 8, 4],
      numberOfConsumers: 1,
      scale: 0,
      zeroPoint: 0,
      lifetime: OperandLifeTime.TEMPORARY_VARIABLE,
      location: { poolIndex: 0, offset: 0, length: 0 },
      extraParams: { kind: "none" },
      ...facts,
    }) - 1;
  const constant = (offset: number, bytes: number, facts: Partial<Operand> = {}) =>
    add({ lifetime: OperandLifeTime.CONSTANT_COPY, location: { poolIndex: 0, offset, length: bytes }, ...facts });
  const int32 = (offset: number) => constant(offset, 4, { type: OperandType.INT32, dimensions: [] });
  const one = 0;
  const zero = 4;
  const links = [
    { type: OperationType.ADD, others: () => [constant(8, 16, { dimensions: [4] }), int32(zero)] },
    { type: OperationType.MAX_POOL_2D, others: () => [...Array.from({ length: 5 }, () => int32(one)), int32(zero)] },
    { type: OperationType.RELU, others: () => [] },
  ];
  let value = add({ lifetime: OperandLifeTime.SUBGRAPH_INPUT });
  for (let index = 0; index < length; index++) {
    const isLast = index === length - 1;
    const output = { lifetime: OperandLifeTime.SUBGRAPH_OUTPUT, numberOfConsumers: 0 };
    const { type, others } = elementAt(links, index % links.length);
    const inputs = [value, ...others()];
    const next = add(isLast ? output : {});
    operations.push({ type, inputs, outputs: [next] });
    value = next;
  }
  const operandValues = new Uint8Array(24);
  operandValues[one] = 1;
  return {
    main: { operands, operations, inputIndexes: [0], outputIndexes: [value] },
    referenced: [],
    operandValues,
    pools: [],
    relaxComputationFloat32toFloat16: false,
    extensionNameToPrefix: [],
  };
}

const header = ["model", "operations", "first ms", "median ms", "us per operation", "heap MB"];
const rows: (string | number)[][] = [];
let missed = false;

function measure(name: string, model: Model, repeats: number, target?: number): void {
  globalThis.gc?.();
  const before = process.memoryUsage().heapUsed;
  const first = milliseconds(() => validate(model));
  const used = globalThis.gc === undefined ? "?" : ((process.memoryUsage().heapUsed - before) / 1e6).toFixed(1);
  const time = median(Array.from({ length: repeats }, () => milliseconds(() => validate(model))));
  const count = model.main.operations.length;
  rows.push([name, count, first.toFixed(2), time.toFixed(3), ((time * 1000) / count).toFixed(2), used]);
  if (target === undefined || time <= target) return;
  missed = true;
  console.log(`${name}: ${time.toFixed(3)} ms, the target is ${target} ms`);
}

if (realModels.length === 0) console.log(noModels);
for (const { name, bytes } of realModels) {
  const { model } = importTflite(bytes);
  // The import may add an operation that copies an input to an output.
  const isTarget = readTflite(bytes).subgraphs[0]?.operators.length === 65;
  measure(name, model, rounds, isTarget ? 0.5 : undefined);
}
for (const length of [1000, 10_000, 100_000])
  measure("generated", chain(length), Math.max(7, 100_000 / length), length === 100_000 ? 1500 : undefined);

const table = [header, ...rows];
const widths = header.map((_, place) => Math.max(...table.map((row) => String(row[place]).length)));
for (const row of table) {
  const cells = row.map((cell, place) => {
    const width = elementAt(widths, place);
    return place === 0 ? String(cell).padEnd(width) : String(cell).padStart(width);
  });
  console.log(cells.join("  "));
}
process.exitCode = missed ? 1 : 0;
