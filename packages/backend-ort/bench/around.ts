/**
 * Measures where an execution of a .tflite network spends its time outside the engine: from `new Execution` to the end of `compute`, less
 * `session.run`. A network leaves nothing of this code in the processor's caches, so it takes far more than in a loop over a small model:
 * what counts is how much code and memory it touches. Prints microseconds by part, for the last tenth of the rounds.
 *
 * Run from the top of the repository:
 * `npx tsx --conditions=@nnhal/source packages/backend-ort/bench/around.ts MODEL [ROUNDS]`. tsx names every closure when it is made, which takes
 * about a third of the time that this prints; builds do not.
 */
import { readFileSync } from "node:fs";
import { type Backend, type Executable, viewModel } from "@nnhal/backend";
import { openDevice } from "@nnhal/driver-core/device";
import { heldBytes } from "@nnhal/operations";
import { Compilation, Execution, Model } from "@nnhal/runtime";
import { importTflite } from "@nnhal/tflite";
import * as ort from "onnxruntime-node";
import { createBuilder } from "../src/graph/builder.ts";
import { writeModel } from "../src/onnx/write.ts";
import { ortBackend } from "../src/ort-backend.ts";

const [path = "", roundsText = "500"] = process.argv.slice(2);
const rounds = Number(roundsText);

/** When the parts of the current execution began or ended. */
const at = { executable: 0, engine: 0, engineEnd: 0, executableEnd: 0 };

/** The backend whose executables note when they begin and end. */
function observe(backend: Backend): Backend {
  return {
    ...backend,
    async open() {
      const session = await backend.open();
      if ("unavailable" in session) return session;
      return { ...session, compile: async (...args) => observedRuns(await session.compile(...args)) };
    },
  };
}

function observedRuns(executable: Executable): Executable {
  return {
    ...executable,
    async run(...args) {
      at.executable = performance.now();
      const result = await executable.run(...args);
      at.executableEnd = performance.now();
      return result;
    },
  };
}

/** Notes when runs of all sessions begin and end: their class has no public name. */
async function observeSessions(): Promise<void> {
  const builder = createBuilder();
  builder.output(builder.input({ type: "float32", dims: [1] }));
  const session = await ort.InferenceSession.create(writeModel(builder.graph()));
  const sessions: ort.InferenceSession = Object.getPrototypeOf(session);
  const run = sessions.run;
  sessions.run = async function observedRun(this: ort.InferenceSession, ...args: unknown[]) {
    at.engine = performance.now();
    const results = await Reflect.apply(run, this, args);
    at.engineEnd = performance.now();
    return results;
  };
}

await observeSessions();
const device = await openDevice({ backend: observe(ortBackend({ threads: 1 })) });
if ("unavailable" in device) throw new Error(device.unavailable);
const { model } = importTflite(new Uint8Array(readFileSync(path)));
const compilation = new Compilation(Model.from(model), [device]);
await compilation.finish();
const { operands, inputs, outputs } = viewModel({ model, pools: model.pools.map(() => new Uint8Array(0)) });
const bytesOf = (index: number): Uint8Array => {
  const operand = operands[index];
  if (operand === undefined) throw new Error(`operand ${index} is of an unknown type`);
  return new Uint8Array(heldBytes(operand));
};
const [from, to] = [inputs.map(bytesOf), outputs.map(bytesOf)];

const times = new Map<string, number[]>();
const note = (part: string, milliseconds: number) => {
  const list = times.get(part) ?? [];
  times.set(part, list);
  list.push(milliseconds * 1000);
};
for (let round = 0; round < rounds; round++) {
  const start = performance.now();
  const execution = new Execution(compilation);
  for (const [place, bytes] of from.entries()) execution.setInput(place, bytes);
  for (const [place, bytes] of to.entries()) execution.setOutput(place, bytes);
  const set = performance.now();
  await execution.compute();
  const end = performance.now();
  note("new Execution, setInput, setOutput", set - start);
  note("compute until the backend", at.executable - set);
  note("backend until session.run", at.engine - at.executable);
  note("session.run", at.engineEnd - at.engine);
  note("session.run until the backend's end", at.executableEnd - at.engineEnd);
  note("from there until the end", end - at.executableEnd);
  note("all but session.run", end - start - (at.engineEnd - at.engine));
}
for (const [part, list] of times) {
  const last = list.slice(-Math.ceil(rounds / 10)).sort((a, b) => a - b);
  const [least = 0, median = 0] = [last[0], last[last.length >> 1]];
  console.log(`${part}: least ${least.toFixed(1)}, median ${median.toFixed(1)}`);
}
