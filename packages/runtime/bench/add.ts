/**
 * The cost of the runtime on top of a device for the smallest model: an ADD of one element, by the device and by the runtime on
 * one device, with an execution for each run and with one for all. Rounds alternate; the least and the median time of one execution in microseconds.
 *
 * Run from the top of the repository: `npx tsx --conditions=@nnhal/source packages/runtime/bench/add.ts [ROUNDS]`.
 */
import { referenceBackend } from "@nnhal/backend-reference";
import { openDevice } from "@nnhal/driver-core/device";
import { allocateMemory } from "@nnhal/driver-core/memory";
import { Compilation, Execution, Model } from "@nnhal/runtime";

const rounds = Number(process.argv[2] ?? 400);
const executions = 200;

const device = await openDevice({ backend: referenceBackend });
if ("unavailable" in device) throw new Error(device.unavailable);
const model = new Model();
const tensor = { type: "TENSOR_FLOAT32", dimensions: [1] } as const;
const [left, right, sum] = [model.addOperand(tensor), model.addOperand(tensor), model.addOperand(tensor)];
const activation = model.addOperand({ type: "INT32" });
model.setOperandValue(activation, 0);
model.addOperation("ADD", [left, right, activation], [sum]);
model.identifyInputsAndOutputs([left, right], [sum]);
model.finish();

const { preparedModel } = await device.prepareModel(model.hal);
if (preparedModel === null) throw new Error("the device did not prepare the model");
const memory = allocateMemory(12);
const argument = (index: number) => ({
  hasNoValue: false,
  location: { poolIndex: 0, offset: 4 * index, length: 4 },
  dimensions: [],
});
const request = {
  inputs: [argument(0), argument(1)],
  outputs: [argument(2)],
  pools: [{ kind: "memory", memory }],
} as const;

const compilation = new Compilation(model, [device]);
await compilation.finish();
const [a, b, c] = [Float32Array.of(1), Float32Array.of(2), new Float32Array(1)];

const repeated = new Execution(compilation);
repeated.setInput(0, a);
repeated.setInput(1, b);
repeated.setOutput(0, c);
repeated.setReusable(true);

const contestants: Readonly<Record<string, () => Promise<unknown>>> = {
  "the device": () => preparedModel.execute(request),
  "the runtime": () => {
    const execution = new Execution(compilation);
    execution.setInput(0, a);
    execution.setInput(1, b);
    execution.setOutput(0, c);
    return execution.compute();
  },
  "the runtime, one reusable execution": () => repeated.compute(),
};
const times = new Map(Object.keys(contestants).map((name) => [name, [] as number[]]));
for (let round = 0; round < rounds; round++) {
  for (const [name, run] of Object.entries(contestants)) {
    const start = performance.now();
    for (let execution = 0; execution < executions; execution++) await run();
    // The first rounds warm up.
    if (round >= rounds / 4) times.get(name)?.push(((performance.now() - start) * 1000) / executions);
  }
}
for (const [name, list] of times) {
  list.sort((first, second) => first - second);
  console.log(`${name}: least ${list[0]?.toFixed(2)} us, median ${list[list.length >> 1]?.toFixed(2)} us`);
}
