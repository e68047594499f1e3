#!/usr/bin/env node
/** The `nnhal-sample-driver` command: connects the daemon with this process. */
import { runMain } from "@nnhal/program";
import { runDaemon } from "./program.ts";

await runMain(import.meta.url, runDaemon);
