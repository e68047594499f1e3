/**
 * `nnhal batch`: many inputs through one model, once each, on this machine or on the machines behind a queue.
 */

import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { count } from "@nnhal/program";
import { type Command, Option } from "commander";
import type { BatchContext, RunBatchOptions } from "../batch/run.ts";
import { pathFrom } from "../files.ts";
import { addInputOptions, addTaskOptions, deviceOption, hybridOption } from "../option-values.ts";

const help = `
INPUTS is a folder, with the folders in it, or a text with the name of an input on each line, relative to the text.
An input is what nnhal run takes as one: a picture, a .npy array, a WAV sound, a .bin tensor; in a list also a text of numbers.

What is computed once is not computed again: a result has the name of what it was computed from, SHA-256 of the model, of
the options and of the input. The same command goes on after any end. An input that cannot be used does not stop the others.

Examples:
  nnhal batch run mobilenet.tflite pictures/ --results results
  nnhal batch results results --csv > classes.csv
  nnhal batch submit mobilenet.tflite pictures/ --queue redis://localhost:6379
  nnhal batch status --queue redis://localhost:6379
  nnhal batch results 1f0c3ab2c4d5e6f7 --queue redis://localhost:6379 --csv`;

/** The options of commands that begin a batch. */
function addBatchOptions(command: Command): Command {
  command
    .argument("<model>", "the .tflite file, with one input")
    .argument("<inputs>", "a folder of inputs, or a text with a name on each line");
  return addTaskOptions(addInputOptions(command))
    .option("--top <k>", "how many classes to keep", count(1, 1_000_000), 5)
    .addOption(deviceOption())
    .addOption(hybridOption())
    .option("--all-values", "keep the values of all outputs, not only of those of up to 1000 elements")
    .option("--raw", "keep each output tensor raw, in a file beside the result")
    .option("--draw", "keep a picture of what a detector, segmenter or pose network sees beside the result");
}

function addPrintOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        "--csv",
        "print what was found (boxes, areas, points, the best classes, or all values) as CSV",
      ).conflicts("json"),
    )
    .option("--json", "print a line of JSON for each input");
}

/** Gives the command its subcommands. */
export function registerBatchCommand(command: Command, context: () => Promise<BatchContext>): void {
  command.addHelpText("after", help);
  addPrintOptions(addBatchOptions(command.command("run").description("run a batch on this machine, in worker threads")))
    .option(
      "--results <folder>",
      "where results are kept; the same for every batch whose results may be used",
      "results",
    )
    .option("--threads <n>", "how many threads compute", count(1, 1024), availableParallelism())
    .option("--deadline <seconds>", "how long an input may take", count(1, 86_400), 600)
    .action(async (model: string, inputs: string, options: RunBatchOptions) => {
      const { runBatchCommand } = await import("../batch/run.ts");
      return runBatchCommand(model, inputs, options, await context());
    });
  addQueueOptions(
    addBatchOptions(
      command.command("submit").description("put a batch into a queue, for nnhal-worker on any machines"),
    ),
  )
    .option("--results <folder>", "keep results in this folder, which all workers see (default: in Redis)")
    .option("--store <address>", "where workers find the model: a folder, http(s)://, s3+https:// (default: Redis)")
    .option("--chunk <n>", "how many inputs a worker takes at a time", count(1, 10_000), 64)
    .option("--inline", "let the inputs travel through Redis, for workers that do not see their folder")
    .option("--wait", "wait until all are computed")
    .action(async (model: string, inputs: string, options) => {
      const { submitCommand } = await import("../batch/queue.ts");
      return submitCommand(model, inputs, options, await context());
    });
  addQueueOptions(command.command("status").description("show how far the batches in a queue are, and what failed"))
    .argument("[batch]", "only this one")
    .option("--json", "print JSON")
    .action(async (id: string | undefined, options) => {
      const { statusCommand } = await import("../batch/queue.ts");
      return statusCommand(id, options, await context());
    });
  addPrintOptions(command.command("results").description("print the results of a batch, in the order of the names"))
    .argument("<folder|batch>", "a folder of results; with --queue, or NNHAL_QUEUE and no such folder, a batch")
    .addOption(queueOption())
    .addOption(queueNameOption())
    .option("--results <folder>", "with --queue: where the folder of results is here (default: as submitted)")
    .option("--id <batch>", "which batch of the folder (default: the last one begun)")
    .option("--failed", "only the inputs without a result, with their reasons")
    .action(async (which: string, options) => {
      const given = await context();
      const queue = options.queue ?? queueOfEnvironment(which, given);
      if (queue !== undefined) {
        const { queueResults } = await import("../batch/queue.ts");
        return queueResults(which, { ...options, queue }, given);
      }
      const { printFolder } = await import("../batch/run.ts");
      return printFolder(which, options, given);
    });
  addQueueOptions(command.command("retry").description("queue again the inputs of a batch that failed"))
    .argument("<batch>", "the batch")
    .option("--chunk <n>", "how many inputs a worker takes at a time", count(1, 10_000), 64)
    .action(async (id: string, options) => {
      const { retryCommand } = await import("../batch/queue.ts");
      return retryCommand(id, options, await context());
    });
  addQueueOptions(command.command("cancel").description("take a batch from the queue; its results stay"))
    .argument("<batch>", "the batch")
    .option("--remove", "also remove all that Redis has of it, results included")
    .action(async (id: string, options) => {
      const { cancelCommand } = await import("../batch/queue.ts");
      return cancelCommand(id, options, await context());
    });
}

/** Commands that cannot do without a queue. */
function addQueueOptions(command: Command): Command {
  return command.addOption(queueOption().env("NNHAL_QUEUE").makeOptionMandatory()).addOption(queueNameOption());
}

function queueOption(): Option {
  return new Option(
    "--queue <url>",
    "the Redis of the queue, such as redis://localhost:6379; may be given several times: inputs are divided among them",
  ).argParser((text: string, previous: readonly string[] = []) => [...previous, ...queuesIn(text)]);
}

function queuesIn(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}

/** The queue that the environment names, if what is asked for can be one of its batches. */
function queueOfEnvironment(which: string, { cwd }: Pick<BatchContext, "cwd">): readonly string[] | undefined {
  const text = process.env.NNHAL_QUEUE ?? "";
  const isBatch = /^[0-9a-f]{16}$/.test(which) && !existsSync(pathFrom(cwd, which));
  return text.trim() !== "" && isBatch ? queuesIn(text) : undefined;
}

function queueNameOption(): Option {
  return new Option("--queue-name <name>", "the queue in that Redis").default("nnhal");
}
