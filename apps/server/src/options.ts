/** The command line of the server. */
import {
  addLogOptions,
  collect,
  count,
  driverOwnerHelp,
  exitCodes,
  type LogFormat,
  type LogLevel,
  parseCommand,
  port,
  seconds,
  userNumber,
} from "@nnhal/program";
import { Command, InvalidArgumentError, Option } from "commander";
import { defaultSettings, type ModelSettings, settingRanges, versionPolicy } from "./settings.ts";

/** Settings of the user. */
export interface Settings {
  /** A folder of models, the folder of one, or a file. */
  readonly path: string;
  /** The name of the only model. */
  readonly name: string | undefined;
  /** Models to load at the start; undefined: all. */
  readonly load: readonly string[] | undefined;
  readonly model: ModelSettings;
  /** A runtime directory of a daemon, or the name of a service: see `findServices`. */
  readonly driver: string | undefined;
  /** User id of the daemon's owner; undefined: the user of this process. */
  readonly driverOwner: number | undefined;
  readonly engines: readonly string[];
  /** Modules of extensions for custom operators. */
  readonly extensions: readonly string[];
  readonly host: string;
  readonly restPort: number | undefined;
  readonly grpcPort: number | undefined;
  readonly tlsCert: string | undefined;
  readonly tlsKey: string | undefined;
  readonly tokenFile: string | undefined;
  readonly readOnly: boolean;
  readonly strictReadiness: boolean;
  readonly bodyLimit: number;
  /** Bytes that all requests may hold together. */
  readonly memoryLimit: number;
  readonly connections: number;
  /** Milliseconds. */
  readonly arrivalLimit: number;
  readonly timeout: number | undefined;
  readonly lingerLimit: number;
  readonly drainLimit: number;
  readonly logFormat: LogFormat;
  readonly logLevel: LogLevel;
}

/** Result of parsing the command line: settings, or a text to end with. */
export type Parsed = { readonly settings: Settings } | { readonly text: string; readonly exitCode: number };

const help = `
MODELS is a folder with a folder for each model, which has a folder for each version: MODELS/digits/1/model.tflite. The folder of a single
model, and a .tflite file, are served too. A file nnhal.json beside the versions has settings of that model: ${Object.keys(defaultSettings).join(", ")}.

A line "ready rest=URL grpc=ADDRESS MODEL..." on stdout says that clients can connect. SIGTERM and SIGINT let requests end; a second one
ends at once.

Environment: NNHAL_SERVER_TOKEN is the token of clients, if there is no --token-file.

Exit codes: 0 the server was ended by a signal; 1 it cannot work, or no model could be loaded at the start; 2 the command line is wrong, or what it
names is missing or of the wrong kind.

Examples:
  nnhal-server models
  nnhal-server mobilenet.tflite --devices ort --instances 2
  nnhal-server models --driver nnapi-sample_all
  curl http://127.0.0.1:8000/v2/models/mobilenet`;

/** Reads a command line, without the program's name. Never throws. */
export function parseOptions(args: readonly string[], version: string): Parsed {
  const { instances, threads, queue, maxBatch, batchDelay, warmUp } = settingRanges;
  const command = new Command("nnhal-server")
    .description("Serve .tflite models by the Open Inference Protocol, over REST and gRPC")
    .argument("<models>", "a folder of models or of .tflite files, the folder of one model, or a .tflite file")
    .option("--name <name>", "the name of a single model")
    .option("--load <names>", "models to load at the start, with commas between them, or none (default: all)")
    .option("--versions <policy>", "latest, latest:N, all, or numbers", policy, defaultSettings.versions)
    .option("--devices <names>", "devices to divide a model among", defaultSettings.devices)
    .addOption(
      new Option("--engine <module>", "an engine besides those installed; may be given several times")
        .argParser(collect)
        .default([], "none"),
    )
    .addOption(
      new Option(
        "--extension <module>",
        "an extension for custom operators, such as @nnhal/extension-mediapipe; may be given several times",
      )
        .argParser(collect)
        .default([], "none"),
    )
    .option("--driver <directory|name>", "compute in a daemon (nnhal-sample-driver) instead of threads")
    .option("--driver-owner <user>", driverOwnerHelp, userNumber)
    .option("--instances <count>", "copies of each model, with a thread for each", count(...instances), 1)
    .option(
      "--threads <count>",
      "threads of the engine of each copy; 0: its default for one copy, the processors divided among several",
      count(...threads),
      defaultSettings.threads,
    )
    .option("--queue <count>", "requests of a model that wait, at most", count(...queue), defaultSettings.queue)
    .option("--max-batch <rows>", "rows of requests that compute together, at most", count(...maxBatch), 1)
    .option(
      "--batch-delay <ms>",
      "how long a request waits for others",
      count(...batchDelay),
      defaultSettings.batchDelay,
    )
    .option("--dynamic-shapes", "extents that a file leaves open stay open; they do with --max-batch")
    .option("--warm-up <runs>", "runs of each instance before its model is ready", count(...warmUp), 1)
    .option("--timeout <seconds>", "longest time of a request", seconds)
    .option("--host <address>", "where to listen; the default is this machine alone", "127.0.0.1")
    .option("--port <port>", "the port of REST; 0: a free one", port, 8000)
    .option("--grpc-port <port>", "the port of gRPC; 0: a free one", port, 8001)
    .option("--no-rest", "no REST")
    .option("--no-grpc", "no gRPC")
    .option("--tls-cert <file>", "certificates (PEM), for both protocols")
    .option("--tls-key <file>", "the private key (PEM) of the certificate")
    .option("--token-file <file>", "a file with the token that clients must present")
    .option("--read-only", "clients cannot load or unload models")
    .option("--strict-readiness", "the server is ready only if all its models are")
    .option("--body-limit <bytes>", "most bytes of a request", count(1024, 2 ** 31 - 1), 64 * 2 ** 20)
    .option("--memory <bytes>", "most bytes of all requests together", count(1024, 2 ** 40), 256 * 2 ** 20)
    .option("--connections <count>", "most connections of each protocol", count(1, 65_536), 1024)
    .option("--arrival <seconds>", "longest time in which a request arrives, or its answer is taken", seconds, 30)
    .option("--linger <seconds>", "how long clients may take to notice the end", seconds, 1)
    .option("--drain <seconds>", "longest time for requests at the end", seconds, 30);
  addLogOptions(command, "info").addHelpText("after", help).allowExcessArguments(false);
  const parsed = parseCommand(command, args, version);
  if (parsed.kind === "end") return parsed;
  // The options above, with their defaults and readers.
  const given = command.opts<Given>();
  const [path = ""] = command.args;
  const problem = problemOf(given);
  if (problem !== undefined)
    return { text: `nnhal-server: ${problem}; see nnhal-server --help\n`, exitCode: exitCodes.usage };
  const { name, driver, driverOwner, timeout, host, tlsCert, tlsKey, tokenFile, bodyLimit, logFormat, logLevel } =
    given;
  return {
    settings: {
      ...{ memoryLimit: given.memory, connections: given.connections },
      ...{ path, name, driver, driverOwner, host, tlsCert, tlsKey, tokenFile, bodyLimit, logFormat, logLevel },
      load: given.load === undefined ? undefined : given.load === "none" ? [] : given.load.split(","),
      model: {
        devices: given.devices,
        instances: given.instances,
        threads: given.threads,
        queue: given.queue,
        maxBatch: given.maxBatch,
        batchDelay: given.batchDelay,
        warmUp: given.warmUp,
        versions: given.versions,
        dynamicShapes: given.dynamicShapes === true,
      },
      engines: given.engine,
      extensions: given.extension,
      restPort: given.rest ? given.port : undefined,
      grpcPort: given.grpc ? given.grpcPort : undefined,
      readOnly: given.readOnly === true,
      strictReadiness: given.strictReadiness === true,
      arrivalLimit: given.arrival * 1000,
      timeout: timeout === undefined ? undefined : timeout * 1000,
      lingerLimit: given.linger * 1000,
      drainLimit: given.drain * 1000,
    },
  };
}

interface Given extends Omit<ModelSettings, "dynamicShapes"> {
  readonly dynamicShapes: true | undefined;
  readonly name: string | undefined;
  readonly load: string | undefined;
  readonly engine: readonly string[];
  readonly extension: readonly string[];
  readonly driver: string | undefined;
  readonly driverOwner: number | undefined;
  readonly timeout: number | undefined;
  readonly host: string;
  readonly port: number;
  readonly grpcPort: number;
  readonly rest: boolean;
  readonly grpc: boolean;
  readonly tlsCert: string | undefined;
  readonly tlsKey: string | undefined;
  readonly tokenFile: string | undefined;
  readonly readOnly: true | undefined;
  readonly strictReadiness: true | undefined;
  readonly bodyLimit: number;
  readonly memory: number;
  readonly connections: number;
  readonly arrival: number;
  readonly linger: number;
  readonly drain: number;
  readonly logFormat: LogFormat;
  readonly logLevel: LogLevel;
}

function problemOf({ rest, grpc, tlsCert, tlsKey, driver, engine, memory, bodyLimit }: Given): string | undefined {
  if (memory < bodyLimit) return `--memory must be at least --body-limit (${bodyLimit}), got ${memory}`;
  if (!rest && !grpc) return "--no-rest and --no-grpc leave nothing to serve";
  if ((tlsCert === undefined) !== (tlsKey === undefined)) return "--tls-cert and --tls-key belong together";
  if (driver !== undefined && engine.length > 0) return "--engine is for threads, and --driver uses none";
  return undefined;
}

function policy(text: string): string {
  if (versionPolicy.test(text)) return text;
  throw new InvalidArgumentError("Expected latest, latest:N, all, or numbers with commas between them.");
}
