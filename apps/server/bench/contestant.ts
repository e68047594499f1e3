/** One way to a network's outputs, in a separate process: a message sets the duration of a run, the answer has its times. */
import { fileURLToPath } from "node:url";
import { load } from "@nnhal/network";
import { type Exchange, exchanges } from "./raw-client.ts";

/** Facts of a contestant. */
export interface Entrant {
  /** `thread` and `worker` compute in the process itself; `rest` asks the server at `address`. */
  readonly kind: "thread" | "worker" | "rest";
  readonly file: string;
  readonly device: string;
  readonly address?: string;
  /** A server that knows the network's metadata, if the one at `address` does not. */
  readonly describedBy?: string;
  readonly connections?: number;
}

/** Limits of a turn, which ends at the first of these. */
export interface Limits {
  readonly milliseconds: number;
  /** Default: no limit. */
  readonly runs?: number;
}

/** Result of one turn: times in milliseconds. */
export interface Turn {
  readonly times: readonly number[];
  /** Processor time of this process for each run. */
  readonly processor: number;
}

/** Returns a value for each element of the only input. */
export function inputOf(type: string, shape: readonly number[]): Uint8Array | Float32Array {
  const count = shape.reduce((product, extent) => product * extent, 1);
  if (type === "uint8") return new Uint8Array(count).fill(100);
  if (type === "float32") return new Float32Array(count).fill(0.5);
  throw new Error("the bench is for one uint8 or float32 input");
}

async function open(entrant: Entrant): Promise<readonly Exchange[]> {
  const { kind, file, device, address = "", describedBy = address, connections = 1 } = entrant;
  if (kind === "rest") return exchanges(address, describedBy, file, connections);
  const model = await load(file, { devices: device, worker: kind === "worker" });
  const [input] = model.inputs;
  if (input === undefined) throw new Error(`${file} has no input`);
  const elements = inputOf(input.type, input.shape);
  return [async () => void (await model.run({ [input.name]: elements }, { raw: true }))];
}

async function turn(runs: readonly Exchange[], limits: Limits): Promise<Turn> {
  const { milliseconds, runs: most = Number.POSITIVE_INFINITY } = limits;
  for (const run of runs) for (let warm = 0; warm < 3; warm++) await run();
  const times: number[] = [];
  const before = process.cpuUsage();
  const end = performance.now() + milliseconds;
  const repeat = async (run: Exchange) => {
    for (let start = performance.now(); start < end && times.length < most; start = performance.now()) {
      await run();
      times.push(performance.now() - start);
    }
  };
  await Promise.all(runs.map(repeat));
  const { user, system } = process.cpuUsage(before);
  return { times, processor: (user + system) / 1000 / times.length };
}

// Skipped in a file that imports only types and inputs.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const opened = await open(JSON.parse(process.argv[2] ?? "{}"));
  process.on("message", async (limits: Limits) => process.send?.(await turn(opened, limits)));
  process.send?.("ready");
}
