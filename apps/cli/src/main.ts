#!/usr/bin/env node
/**
 * The `nnhal` command: reads the arguments, runs one of the commands.
 */
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Command } from "commander";
import { registerVectorsCommand } from "./commands/vectors.ts";
import { openDevice } from "./devices.ts";

const program = new Command("nnhal").description("Run, explain and check models on Neural Networks HAL devices");

registerVectorsCommand(program, {
  stdout: process.stdout,
  stderr: process.stderr,
  openDevice,
  // What engines print while they load does not belong into results: it goes to stderr.
  startSelf: (args) => fork(fileURLToPath(import.meta.url), args, { stdio: ["ignore", 2, 2, "ipc"] }),
  setExitCode(code) {
    process.exitCode = code;
  },
});

await program.parseAsync();
