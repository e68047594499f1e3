/** The command line of a worker. */
import { availableParallelism } from "node:os";
import { Command, CommanderError, InvalidArgumentError } from "commander";

/** Exit codes, as the help explains them. */
export const exitCodes = { done: 0, failed: 1, usage: 2 } as const;

/** What the user wants. */
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
  readonly backend?: readonly string[];
  readonly extension?: readonly string[];
  readonly driver?: readonly string[];
  readonly quiet?: boolean;
}

/** Settings, or what to print and how to end. */
export type Parsed = { readonly settings: Settings } | { readonly text: string; readonly exitCode: number };

const help = `
A worker takes chunks of inputs that \`nnhal batch submit\` has put into the queue, until SIGTERM or SIGINT: then it takes no more, ends what it
has within --grace seconds, gives back the rest, and exits. Start as many as you like, on any machines.

Exit codes: 0 the worker was ended by a signal; 1 it cannot work; 2 the command line is wrong.

Examples:
  nnhal-worker --queue redis://localhost:6379
  nnhal-worker --queue rediss://:PASSWORD@redis.example:6380 --threads 4 --root /mnt/pictures --results /mnt/results`;

/** Reads the command line. */
export function parseOptions(args: readonly string[], version: string, env: NodeJS.ProcessEnv): Parsed {
  let text = "";
  const queues = (env.NNHAL_QUEUE ?? "").split(/\s+/).filter((url) => url !== "");
  const program = new Command("nnhal-worker")
    .description("Compute batches from a queue (BullMQ on Redis), together with any number of other workers")
    .version(version, "--version", "print the version")
    .requiredOption(
      "--queue <url>",
      "the Redis of the queue; may be given several times (default: NNHAL_QUEUE of the environment)",
      // What the command line says is instead of the environment.
      (text, previous: readonly string[] = []) => (previous === queues ? [text] : [...previous, text]),
    )
    .option("--queue-name <name>", "the queue in that Redis", "nnhal")
    .option("--threads <n>", "how many threads compute", number(1, 1024), availableParallelism())
    .option("--deadline <seconds>", "how long an input may take", number(1, 86_400), 600)
    .option("--grace <seconds>", "how long inputs that are computed may take at the end", number(0, 86_400), 20)
    .option(
      "--lock <seconds>",
      "after how long the work of a worker that was killed is taken by another",
      number(1, 3600),
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
    .option("--backend <module>", "also offer the device of a backend from elsewhere", collect)
    .option("--extension <module>", "let the reference device run a vendor extension", collect)
    .option("--driver <directory|name>", "use the devices of a daemon (nnhal-sample-driver)", collect)
    .option("--quiet", "print only what goes wrong")
    .helpOption("-h, --help", "explain the command")
    .configureOutput({ writeOut: (part) => (text += part), writeErr: (part) => (text += part) })
    .exitOverride()
    .addHelpText("after", help);
  if (queues.length > 0) program.setOptionValueWithSource("queue", queues, "env");
  try {
    program.parse([...args], { from: "user" });
    return { settings: program.opts<Settings>() };
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return { text, exitCode: error.exitCode === 0 ? exitCodes.done : exitCodes.usage };
  }
}

function number(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`It has to be a whole number from ${least} to ${most}.`);
  };
}

function collect(text: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, text];
}
