/** Opening a version of a model: its instances, warmed up, and the scheduler of its requests. */
import type { Clock } from "./clock.ts";
import { messageOf } from "./errors.ts";
import { whyNotJoined } from "./rows.ts";
import { type ModelDescription, type Runner, zeroInputs } from "./runner.ts";
import { createScheduler, type Scheduler } from "./scheduler.ts";
import type { ModelSettings } from "./settings.ts";

/** A version of a model that takes requests. */
export interface ReadyModel {
  readonly name: string;
  readonly version: string;
  readonly description: ModelDescription;
  readonly scheduler: Scheduler;
}

/** The model to open. */
export interface Opening {
  readonly file: string;
  /** undefined: the first subgraph of the file. */
  readonly signature: string | undefined;
  readonly settings: ModelSettings;
}

/** The surroundings of models that are opened. */
export interface OpenOptions {
  open(opening: Opening): Promise<Runner>;
  onEvent(severity: "info" | "warn" | "error", message: string, model: string): void;
  readonly clock: Clock;
}

/** Opens all instances of a model. Rejects, and closes those that are open, if one cannot be opened or does not compute. */
export async function openModel(
  name: string,
  version: string,
  opening: Opening,
  { open, onEvent, clock }: OpenOptions,
): Promise<ReadyModel> {
  const { settings } = opening;
  const runners: Runner[] = [];
  try {
    const opened = await Promise.allSettled(Array.from({ length: settings.instances }, () => open(opening)));
    for (const one of opened) if (one.status === "fulfilled") runners.push(one.value);
    for (const one of opened) if (one.status === "rejected") throw one.reason;
    const [first] = runners;
    if (first === undefined) throw new Error("it has no instances");
    const { description } = first;
    await Promise.all(runners.map((runner) => warmUp(runner, settings.warmUp)));
    const reason = settings.maxBatch > 1 ? await whyNotJoined(first) : undefined;
    if (reason !== undefined) onEvent("warn", `requests are not joined: ${reason}`, name);
    const scheduler = createScheduler(runners, {
      queue: settings.queue,
      maxBatch: reason === undefined ? settings.maxBatch : 1,
      batchDelay: settings.batchDelay,
      clock,
      reopen: () => open(opening),
      onWarning: (message) => onEvent("warn", message, name),
    });
    return { name, version, description, scheduler };
  } catch (error) {
    await Promise.all(runners.map((runner) => runner.close()));
    throw error;
  }
}

/** Runs a model on zeros, so that the first request does not wait for one-time work. A failure counts if no extent is open. */
async function warmUp(runner: Runner, runs: number): Promise<void> {
  const { description } = runner;
  const isKnown = description.inputs.every(({ shape }) => shape.length > 0 && !shape.includes(-1));
  try {
    for (let run = 0; run < runs; run++) await runner.run(zeroInputs(description), {});
  } catch (error) {
    if (isKnown) throw new Error(`it does not compute: ${messageOf(error)}`, { cause: error });
  }
}
