/** The command line of the daemon. */
import { join } from "node:path";
import { defaultStateDirectory } from "@nnhal/driver-core/outcomes";
import {
  addLogOptions,
  collect,
  count,
  type LogFormat,
  type LogLevel,
  parseCommand,
  port,
  seconds,
  userNumber,
} from "@nnhal/program";
import { defaultDirectory } from "@nnhal/service";
import { VLOG_PROPERTY } from "@nnhal/utils";
import { Command, Option } from "commander";
import { type ClientLimits, defaultLimits } from "./client-device.ts";
import { allDevices, knownDevices } from "./services.ts";

/** Settings of the user. */
export interface Settings {
  readonly devices: string;
  readonly backend: readonly string[];
  readonly dir: string;
  /** Numbers of users besides that of this process who may be clients. */
  readonly allowUser: readonly number[];
  readonly state: string;
  readonly list: boolean;
  readonly vlog: string;
  readonly trace: string | undefined;
  readonly metrics: number | undefined;
  readonly calibrate: boolean;
  readonly logFormat: LogFormat;
  readonly logLevel: LogLevel;
  /** Most clients of a service. */
  readonly clients: number;
  readonly limits: ClientLimits;
  /** Milliseconds. */
  readonly drainLimit: number;
  readonly stallLimit: number;
}

/** Result of parsing the command line. */
export type Parsed =
  | { readonly settings: Settings }
  /** Help or the version, or an error: what to print, and the exit code. */
  | { readonly text: string; readonly exitCode: number };

const help = `
Devices: ${knownDevices.join(", ")}.
NAME=DEVICE serves a device under another name; ${allDevices} stands for all whose packages are installed.

A line "ready DIRECTORY DEVICE..." on stdout says that clients can connect. SIGTERM and SIGINT let running executions end; a second one
ends at once. With LISTEN_FDS, sockets whose names (LISTEN_FDNAMES) are those of devices are taken as they are; with NOTIFY_SOCKET,
systemd is told when the daemon is ready.

Exit codes: 0 the daemon was ended by a signal; 1 it cannot work; 2 the command line is wrong, or what it
names is missing or of the wrong kind.

Examples:
  nnhal-sample-driver --devices nnapi-sample_all,nnhal-ort
  nnhal-sample-driver --backend acme-npu=./backend.js --metrics 9464
  nnhal run model.tflite --driver nnapi-sample_all`;

/** Reads a command line, without the program's name. Never throws. */
export function parseOptions(args: readonly string[], version: string, env: NodeJS.ProcessEnv): Parsed {
  const command = new Command("nnhal-sample-driver")
    .description("Serve Neural Networks HAL devices to other processes on this machine")
    .option("--devices <names>", "devices to serve, with commas between them", allDevices)
    .addOption(
      new Option("--backend <name=module>", "serve the backend that a module exports; may be given several times")
        .argParser(collect)
        .default([], "none"),
    )
    .option("--dir <directory>", "the runtime directory, with a socket for each device", defaultDirectory(env))
    .addOption(
      new Option(
        "--allow-user <user>",
        "also take clients of the user of this number; may be given several times, and needs koffi",
      )
        .argParser((text: string, before: readonly number[]) => [...before, userNumber(text)])
        .default([], "none"),
    )
    .option("--list", "list the devices that can be served, and end")
    .addOption(
      new Option("--vlog <tags>", `tags of verbose logs (${VLOG_PROPERTY})`).default(
        env.NNHAL_VLOG ?? "",
        env.NNHAL_VLOG || "none",
      ),
    )
    .option("--trace <file>", "write the durations of all steps to this file at the end, for ui.perfetto.dev")
    .option("--metrics <port>", "serve metrics for Prometheus at this port of 127.0.0.1; 0: a free one", port)
    .option(
      "--calibrate",
      "measure devices that have not been measured, beside the reference CPU, and keep the figures",
    )
    .option(
      "--state <directory>",
      "where measured figures and self-checks of engines are kept",
      defaultStateDirectory(env) ?? join(defaultDirectory(env), "state"),
    );
  addLogOptions(command, "debug")
    .option("--clients <count>", "most clients of a device", count(1, 65_536), 256)
    .option("--models <count>", "most prepared models of a client", count(1, 2 ** 20), defaultLimits.models)
    .option("--buffers <count>", "most device buffers of a client", count(1, 2 ** 20), defaultLimits.buffers)
    .option("--buffer-bytes <bytes>", "most bytes of buffers of a client", count(1, 2 ** 50), defaultLimits.bufferBytes)
    .option("--mapped-bytes <bytes>", "most bytes mapped for a client", count(1, 2 ** 50), defaultLimits.mappedBytes)
    .option("--queue <count>", "most waiting calls of a client", count(1, 2 ** 20), defaultLimits.queue)
    .option("--drain <seconds>", "longest time for running executions at the end", seconds, 5)
    .option("--watchdog <seconds>", "a device whose thread stands still for so long is ended", seconds, 30)
    .addHelpText("after", help)
    .allowExcessArguments(false);
  const parsed = parseCommand(command, args, version);
  if (parsed.kind === "end") return parsed;
  // Of the options above, with their defaults and readers.
  const given = command.opts<Omit<Settings, "limits"> & ClientLimits & { drain: number; watchdog: number }>();
  const { models, buffers, bufferBytes, mappedBytes, queue, drain, watchdog, ...rest } = given;
  return {
    settings: {
      ...rest,
      list: rest.list === true,
      calibrate: rest.calibrate === true,
      limits: { models, buffers, bufferBytes, mappedBytes, queue },
      drainLimit: drain * 1000,
      stallLimit: watchdog * 1000,
    },
  };
}
