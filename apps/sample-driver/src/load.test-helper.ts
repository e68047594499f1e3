/**
 * Load on a daemon: many lifetimes of clients, and several clients at once, with the daemon's memory and descriptors before and
 * after.
 */
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { mapPool, memoryOf } from "@nnhal/driver-core/memory";
import { connectService, type ServiceDevice } from "@nnhal/service";
import { createSharedMemory } from "@nnhal/service/shared-memory";
import { constant, input, modelOf, operand, output, subgraphOf } from "@nnhal/test-kit/models";
import { type Memory, type Model, OperandType, OperationType } from "@nnhal/types";
import { addModel, addRequest, prepare } from "./models.test-helper.ts";
import type { StartedDaemon } from "./process.test-helper.ts";
import { openGreeted, pingOnce } from "./raw-client.test-helper.ts";

/** Resources of a process. */
export interface Held {
  readonly descriptors: number;
  /** Mapped memory files. */
  readonly mappings: number;
  /** Resident memory in MiB. */
  readonly memory: number;
}

/** Reads the resources of a process of this machine; needs /proc. */
export function readHeld(pid: number): Held {
  const resident = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return {
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    mappings: readFileSync(`/proc/${pid}/maps`, "utf8").split("memfd:").length - 1,
    memory: Math.round(Number(resident) / 1024),
  };
}

/** Multiplies instead of adding, and on numbers of 32 bits. */
const models: readonly { readonly model: Model; readonly right: readonly number[]; readonly isInteger: boolean }[] = [
  { model: addModel, right: [4, 6], isInteger: false },
  { model: binary("MUL", OperandType.TENSOR_FLOAT32), right: [3, 8], isInteger: false },
  { model: binary("SUB", OperandType.TENSOR_FLOAT32), right: [-2, -2], isInteger: false },
  { model: binary("ADD", OperandType.TENSOR_INT32), right: [4, 6], isInteger: true },
];

function binary(name: "ADD" | "MUL" | "SUB", type: number): Model {
  const operands = [
    operand({ type, ...input }),
    operand({ type, ...input }),
    constant("INT32", 0, 4),
    operand({ type, ...output }),
  ];
  const main = subgraphOf(operands, [{ type: OperationType[name], inputs: [0, 1, 2], outputs: [3] }]);
  return modelOf(main, { operandValues: new Uint8Array(4) });
}

async function connect(directory: string): Promise<ServiceDevice> {
  const device = await connectService("nnapi-sample_all", { directory });
  if ("unavailable" in device) throw new Error(device.unavailable);
  return device;
}

/** Executes each of some models and returns how many results are wrong. */
async function runAll(prepared: readonly Awaited<ReturnType<typeof prepare>>[], memory: Memory) {
  const mapping = mapPool(memory);
  if ("unmappable" in mapping) throw new Error(mapping.unmappable);
  const { buffer, byteOffset } = mapping.bytes;
  let wrong = 0;
  for (const [index, { right, isInteger }] of models.entries()) {
    const numbers = isInteger ? new Int32Array(buffer, byteOffset, 6) : new Float32Array(buffer, byteOffset, 6);
    numbers.set([1, 2, 3, 4, 0, 0]);
    const result = await prepared[index]?.execute(addRequest(memory));
    if (result?.status !== 0 || right.some((value, place) => numbers[4 + place] !== value)) wrong++;
  }
  return wrong;
}

function memoryFor(device: ServiceDevice): Memory {
  if (device.memoryWay.kind === "copied") return memoryOf(new Uint8Array(24));
  const memory = createSharedMemory(2 ** 16);
  if ("refused" in memory) throw new Error(memory.refused);
  return memory;
}

/** Connects, prepares, executes and ends, again and again. Returns the number of wrong results. */
export async function lifetimes(directory: string, count: number): Promise<number> {
  let wrong = 0;
  for (let life = 0; life < count; life++) {
    const device = await connect(directory);
    const prepared = await Promise.all(models.map(({ model }) => prepare(device, model)));
    wrong += await runAll(prepared, memoryFor(device));
    // Every second client leaves its models to the daemon.
    if (life % 2 === 0) for (const model of prepared) model.close();
    device.close();
  }
  return wrong;
}

/** Several clients at once until a time has passed. Returns executions and wrong results. */
export async function soak(directory: string, clients: number, milliseconds: number) {
  const all = await Promise.all(
    Array.from({ length: clients }, async () => {
      const device = await connect(directory);
      const prepared = await Promise.all(models.map(({ model }) => prepare(device, model)));
      return { device, prepared, memory: memoryFor(device) };
    }),
  );
  // The time begins when all have prepared, and each has one round, also on a slow machine.
  const end = performance.now() + milliseconds;
  const results = await Promise.all(
    all.map(async ({ device, prepared, memory }) => {
      let [rounds, wrong] = [0, 0];
      do {
        wrong += await runAll(prepared, memory);
        rounds++;
      } while (performance.now() < end);
      device.close();
      return { executions: rounds * models.length, wrong };
    }),
  );
  return {
    executions: results.reduce((sum, one) => sum + one.executions, 0),
    least: Math.min(...results.map((one) => one.executions)),
    wrong: results.reduce((sum, one) => sum + one.wrong, 0),
  };
}

/** Pings a daemon until a time has passed, while others use it. Returns the milliseconds of the slowest answer, and of 99 in 100. */
export async function pings(directory: string, milliseconds: number) {
  let client = await openGreeted(directory);
  const end = performance.now() + milliseconds;
  const times: number[] = [];
  while (performance.now() < end) {
    const start = performance.now();
    if (await pingOnce(client)) times.push(performance.now() - start);
    // The daemon ends a client that has not said for 5 s which device it wants.
    else client = await openGreeted(directory);
    await setTimeout(5);
  }
  client.socket.destroy();
  times.sort((a, b) => a - b);
  return { p99: times[Math.floor(0.99 * times.length)], most: times.at(-1) };
}

/** Kills a daemon while calls are under way. Returns the milliseconds until the last of them has ended, and those that were not refused. */
export async function killUnderLoad({ directory, child }: StartedDaemon, calls: number) {
  const device = await connect(directory);
  const model = await prepare(device);
  const request = addRequest(memoryFor(device));
  const waiting = Array.from({ length: calls }, () => model.execute(request));
  const start = performance.now();
  child.kill("SIGKILL");
  const results = await Promise.all(waiting);
  const time = performance.now() - start;
  device.close();
  return { time, refused: results.filter(({ message }) => message?.includes("DEAD_OBJECT")).length };
}
