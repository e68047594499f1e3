/**
 * Preparation of a batch, from the command line: the model, the task, and the inputs.
 */
import { basename } from "node:path";
import { BatchError, digestOf, type InputSource, openInputs, type Task, taskDigest } from "@nnhal/batch";
import type { ModelCommandContext } from "../context.ts";
import { failure, usageError } from "../failure.ts";
import { pathFrom } from "../files.ts";
import { inputEndings } from "../model/input-file.ts";
import { readLabels } from "../model/labels.ts";
import { loadModel } from "../model/load.ts";
import { type EntryOptions, entryOf, type Hybrid } from "../option-values.ts";
import { checkDrawable } from "../seen/finder.ts";
import type { GivenTask } from "../task-names.ts";
import { type BatchTaskOptions, toJson } from "./options.ts";

/** The options of commands that begin a batch, as commander parses them. */
export interface BatchOptions extends EntryOptions {
  readonly mean?: readonly number[];
  readonly std?: readonly number[];
  readonly labels?: string;
  readonly top: number;
  readonly device: string;
  readonly hybrid: Hybrid;
  readonly allValues?: boolean;
  readonly raw?: boolean;
  readonly draw?: boolean;
  readonly task?: GivenTask;
  readonly threshold?: number;
}

/** A batch that can begin. */
export interface PreparedBatch {
  /** The same for the same task on the same folder or list. */
  readonly id: string;
  readonly task: Task;
  readonly digest: string;
  readonly model: Uint8Array;
  readonly source: InputSource;
}

/** Reads the model and opens the inputs. Rejects with a CommandError. */
export async function prepareBatch(
  path: string,
  inputs: string,
  {
    labels: labelFile,
    device,
    hybrid,
    top,
    signature,
    inputShape,
    externalBuffer,
    part,
    mean,
    std,
    allValues,
    raw,
    draw,
    task,
    threshold,
  }: BatchOptions,
  { cwd, devices }: Pick<ModelCommandContext, "cwd" | "devices">,
): Promise<PreparedBatch> {
  if (draw) checkDrawable(task);
  const labels = labelFile === undefined ? undefined : await readLabels(labelFile, cwd);
  const source = await openInputs(pathFrom(cwd, inputs), (name) => inputEndings.test(name)).catch((error: unknown) => {
    throw error instanceof BatchError ? usageError(error.message, error) : error;
  });
  const entry: EntryOptions = {
    ...(signature !== undefined && { signature }),
    ...(inputShape !== undefined && { inputShape }),
  };
  const importing = {
    hybrid,
    customOperators: await devices.definitions(),
    ...entryOf(entry),
  };
  const {
    bytes,
    importing: { outside },
    givenInputs,
  } = await loadModel(path, cwd, {
    ...importing,
    ...entryOf({ ...(externalBuffer && { externalBuffer }), ...(part !== undefined && { part }) }),
  });
  if (outside !== undefined && outside.length > 0)
    throw usageError(`a batch keeps its model in one file; ${basename(path)} has constants outside of its own`);
  if (givenInputs.length !== 1)
    throw usageError(`a batch runs a model of one input for each file; ${basename(path)} has ${givenInputs.length}`);
  const options: BatchTaskOptions = {
    ...{ device, hybrid, top },
    ...entry,
    ...(mean !== undefined && { mean }),
    ...(std !== undefined && { std }),
    ...(labels !== undefined && { labels: labels.names }),
    ...(allValues && { allValues }),
    ...(raw && { raw }),
    ...(draw && { draw }),
    ...(task !== undefined && { task }),
    ...(threshold !== undefined && { threshold }),
  };
  const whole: Task = { model: digestOf(bytes), options: toJson(options) };
  const digest = taskDigest(whole);
  return { id: digestOf(`${digest} ${source.path}`).slice(0, 16), task: whole, digest, model: bytes, source };
}

/** Does work whose BatchErrors mean that the command has failed. */
export async function reportFailure<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof BatchError ? failure(error.message, error) : error;
  }
}

/** Number of names. Rejects with a CommandError. */
export async function countNames(source: InputSource): Promise<number> {
  return reportFailure(async () => {
    let count = 0;
    for await (const _ of source.names()) count++;
    return count;
  });
}
