#!/usr/bin/env node
/** The `nnhal-worker` command: connects a worker with this process. */
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { runMain } from "@nnhal/program";
import { checkout } from "#checkout";
import { runWorker } from "./program.ts";

/** The computing thread: a part of `nnhal`. */
const thread = checkout ?? {
  file: new URL("batch-thread.js", pathToFileURL(createRequire(import.meta.url).resolve("@nnhal/cli/main"))),
  execArgv: [],
};

await runMain(import.meta.url, (surroundings) =>
  runWorker({
    ...surroundings,
    startThread: (settings) => new Worker(thread.file, { workerData: settings, execArgv: thread.execArgv }),
  }),
);
