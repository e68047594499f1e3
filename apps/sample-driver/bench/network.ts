/**
 * Measures the time of a .tflite network through a daemon, by calls and by a burst, compared with the same device in this
 * process. Runs take turns. Prints least and median times in milliseconds, and the ratios to those in process. Before that,
 * each way adds two numbers some thousand times: until V8 has compiled its code, a way through the daemon takes some tenths of
 * a millisecond longer.
 *
 * Run from the top of the repository: `node --import ./tools/launcher/src/sources.mjs apps/sample-driver/bench/network.ts MODEL
 * [ENGINE [ROUNDS]]`; ENGINE is ort (default) or reference. The device's work is the same everywhere; the daemon's has a second
 * process, so that a busy machine shows in the ratio.
 */
import { readFileSync } from "node:fs";
import { loadavg } from "node:os";
import { createBurst } from "@nnhal/driver-core/burst";
import { openDevice } from "@nnhal/driver-core/device";
import { mapPool } from "@nnhal/driver-core/memory";
import { elementCount } from "@nnhal/operations";
import { connectService } from "@nnhal/service";
import { burstAcrossProcesses } from "@nnhal/service/shared-memory";
import { addModel } from "@nnhal/test-kit/models";
import { importTflite } from "@nnhal/tflite";
import { ErrorStatus, type Model, OperandType, type Request } from "@nnhal/types";
import { prepare } from "../src/models.test-helper.ts";
import { cleanUp, startDaemonProcess } from "../src/process.test-helper.ts";

const [path = "", engine = "ort", roundsText = "20"] = process.argv.slice(2);
const rounds = Number(roundsText);
/** Runs of one contestant at a time. The first are not counted: threads of the engine in the other process still poll for work. */
const [turns, uncounted] = [8, 3];
/** Trips of each way before the network is executed. */
const warmingTrips = 5000;
const name = `nnhal-${engine}`;
const { model } = importTflite(readFileSync(path));

/** Where the values of some operands lie in one memory, one after the other. */
function argumentsFrom({ main }: Model, indexes: readonly number[], start: number) {
  let end = start;
  const list = indexes.map((index) => {
    const operand = main.operands[index];
    if (operand === undefined) throw new Error(`operand ${index} does not exist`);
    const width = operand.type === OperandType.TENSOR_QUANT8_ASYMM ? 1 : 4;
    const length = width * elementCount(operand.dimensions);
    const offset = end;
    // Aligned as every type needs it.
    end += Math.ceil(length / 64) * 64;
    return { hasNoValue: false, location: { poolIndex: 0, offset, length }, dimensions: [] };
  });
  return { list, end };
}

const { backend } =
  engine === "ort"
    ? await import("@nnhal/backend-ort")
    : { backend: (await import("@nnhal/backend-reference")).referenceBackend };
const opened = await openDevice({ backend, caching: false });
if ("unavailable" in opened) throw new Error(opened.unavailable);
const { directory } = await startDaemonProcess(["--devices", name]);
const connected = await connectService(name, { directory, keepAlive: true });
if ("unavailable" in connected) throw new Error(connected.unavailable);
const [here, there] = [opened, connected] as const;

/** A request for a model whose arguments lie in one memory that the daemon sees. */
function requestFor(executed: Model) {
  const inputs = argumentsFrom(executed, executed.main.inputIndexes, 0);
  const outputs = argumentsFrom(executed, executed.main.outputIndexes, inputs.end);
  const memory = there.createMemory(outputs.end);
  const mapping = mapPool(memory);
  if ("unmappable" in mapping) throw new Error(mapping.unmappable);
  const request: Request = { inputs: inputs.list, outputs: outputs.list, pools: [{ kind: "memory", memory }] };
  return { request, bytes: mapping.bytes, inputsEnd: inputs.end };
}

/** The ways to execute a model, and the end of its burst. */
async function waysOf(executed: Model, request: Request) {
  const local = await prepare(here, executed);
  const remote = await prepare(there, executed);
  if (remote.configureExecutionBurst === undefined) throw new Error("the daemon has no bursts");
  const { burst } = await createBurst(remote.configureExecutionBurst, burstAcrossProcesses());
  if (burst === null) throw new Error("the burst has not started");
  const ways = {
    "in process": () => local.execute(request),
    "daemon, call": () => remote.execute(request),
    "daemon, burst": () => burst.compute(request),
  };
  return { ways, close: () => burst.close() };
}

const warming = await waysOf(addModel([1]), requestFor(addModel([1])).request);
for (const run of Object.values(warming.ways)) {
  for (let trip = 0; trip < warmingTrips; trip++) await run();
}
await warming.close();

const { request, bytes, inputsEnd } = requestFor(model);
const { ways, close } = await waysOf(model, request);
const contestants = Object.entries(ways).map(([way, run]) => ({ way, run, times: [] as number[] }));
let expected: Uint8Array | undefined;
for (let round = 0; round < rounds; round++) {
  for (const { way, run, times } of contestants) {
    for (let turn = 0; turn < turns; turn++) {
      for (let index = 0; index < inputsEnd; index++) bytes[index] = (index * 31) & 0x3f;
      bytes.fill(0, inputsEnd);
      const start = performance.now();
      const { status } = await run();
      const time = performance.now() - start;
      if (status !== ErrorStatus.NONE) throw new Error(`${way}: status ${status}`);
      const result = bytes.slice(inputsEnd);
      expected ??= result;
      if (!result.every((byte, index) => byte === expected?.[index])) throw new Error(`${way}: another result`);
      if (turn >= uncounted) times.push(time);
    }
  }
}
const median = (times: readonly number[]) => times.toSorted((a, b) => a - b)[times.length >> 1] ?? Number.NaN;
const [base] = contestants;
console.log(
  `${path.split("/").at(-1)}, ${name}, ${rounds} rounds, load ${loadavg()[0]?.toFixed(1)}; memory is ${there.memoryWay.kind}`,
);
console.log(
  "|               | least, ms |  ratio | median, ms |  ratio |\n|---------------|----------:|-------:|-----------:|-------:|",
);
for (const { way, times } of contestants) {
  const [least, middle] = [Math.min(...times), median(times)];
  const ratio = (value: number, of: number) => (value / of).toFixed(3).padStart(6);
  const all = base?.times ?? [];
  console.log(
    `| ${way.padEnd(13)} | ${least.toFixed(2).padStart(9)} | ${ratio(least, Math.min(...all))} | ${middle.toFixed(2).padStart(10)} | ${ratio(middle, median(all))} |`,
  );
}
await close();
await cleanUp();
process.exit();
