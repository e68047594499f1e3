/** A worker from its command line to its exit code. */
import { type BatchThread, createPool, messageOf } from "@nnhal/batch";
import { type BatchQueue, openQueues, type WorkerEvent } from "@nnhal/batch/queue";
import { endSignal, exitCodes, type Surroundings as ProgramSurroundings } from "@nnhal/program";
import { parseOptions, type Settings } from "./options.ts";

/** Parts of the process that a worker uses. */
export interface Surroundings extends Omit<ProgramSurroundings, "cwd"> {
  /** Starts a computing thread, with settings of `nnhal`. */
  startThread(settings: object): BatchThread;
}

/** Milliseconds after the grace that a worker without a connection has to end. */
const afterGrace = 5000;

/** Works until a signal. Resolves with the exit code. */
export async function runWorker(surroundings: Surroundings): Promise<number> {
  const { args, env, version, stdout, stderr, exit } = surroundings;
  const parsed = parseOptions(args, version, env);
  if ("text" in parsed) {
    (parsed.exitCode === exitCodes.done ? stdout : stderr)(parsed.text);
    return parsed.exitCode;
  }
  const { settings } = parsed;
  const warn = (message: string) => stderr(`nnhal-worker: ${message}\n`);
  const end = new AbortController();
  const ended = endSignal(surroundings).then(() => {
    end.abort();
    setTimeout(() => exit(exitCodes.failed), settings.grace * 1000 + afterGrace).unref();
  });
  try {
    const opening = { isPatient: true, signal: end.signal, onTrouble: warn };
    const addresses = settings.queue.map((url) => ({ url, name: settings.queueName }));
    const queue = await openQueues(addresses, opening);
    await workUntil(ended, queue, settings, surroundings);
    return exitCodes.done;
  } catch (error) {
    // A signal came before the queue was connected.
    if (end.signal.aborted) return exitCodes.done;
    stderr(`nnhal-worker: ${messageOf(error)}\n`);
    return exitCodes.failed;
  }
}

async function workUntil(
  ended: Promise<void>,
  queue: BatchQueue,
  settings: Settings,
  { stdout, stderr, startThread }: Surroundings,
): Promise<void> {
  const {
    queueName,
    threads,
    deadline,
    grace,
    lock,
    root,
    results,
    store,
    allow,
    modelBytes,
    quiet = false,
  } = settings;
  const { backend, extension, driver, driverOwner } = settings;
  const warn = (message: string) => stderr(`nnhal-worker: ${message}\n`);
  const pool = createPool({
    threads,
    start: () => startThread({ backend, extension, driver, driverOwner, cwd: process.cwd() }),
    deadline: deadline * 1000,
    onNote: warn,
  });
  const worker = queue.work({
    ...{ pool, lock: lock * 1000, root, results, store, allow, modelBytes },
    onEvent(event) {
      const line = lineOf(event);
      if (event.kind === "chunk" || event.kind === "given back") {
        if (!quiet) stdout(`${line}\n`);
      } else warn(line);
    },
  });
  stdout(`ready ${queue.place} ${queueName}, ${threads} ${threads === 1 ? "thread" : "threads"}\n`);
  await ended;
  await worker.close(grace * 1000);
  await pool.close();
  await queue.close();
}

function lineOf(event: WorkerEvent): string {
  switch (event.kind) {
    case "chunk":
      return `batch ${event.batch}: ${event.computed} computed, ${event.known} known, ${event.failed} failed`;
    case "again":
      return `batch ${event.batch}: a chunk has to come again: ${event.reason}`;
    case "divided":
      return `batch ${event.batch}: workers have ended in a chunk; its ${event.inputs} inputs come one by one`;
    case "given back":
      return `batch ${event.batch}: a chunk is given back`;
    case "dropped":
      return `${event.jobs === 1 ? "a job was" : `${event.jobs} jobs were`} dropped: ${event.reason}`;
    case "trouble":
      return event.reason;
  }
}
