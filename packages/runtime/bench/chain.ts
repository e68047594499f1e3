/**
 * Measures the overhead of the runtime over the kernels: a chain of 1,000 operations on a few numbers, by the engine
 * alone, by the device, by the runtime on one device, and by the runtime with every operation on another device than
 * the one before. Rounds take turns; the least and the median time of one execution, and what one operation costs more
 * than by the engine.
 *
 * Run from the top of the repository: `npx tsx --conditions=@nnhal/source packages/runtime/bench/chain.ts [ROUNDS]`.
 */
import { type Backend, type Executable, viewModel } from "@nnhal/backend";
import { referenceBackend } from "@nnhal/backend-reference";
import { openDevice } from "@nnhal/driver-core/device";
import { allocateMemory, mapMemory } from "@nnhal/driver-core/memory";
import { androidPolicy, askAndPlan } from "@nnhal/driver-core/partition";
import { elementAt } from "@nnhal/operations";
import { Compilation, type CompilationOptions, Execution, Model } from "@nnhal/runtime";
import {
  type Device,
  ErrorStatus,
  ExecutionPreference,
  type Model as HalModel,
  OperationType,
  Priority,
} from "@nnhal/types";

const rounds = Number(process.argv[2] ?? 200);
const length = 1000;
const elements = 16;

/** ABS and NEG in turn. */
function chain(): Model {
  const model = new Model();
  const tensor = { type: "TENSOR_FLOAT32", dimensions: [elements] } as const;
  const first = model.addOperand(tensor);
  let last = first;
  for (let index = 0; index < length; index++) {
    const next = model.addOperand(tensor);
    model.addOperation(index % 2 === 0 ? "ABS" : "NEG", [last], [next]);
    last = next;
  }
  model.identifyInputsAndOutputs([first], [last]);
  model.finish();
  return model;
}

async function deviceOf(backend: Backend): Promise<Device> {
  const device = await openDevice({ backend });
  if ("unavailable" in device) throw new Error(device.unavailable);
  return device;
}

/** A device that supports the operations of one type, and reports twice the speed of the CPU. */
function makeTaking(device: Device, name: string, type: number): Device {
  return {
    ...device,
    name,
    getSupportedOperations(model) {
      const supported = model.main.operations.map((operation) => operation.type === type);
      const reasons = supported.map((yes) => (yes ? undefined : "another device's"));
      return { status: ErrorStatus.NONE, supported, reasons };
    },
  };
}

/** Runs the chain once. */
type Contestant = () => Promise<unknown>;

async function byEngine(model: Model): Promise<Contestant> {
  const session = await referenceBackend.open();
  if ("unavailable" in session) throw new Error(session.unavailable);
  const graph = viewModel({ model: model.hal, pools: [] });
  const options = { preference: ExecutionPreference.FAST_SINGLE_ANSWER, priority: Priority.MEDIUM };
  const executable: Executable = await session.compile(graph, options);
  const dimensions = [elements];
  const input = { bytes: new Uint8Array(4 * elements), dimensions };
  const output = { bytes: new Uint8Array(4 * elements), dimensions };
  const now = process.hrtime.bigint;
  const context = { now, loopTimeoutDuration: 2_000_000_000n, measure: false, random: Math.random };
  return async () => executable.run([input], [output], context);
}

async function byDevice(model: HalModel, device: Device): Promise<Contestant> {
  const { preparedModel } = await device.prepareModel(model);
  const memory = allocateMemory(8 * elements);
  if ("unmappable" in mapMemory(memory)) throw new Error("the memory cannot be mapped");
  const argument = (offset: number) => ({
    hasNoValue: false,
    location: { poolIndex: 0, offset, length: 4 * elements },
    dimensions: [],
  });
  const request = {
    inputs: [argument(0)],
    outputs: [argument(4 * elements)],
    pools: [{ kind: "memory", memory }],
  } as const;
  return async () => preparedModel?.execute(request);
}

/** The plan's steps by hand, one after the other: what the runtime's own share of many steps is measured against. */
async function byDeviceInSteps(model: Model, device: Device): Promise<Contestant> {
  const apart = await askAndPlan(model.hal, [device], { separateOperations: true });
  if ("unplannable" in apart) throw new Error(apart.message);
  const runs: Contestant[] = [];
  for (const step of apart.steps) {
    if (step.kind === "execution") runs.push(await byDevice(step.model, device));
  }
  return async () => {
    for (const run of runs) await run();
  };
}

async function byRuntime(model: Model, devices: readonly Device[], options: CompilationOptions): Promise<Contestant> {
  const compilation = new Compilation(model, devices, options);
  await compilation.finish();
  console.log(`${devices.map(({ name }) => name).join(" and ")}: ${compilation.plan.steps.length} steps`);
  const input = new Float32Array(elements);
  const output = new Float32Array(elements);
  return async () => {
    const execution = new Execution(compilation);
    execution.setInput(0, input);
    execution.setOutput(0, output);
    await execution.compute();
  };
}

const model = chain();
const device = await deviceOf(referenceBackend);
const two = [makeTaking(device, "abs", OperationType.ABS), makeTaking(device, "neg", OperationType.NEG)];
const contestants: readonly (readonly [name: string, Contestant])[] = [
  ["the engine alone", await byEngine(model)],
  ["the device", await byDevice(model.hal, device)],
  ["the runtime, one device", await byRuntime(model, [device], {})],
  ["the device, step by step", await byDeviceInSteps(model, device)],
  ["the runtime, two devices in turn", await byRuntime(model, two, { policy: androidPolicy })],
];
const times = new Map(contestants.map(([name]) => [name, [] as number[]]));
for (let round = 0; round < rounds; round++) {
  for (const [name, run] of contestants) {
    const start = performance.now();
    await run();
    // The first rounds warm up.
    if (round >= rounds / 4) times.get(name)?.push(performance.now() - start);
  }
}
let base: { least: number; median: number } | undefined;
for (const [name, list] of times) {
  list.sort((a, b) => a - b);
  const own = { least: elementAt(list, 0), median: elementAt(list, list.length >> 1) };
  base ??= own;
  const more = (key: "least" | "median") => (((own[key] - (base?.[key] ?? 0)) * 1000) / length).toFixed(2);
  const figures = `least ${own.least.toFixed(3)} ms, median ${own.median.toFixed(3)} ms`;
  console.log(`${name}: ${figures}; more for each operation: ${more("least")} us, ${more("median")} us`);
}
