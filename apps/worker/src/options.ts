/** The command line of a worker. */
import { availableParallelism } from "node:os";
import { collect, count, driverOwnerHelp, parseCommand, userNumber } from "@nnhal/program";
import { Command } from "commander";

/** Settings of the user. */
export interface Settings {
  readonly queue: readonly string[];
  readonly queueName: string;
  readonly threads: number;
  /** Seconds. */
  readonly deadline: number;
  readonly grace: number;
  readonly lock: number;
  readonly root?: string;
  readonly results?: string;
  readonly store?: string;
  readonly allow?: readonly string[];
  readonly modelBytes: number;
  readonly backend?: readonly string[];
  readonly extension?: readonly string[];
  readonly driver?: readonly string[];
  readonly driverOwner?: number;
  readonly quiet?: boolean;
}

/** Settings, or a text to print with an exit code. */
export type Parsed = { readonly settings: Settings } | { readonly text: string; readonly exitCode: number };

const help = `
A worker takes chunks of inputs that \`nnhal batch submit\` has put into the queue, until SIGTERM or SIGINT: then it takes no more, ends what it
has within --grace seconds, gives back the rest, and exits. Start as many as you like, on any machines.

Exit codes: 0 the worker was ended by a signal; 1 it cannot work; 2 the command line is wrong, or what it
names is missing or of the wrong kind.

Examples:
  nnhal-worker --queue redis://localhost:6379
  nnhal-worker --queue rediss://:PASSWORD@redis.example:6380 --threads 4 --root /mnt/pictures --results /mnt/results`;

/** Reads the command line. */
export function parseOptions(args: readonly string[], version: string, env: NodeJS.ProcessEnv): Parsed {
  const queues = (env.NNHAL_QUEUE ?? "").split(/\s+/).filter((url) => url !== "");
  const program = new Command("nnhal-worker")
    .description("Compute batches from a queue (BullMQ on Redis), together with any number of other workers")
    .requiredOption(
      "--queue <url>",
      "the Redis of the queue; may be given several times (default: NNHAL_QUEUE of the environment)",
      // Options of the command line replace the environment.
      (text, previous: readonly string[] = []) => (previous === queues ? [text] : [...previous, text]),
    )
    .option("--queue-name <name>", "the queue in that Redis", "nnhal")
    .option("--threads <n>", "how many threads compute", count(1, 1024), availableParallelism())
    .option("--deadline <seconds>", "how long an input may take", count(1, 86_400), 600)
    .option("--grace <seconds>", "how long inputs that are computed may take at the end", count(0, 86_400), 20)
    .option(
      "--lock <seconds>",
      "after how long the work of a worker that was killed is taken by another",
      count(1, 3600),
      30,
    )
    .option("--root <folder>", "where the inputs lie on this machine (default: as when they were submitted)")
    .option(
      "--results <folder>",
      "where results in a folder lie on this machine (default: as when they were submitted)",
    )
    .option(
      "--store <address>",
      "where models lie: a folder, http(s)://, s3+https:// (default: as when they were submitted)",
    )
    .option(
      "--allow <folder|address>",
      "where batches may have inputs, results and models, besides the above; may be given several times (default: " +
        "folders that are neither hidden nor the system's, and stores of the public network)",
      collect,
    )
    .option("--model-bytes <n>", "most bytes of a model", count(1, 2 ** 31 - 1), 2 ** 29)
    .option("--backend <module>", "also offer the device of a backend from elsewhere", collect)
    .option("--extension <module>", "let the reference device run a vendor extension", collect)
    .option("--driver <directory|name>", "use the devices of a daemon (nnhal-sample-driver)", collect)
    .option("--driver-owner <user>", driverOwnerHelp, userNumber)
    .option("--quiet", "print only what goes wrong")
    .addHelpText("after", help);
  if (queues.length > 0) program.setOptionValueWithSource("queue", queues, "env");
  const parsed = parseCommand(program, args, version);
  return parsed.kind === "end" ? parsed : { settings: program.opts<Settings>() };
}
