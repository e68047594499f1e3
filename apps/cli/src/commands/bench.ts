/**
 * `nnhal bench MODEL…`: measures devices beside peers that run the same network directly.
 */

import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { referenceDevice } from "@nnhal/backend/engines";
import { collect, count, seconds } from "@nnhal/program";
import { type Command, InvalidArgumentError, Option } from "commander";
import {
  type BenchmarkSettings,
  benchmarkModel,
  loadNetwork,
  type Network,
  type ServeOrder,
  workOfModel,
} from "../bench/benchmark.ts";
import { calibrate, type Peak } from "../bench/calibrate.ts";
import { serveStation } from "../bench/child-station.ts";
import { type ContestantId, type PeerName, peerNames } from "../bench/contestant.ts";
import { thisMachine } from "../bench/machine.ts";
import { openContestant } from "../bench/open.ts";
import { overheadFile, overheadModel } from "../bench/overhead-model.ts";
import { type BenchmarkReport, type ModelReport, reportFormat } from "../bench/report.ts";
import { benchmarkPage } from "../bench/report-html.ts";
import { formatBenchmark } from "../bench/report-text.ts";
import { createStation } from "../bench/station.ts";
import type { ModelCommandContext } from "../context.ts";
import type { DeviceFinder } from "../devices.ts";
import { usageError } from "../failure.ts";
import { ensureWritable, readUserFile, writeUserFile } from "../files.ts";
import { fit } from "../fit.ts";
import {
  addFileOptions,
  allDevices,
  type ExternalBuffers,
  entryOf,
  type Hybrid,
  hybridOption,
  type InputShapes,
} from "../option-values.ts";
import { createLongProgress } from "../progress.ts";

/** The command's options, as commander parses them. */
export interface BenchCommandOptions {
  /** Names with commas between them. */
  readonly device?: string;
  readonly peers: readonly PeerName[];
  readonly hybrid: Hybrid;
  readonly inputShape?: InputShapes;
  readonly externalBuffer?: ExternalBuffers;
  readonly part?: string;
  readonly threads: number;
  readonly rounds?: number;
  readonly preparations?: number;
  /** Seconds. */
  readonly timeLimit?: number;
  readonly input?: readonly string[];
  readonly onnx?: string;
  readonly burst?: boolean;
  readonly overhead?: boolean;
  readonly json?: boolean;
  readonly html?: string;
  /** Set in a child: what it is to do, as JSON. */
  readonly serve?: string;
}

const help = `
Each device and each peer runs in a process of its own, with the same inputs. They take turns, round by round, after each has run until
its times no longer fell. A run begins with inputs and ends with outputs in arrays of JavaScript.

Peers run the same network without nnhal, if their package is installed:
  onnxruntime  onnxruntime-node on processors      npm install onnxruntime-node
  litert       LiteRT.js, which loads the file     npm install @litertjs/core
  tfjs         a graph of fused operations         npm install @tensorflow/tfjs-core @tensorflow/tfjs-backend-wasm

A ratio is printed only if the outputs of both are those of the reference: floats within 1e-4 of the greatest, quantised ones
within 3 steps. Ctrl-C and SIGTERM end the work, and what was measured so far is printed. If stderr is not a terminal, a line every 10 seconds
says how far the work is.

Exit codes:
  0    done, whether faster or not
  1    no device or peer could run a model
  2    the command line is wrong, or a file it names is missing
  130  interrupted with Ctrl-C or SIGTERM

Examples:
  nnhal bench mobilenet.tflite
  nnhal bench mobilenet.tflite --device tfjs,gpujs --peers litert --threads 1
  nnhal bench float.tflite quantised.tflite --rounds 50 --json
  nnhal bench --overhead --device ort --peers onnxruntime`;

/** Gives the command its arguments, options and work. */
export function registerBenchCommand(command: Command, context: () => Promise<ModelCommandContext>): void {
  addFileOptions(
    command
      .argument("[model...]", "the .tflite files")
      .option(
        "--device <names>",
        `devices to measure, each alone, with commas between them; ${allDevices}: all that work here together (default: each that works here, but not the reference)`,
      )
      .addOption(
        new Option("--peers <names>", "engines to compare with, with commas between them; none: no comparison")
          .argParser(peersOf)
          .default(peerNames, peerNames.join(",")),
      )
      .addOption(hybridOption()),
  )
    .option("--threads <n>", "threads of each engine that can be told", count(1, 256), 1)
    .option(
      "--rounds <n>",
      "how often each takes its turn (default: as often as fits a minute, 3 to 20 times)",
      count(1, 10_000),
    )
    .option(
      "--preparations <n>",
      "how often each prepares a model, each time in a new process (default: 3; 1 if that takes over 5 seconds)",
      count(1, 100),
    )
    .option(
      "--time-limit <seconds>",
      "time after which a device or peer has failed, for preparing, for warming up and for each round (default: 600 to prepare, then 120, or as long as 20 runs)",
      seconds,
    )
    .option("--input <file>", "picture or raw .bin tensor, once for each input, in order (default: noise)", collect)
    .option("--onnx <file>", "the same network for onnxruntime, with the same inputs and outputs in the same order")
    .option("--burst", "measure each device through a burst too")
    .option(
      "--overhead",
      "measure an ADD of one element too, through bursts as well: what the way to each engine costs",
    )
    .option("--json", "print the report as JSON")
    .option("--html <file>", "write the report as a page with charts that needs nothing else")
    .addHelpText("after", help)
    .addOption(new Option("--serve <order>", "run in a child process").hideHelp())
    .action(async (models: readonly string[], options: BenchCommandOptions) =>
      options.serve === undefined
        ? runBenchCommand(models, options, await context())
        : serve(models[0] ?? "", options.serve, await context()),
    );
}

/** Runs the command. Rejects with a CommandError. */
export async function runBenchCommand(
  models: readonly string[],
  options: BenchCommandOptions,
  context: ModelCommandContext,
): Promise<void> {
  const { cwd, stdout, stderr, devices, onInterrupt, setExitCode, now } = context;
  const { threads, rounds, preparations, hybrid, inputShape, input: inputs = [], onnx } = options;
  if (
    models.length > 1 &&
    (inputs.length > 0 || onnx !== undefined || inputShape !== undefined || options.part !== undefined)
  ) {
    throw usageError("--input, --input-shape, --part and --onnx belong to one model, and there are several");
  }
  if (models.length === 0 && options.overhead !== true)
    throw usageError("name a model, or measure the overhead with --overhead");
  if (options.html !== undefined) await ensureWritable(options.html, cwd);
  const machine = thisMachine();
  const contestants = await contestantsOf(options, devices);
  const timeLimit = millisecondsOf(options.timeLimit);
  const importing = { hybrid, ...entryOf(options) };
  const settings = { contestants, threads, rounds, preparations, timeLimit, ...importing, inputs, onnx };
  // Faults of a file are reported before the work on others begins.
  const jobs: Job[] = [];
  for (const path of models) jobs.push({ network: await loadNetwork(path, importing, context), settings });
  const folder = await mkdtemp(join(tmpdir(), "nnhal-bench-"));
  if (options.overhead) jobs.push(await overheadJob(options, folder, context));
  if (options.device === undefined) await noteSlowness(contestants, context);
  const interruption = new AbortController();
  const stopListening = onInterrupt?.(() => interruption.abort());
  const bar = createLongProgress(
    stderr,
    jobs.reduce((sum, job) => sum + workOfModel(job.settings), 0),
  );
  const reports: ModelReport[] = [];
  let peaks: readonly Peak[] = [];
  try {
    // Only multiply-adds are compared with the peak.
    if (jobs.some(({ network }) => network.multiplyAdds > 0)) {
      bar.moveTo(0, "the peak of the machine");
      peaks = await calibrate(threads, now);
    }
    let before = 0;
    for (const job of jobs) {
      if (interruption.signal.aborted) break;
      const onWork = (done: number, what: string) => bar.moveTo(before + done, what);
      reports.push(await benchmarkModel(job.network, { ...job.settings, peaks }, context, interruption.signal, onWork));
      before += workOfModel(job.settings);
    }
  } finally {
    bar.stop();
    stopListening?.();
    await rm(folder, { recursive: true, force: true });
  }
  const interrupted = interruption.signal.aborted;
  const report: BenchmarkReport = {
    format: reportFormat,
    machine,
    peaks,
    threads,
    rounds: rounds ?? null,
    interrupted,
    models: reports,
  };
  stdout.write(options.json ? `${JSON.stringify(report)}\n` : fit(formatBenchmark(report), stdout.columns));
  if (options.html !== undefined) await writeUserFile(options.html, benchmarkPage(report, new Date()), cwd);
  const isMeasured = reports.every((model) => model.contestants.some(({ times }) => times !== null));
  setExitCode(interrupted ? 130 : isMeasured ? 0 : 1);
}

function millisecondsOf(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1000;
}

/** Says what adds a fast engine if only the reference is here, which defines results and takes long. */
async function noteSlowness(
  contestants: readonly ContestantId[],
  { devices, stderr }: Pick<ModelCommandContext, "devices" | "stderr">,
): Promise<void> {
  if (contestants.some(({ kind, name }) => kind === "device" && name !== referenceDevice)) return;
  const remedies = (await devices.list()).flatMap(({ opened }) =>
    "unavailable" in opened && opened.remedy !== undefined ? [opened.remedy] : [],
  );
  const [remedy] = remedies;
  const what = remedy === undefined ? "" : `; ${remedy} adds one`;
  stderr.write(
    fit(
      `nnhal bench: note: no fast engine is installed, only the reference, which takes long${what}\n`,
      stderr.columns,
    ),
  );
}

/** A network, and how to measure it. */
interface Job {
  readonly network: Network;
  readonly settings: Omit<BenchmarkSettings, "peaks">;
}

/** Measures what the ways to engines cost, of which the burst is one. */
async function overheadJob(options: BenchCommandOptions, folder: string, context: ModelCommandContext): Promise<Job> {
  const { threads, rounds, preparations, hybrid } = options;
  const timeLimit = millisecondsOf(options.timeLimit);
  const path = join(folder, overheadFile);
  await writeFile(path, overheadModel());
  const contestants = await contestantsOf({ ...options, burst: true }, context.devices);
  return {
    network: await loadNetwork(path, { hybrid }, context),
    settings: { contestants, threads, rounds, preparations, timeLimit, hybrid, inputs: [] },
  };
}

async function contestantsOf(options: BenchCommandOptions, devices: DeviceFinder): Promise<readonly ContestantId[]> {
  const given = options.device?.split(",").map((name) => name.trim()) ?? (await usualDevices(devices));
  const names = await Promise.all(
    given.map(async (name) => (name === allDevices ? name : (await devices.open(name)).name)),
  );
  const double = names.find((name, place) => names.indexOf(name) !== place);
  if (double !== undefined) throw usageError(`the device ${double} is listed twice`);
  const paths = options.burst ? (["compute", "burst"] as const) : (["compute"] as const);
  return [
    ...names.flatMap((name) => paths.map((path): ContestantId => ({ kind: "device", name, path }))),
    ...options.peers.map((name): ContestantId => ({ kind: "peer", name })),
  ];
}

/** The devices that work here without the reference, which defines results and takes long; the reference if it is the only one. */
async function usualDevices(devices: DeviceFinder): Promise<readonly string[]> {
  const names = (await devices.list()).flatMap(({ name, opened }) => ("unavailable" in opened ? [] : [name]));
  // Says why none works.
  if (names.length === 0) await devices.select(allDevices);
  const others = names.filter((name) => name !== referenceDevice);
  return others.length > 0 ? others : names;
}

function peersOf(text: string): readonly PeerName[] {
  if (text === "none") return [];
  return text.split(",").map((name) => {
    const known = peerNames.find((peer) => peer === name.trim());
    if (known === undefined) {
      throw new InvalidArgumentError(`There is no peer "${name}"; there are: ${peerNames.join(", ")}, or none.`);
    }
    return known;
  });
}

/** The side of a child: one contestant, until the parent has seen enough. */
async function serve(path: string, text: string, { cwd, now, devices }: ModelCommandContext): Promise<void> {
  const order = JSON.parse(text) as ServeOrder; // Only this program starts children, with what ServeOrder says.
  const { contestant, threads, hybrid, inputShapes, onnx, cache } = order;
  const task = {
    path,
    bytes: await readUserFile(path, { what: "model", cwd }),
    inputs: await Promise.all(order.inputs.map(async (file) => new Uint8Array(await readFile(file)))),
    threads,
    hybrid,
    ...(inputShapes && { inputShapes }),
    onnx: typeof onnx === "string" ? new Uint8Array(await readFile(onnx)) : onnx,
    ...(cache !== undefined && { cache }),
  };
  // A terminal sends Ctrl-C to children too: the parent decides what it means.
  process.on("SIGINT", () => {});
  await serveStation(
    createStation(() => openContestant(contestant, task, devices), { now, alone: true }),
    process,
  );
  process.exit();
}
