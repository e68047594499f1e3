#!/usr/bin/env node
/** The `nnhal-server` command: connects the server with this process. */
import { runMain } from "@nnhal/program";
import { runServer } from "./program.ts";

await runMain(import.meta.url, runServer);
