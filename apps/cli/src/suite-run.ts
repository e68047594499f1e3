/**
 * Functions that the commands of conformance suites share: options, finding the vectors, progress, and child processes.
 */

import { setTimeout } from "node:timers/promises";
import {
  type CaseResult,
  findVectorFiles,
  type IsolationOptions,
  type OnProgress,
  runIsolated,
  type Summary,
  serveResults,
  summarise,
  type VectorFile,
} from "@nnhal/conformance";
import { count } from "@nnhal/program";
import { type Device, DeviceStatus } from "@nnhal/types";
import { InvalidArgumentError } from "commander";
import type { CommandContext } from "./context.ts";
import { CommandError, messageOf, usageError } from "./failure.ts";
import { ensureKind, reasonOf } from "./files.ts";
import { createProgressBar } from "./progress.ts";
import { oneLine } from "./text.ts";

/** Reads a seed from an option. */
export const parseSeed = count(0, 2 ** 32 - 1);

/** Reads a number of things from an option. */
export const parseCount = count(1, 1e9);

/** A number of minutes, from an option. */
export function parseMinutes(text: string): number {
  const minutes = Number(text);
  if (minutes > 0 && minutes <= 1440) return minutes;
  throw new InvalidArgumentError("Expected a number of minutes above 0, of at most a day.");
}

/** The vectors files of a folder, or one such file. Rejects with a usage error if there are none. */
export async function findFiles(dir: string): Promise<readonly VectorFile[]> {
  await ensureKind(dir, `vectors path ${dir}`, "file or folder");
  let files: readonly VectorFile[];
  try {
    files = await findVectorFiles(dir);
  } catch (error) {
    throw usageError(`cannot read the vectors ${dir}: ${reasonOf(error)}`, error);
  }
  if (files.length === 0) throw usageError(`there are no *.jsonl.gz files in ${dir}`);
  return files;
}

/** Does work of which every problem that has no exit code means that nothing could be run: a usage error with the message as one line. */
export async function asUsageErrors(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw usageError(oneLine(messageOf(error)), error);
  }
}

/** Serves results to the process that started this one. A problem is shown here too: its stack does not go across. */
export async function serveCases(
  { showWhere }: CommandContext,
  run: Parameters<typeof serveResults>[0],
  options?: Parameters<typeof serveResults>[1],
): Promise<void> {
  await serveResults(async function* (onStart, onProgress) {
    try {
      yield* run(onStart, onProgress);
    } catch (error) {
      showWhere(error);
      throw error;
    }
  }, options);
}

/**
 * Adds up the results of a run over files, or other work of known size, and shows its progress on stderr. `what` is
 * said of the progress.
 */
export async function runWithProgress(
  files: readonly Pick<VectorFile, "size">[],
  run: (onProgress: OnProgress) => AsyncIterable<CaseResult>,
  { stderr }: CommandContext,
  what = "",
): Promise<Summary> {
  const bar = createProgressBar(
    stderr,
    files.reduce((sum, { size }) => sum + size, 0),
  );
  try {
    let failed = 0;
    return await summarise(
      run((done, detail) => bar.moveTo(done, `${what}${failed} failed, ${detail}`)),
      ({ verdict }) => {
        if (verdict === "failed") failed++;
      },
    );
  } finally {
    bar.stop();
  }
}

/** Milliseconds that a service gets to come back. */
const comingBack = 2000;

/** Passes results on until the device stays OFFLINE after a failure, as one of a daemon that has ended: all further cases would fail. */
export async function* untilOffline(
  device: Pick<Device, "name" | "getStatus">,
  results: AsyncIterable<CaseResult>,
  wait: (milliseconds: number) => Promise<unknown> = setTimeout,
): AsyncGenerator<CaseResult> {
  for await (const result of results) {
    // The first question makes a client look for its service again.
    const isLost = result.verdict === "failed" && device.getStatus() === DeviceStatus.OFFLINE;
    if (isLost) await wait(comingBack);
    if (!isLost || device.getStatus() !== DeviceStatus.OFFLINE) {
      yield result;
      continue;
    }
    yield { ...result, reason: `${result.reason}\n${device.name} is OFFLINE: the cases that follow were not run` };
    return;
  }
}

/** Time in milliseconds that a child gets beyond a case's own, to say itself that the case took too long. */
const grace = 10_000;

/** Runs cases in children of this process: the same command with other arguments, `--serve`, and `--singly` where
 * results come in batches. */
export function runInChildren(
  command: string,
  args: readonly string[],
  timeLimit: number,
  startSelf: NonNullable<CommandContext["startSelf"]>,
  onProgress: OnProgress,
  { batch = 1, ...how }: Pick<IsolationOptions, "batch" | "mostLost" | "losses" | "known"> = {},
): AsyncGenerator<CaseResult> {
  return runIsolated({
    start: (done, singly) => {
      const telling = batch === 1 ? [] : ["--singly", String(singly)];
      return startSelf([command, "--serve", String(done), ...telling, ...args]);
    },
    ...how,
    batch,
    silence: timeLimit * 1000 + grace,
    onProgress,
  });
}
