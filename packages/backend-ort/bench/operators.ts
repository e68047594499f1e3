/**
 * Where onnxruntime spends the time of a .tflite network: for each operator its share of the time, and what it computes in a second,
 * from the engine's own profile: the median of each node over the runs.
 *
 * Run from the top of the repository:
 * `npx tsx --conditions=@nnhal/source packages/backend-ort/bench/operators.ts MODEL [RUNS] [THREADS]`.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { viewModel } from "@nnhal/backend";
import { elementAt, elementCount } from "@nnhal/operations";
import { importTflite } from "@nnhal/tflite";
import * as ort from "onnxruntime-node";
import { openSession, sessionOptions } from "../src/engine.ts";
import { writeGraph } from "../src/lower.ts";
import { formsOfThisProcessor } from "../src/onnx-model.ts";

const [path = "", runsText = "100", threadsText = "1"] = process.argv.slice(2);
const { model } = importTflite(new Uint8Array(readFileSync(path)));
const pools = model.pools.map(({ handle, size }) => {
  if (handle === null || !("buffer" in handle)) throw new Error("the pools of an imported model are buffers");
  return new Uint8Array(handle.buffer, handle.byteOffset, size);
});
const graph = viewModel({ model, pools });
const lowered = writeGraph(
  graph,
  graph.inputs.map((index) => graph.operands[index]?.dimensions),
  await formsOfThisProcessor(),
);

type Shapes = readonly Readonly<Record<string, readonly number[]>>[];
/** The profile's event of one run of a node. */
interface Event {
  readonly name: string;
  readonly dur: number;
  readonly args: { readonly op_name?: string; readonly input_type_shape?: Shapes; readonly output_type_shape?: Shapes };
}

const feeds: Record<string, ort.Tensor> = {};
for (const wire of lowered.inputs) {
  if (wire === undefined) continue;
  const count = elementCount(wire.info.dimensions);
  const data = wire.type === "float32" ? new Float32Array(count).fill(0.4) : new Uint8Array(count).fill(99);
  feeds[wire.name] = new ort.Tensor(wire.type === "float32" ? "float32" : "uint8", data, [...wire.info.dimensions]);
}

/** The runs of nodes in the engine's profile of some runs of the network. */
async function profile(runs: number, extra: Readonly<Record<string, string>>): Promise<readonly Event[]> {
  const folder = mkdtempSync(join(tmpdir(), "nnhal-operators-"));
  try {
    const profileFilePrefix = join(folder, "profile");
    const options = sessionOptions(Number(threadsText), { enableProfiling: true, profileFilePrefix, extra });
    const session = await openSession(ort, lowered.model, options);
    for (let run = 0; run < runs; run++) await session.run(feeds);
    session.endProfiling();
    const events: readonly Event[] = JSON.parse(readFileSync(join(folder, elementAt(readdirSync(folder), 0)), "utf8"));
    return events.filter(({ name, args }) => name.endsWith("_kernel_time") && args.op_name !== undefined);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const nodes = new Map<string, { readonly kind: string; readonly products: number; readonly times: number[] }>();
// Weights that are packed for the kernels have no shape in the profile.
for (const { name, args } of await profile(1, { "session.disable_prepacking": "1" })) {
  nodes.set(name, { ...kindOf(args.op_name ?? "", args), times: [] });
}
for (const { name, dur, args } of await profile(Number(runsText), {})) {
  const node = nodes.get(name) ?? { ...kindOf(args.op_name ?? "", args), times: [] };
  nodes.set(name, node);
  node.times.push(dur);
}

/** The kind of a node, and the products that it computes. */
function kindOf(operator: string, { input_type_shape: inputs = [], output_type_shape: outputs = [] }: Event["args"]) {
  const shapes = inputs.flatMap((each) => Object.values(each));
  const results = elementCount(outputs.flatMap((each) => Object.values(each))[0] ?? []);
  const weights = shapes.slice(1).find(({ length }) => length === (operator.includes("Conv") ? 4 : 2));
  if (operator.includes("Conv") && weights !== undefined) {
    const [, inputsOfGroup = 0, height = 0, width = 0] = weights;
    const kind = `${operator} ${height}x${width}${inputsOfGroup === 1 ? " depthwise" : ""}`;
    return { kind, products: results * inputsOfGroup * height * width };
  }
  // Weights of products of matrices are [outputs, inputs].
  if (operator.includes("Gemm")) return { kind: operator, products: results * (weights?.[1] ?? 0) };
  return { kind: operator, products: 0 };
}

const kinds = new Map<string, { nodes: number; time: number; products: number }>();
for (const { kind, products, times } of nodes.values()) {
  times.sort((a, b) => a - b);
  const sum = kinds.get(kind) ?? { nodes: 0, time: 0, products: 0 };
  kinds.set(kind, sum);
  sum.nodes++;
  sum.time += times[times.length >> 1] ?? 0;
  sum.products += products;
}
const all = [...kinds.values()].reduce((sum, { time }) => sum + time, 0);
console.log("| operator | nodes | ms | share of the time | thousand million operations in a second |");
console.log("|---|---|---|---|---|");
for (const [kind, { nodes: count, time, products }] of [...kinds].sort(([, one], [, other]) => other.time - one.time)) {
  const rate = products === 0 ? "" : ((2 * products) / time / 1000).toFixed(1);
  console.log(`| ${kind} | ${count} | ${(time / 1000).toFixed(3)} | ${((100 * time) / all).toFixed(1)}% | ${rate} |`);
}
console.log(`all: ${(all / 1000).toFixed(2)} ms`);
