/**
 * The process that runs inputs. It writes each input to a file before it runs it, so that the process that watches it knows which one
 * it was, if this one hangs or ends.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, openSync, readdirSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { readCases } from "./cases.ts";
import { countsName, createCoverage } from "./coverage.ts";
import { createEngine } from "./engine.ts";
import { type Report, stateHeader, type Task } from "./protocol.ts";
import { createRandom } from "./random.ts";
import { type Input, must } from "./target.ts";
import { corpusOf, targetNamed } from "./targets/index.ts";

const reportEveryMs = 1000;

/** The parent has written it. */
const task = JSON.parse(process.argv[2] ?? "{}") as Task;
const target = targetNamed(task.target);
must(target !== undefined, () => `there is no target ${task.target}`);
const running = target;

const counts: unknown = Reflect.get(globalThis, countsName);
must(counts instanceof Uint8Array, () => "this is not an instrumented build");
const coverage = createCoverage(counts);
const trial = await target.open();
const state = Buffer.alloc(stateHeader + target.longest);
const ended = Buffer.of(1, 0, 0, 0);
const stateFile = openSync(task.stateFile, "w");
const random = createRandom(task.seed);
const engine = createEngine(target, random);
const found = new Set<string>();
let executions = 0;
let current: Input = new Uint8Array(0);
let currentFile: string | undefined;
let lastMs = 0;
let peak = process.resourceUsage().maxRSS * 1024;

process.on("uncaughtException", (error) => report(error));
process.on("unhandledRejection", (error) => report(error));

function say(message: Report): void {
  process.send?.(message);
}

function report(error: unknown): void {
  const { message, key } = describeError(error);
  if (found.has(key) && currentFile === undefined) return;
  found.add(key);
  say({ kind: "found", key, message, file: currentFile, base64: Buffer.from(current).toString("base64") });
}

/** Two errors are the same fault if they have the same text except for numbers, and come from the same function. */
function describeError(error: unknown): { readonly message: string; readonly key: string } {
  if (!(error instanceof Error)) return { message: `${String(error)} was thrown`, key: String(error) };
  const message = error.stack ?? `${error.name}: ${error.message}`;
  const origin = /^\s+at .*$/m.exec(message)?.[0] ?? "";
  const text = `${error.name}: ${error.message}${origin}`.replace(/\d+/g, "N").slice(0, 400);
  return { message, key: createHash("sha256").update(text).digest("hex").slice(0, 12) };
}

async function execute(input: Input): Promise<number> {
  current = input;
  executions++;
  state.writeUInt32LE(executions, 0);
  state.writeUInt32LE(input.length, 4);
  state.set(input, stateHeader);
  writeSync(stateFile, state, 0, stateHeader + input.length, 0);
  const before = process.cpuUsage();
  coverage.reset();
  try {
    await trial.run(input);
    const { user, system } = process.cpuUsage(before);
    lastMs = (user + system) / 1000;
    const ms = lastMs;
    must(ms <= task.cpuLimit, () => `slow: it took ${Math.round(ms)} ms of processor time`);
    const memory = process.resourceUsage().maxRSS * 1024;
    const growth = memory - peak;
    peak = Math.max(peak, memory);
    must(
      growth <= task.memoryLimit,
      () => `memory: it took ${Math.round(growth / 2 ** 20)} MiB more than any input before`,
    );
  } catch (error) {
    report(error);
  }
  writeSync(stateFile, ended, 0, 4, 8);
  return coverage.take();
}

async function replay(files: readonly string[]): Promise<void> {
  for (const file of files) {
    currentFile = file;
    await execute(new Uint8Array(readFileSync(file)).slice(0, running.longest));
    await turn();
  }
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

async function start(input: Input): Promise<void> {
  const fresh = await execute(input);
  if (fresh > 0) engine.keep(input, fresh, lastMs);
}

async function fuzz(): Promise<void> {
  mkdirSync(task.corpusFolder, { recursive: true });
  for (const { bytes } of [...readCases("corpus", corpusOf(running)), ...readCases("found", task.target)])
    await start(bytes);
  for (const name of readdirSync(task.corpusFolder))
    await start(new Uint8Array(readFileSync(join(task.corpusFolder, name))));
  let next = Date.now();
  while (Date.now() < task.until) {
    const input = engine.next();
    const fresh = await execute(input);
    if (fresh > 0) {
      engine.keep(input, fresh, lastMs);
      const path = join(task.corpusFolder, createHash("sha256").update(input).digest("hex").slice(0, 16));
      if (!existsSync(path)) writeFileSync(path, input);
    }
    if ((executions & 63) === 0) await turn();
    if (Date.now() < next) continue;
    next = Date.now() + reportEveryMs;
    const memory = process.memoryUsage.rss();
    say({ kind: "progress", executions, places: coverage.places, corpus: engine.size, memory });
  }
}

if (task.files === undefined) await fuzz();
else await replay(task.files);
await turn();
await trial.close();
const reached = Array.from({ length: counts.length }, (_, place) => place).filter((place) => coverage.has(place));
const over: Report = { kind: "done", executions, reached };
process.send?.(over, () => process.exit(0));
