/**
 * The whole command line: its commands, their shared options, and the handling of problems. A command is loaded when it is named.
 */

import { collect, exitCodes, userNumber } from "@nnhal/program";
import { Command, CommanderError, Option } from "commander";
import type { CommandContext, DemoContext, SharedOptions, Surroundings } from "./context.ts";
import { CommandError, loadPackage, messageOf, stackOf } from "./failure.ts";
import { fit, fitHelp } from "./fit.ts";

/** Contexts of commands: that of those that run models, and that of those that only open a device. */
interface Contexts {
  readonly full: () => Promise<DemoContext>;
  readonly light: () => Promise<CommandContext>;
  /** With all its commands, if it was loaded for a command that wants to know them. */
  readonly program: Command;
  readonly surroundings: Surroundings;
}

/** Gives a command its arguments, options and work. */
type Definition = (command: Command, contexts: Contexts) => void;

/** A command. `needs`: a package that does not come with the command line. */
interface CommandEntry {
  readonly description: string;
  readonly needs?: string;
  load(): Promise<Definition>;
}

const kit = "@nnhal/conformance";

/** The commands, in the order in which help lists them. */
const commands: Readonly<Record<string, CommandEntry>> = {
  demo: {
    description: "let the network that comes with nnhal read some handwritten digits",
    async load() {
      const { registerDemoCommand } = await import("./commands/demo.ts");
      return (command, { full }) => registerDemoCommand(command, full);
    },
  },
  run: {
    description: "run a .tflite model and show what it finds, and how long it took",
    async load() {
      const { registerRunCommand } = await import("./commands/run.ts");
      return (command, { full }) => registerRunCommand(command, full);
    },
  },
  batch: {
    description: "run a .tflite model on many inputs, once each, here or on the machines behind a queue",
    async load() {
      const { registerBatchCommand } = await import("./commands/batch.ts");
      return (command, { full }) => registerBatchCommand(command, full);
    },
  },
  bench: {
    description: "measure devices beside other engines that run the same network directly",
    async load() {
      const { registerBenchCommand } = await import("./commands/bench.ts");
      return (command, { full }) => registerBenchCommand(command, full);
    },
  },
  explain: {
    description: "say which operation of a .tflite model goes to which device, and why",
    async load() {
      const { registerExplainCommand } = await import("./commands/explain.ts");
      return (command, { full }) => registerExplainCommand(command, full);
    },
  },
  diff: {
    description: "say which operation of a .tflite model a device computes otherwise than the reference",
    async load() {
      const { registerDiffCommand } = await import("./commands/diff.ts");
      return (command, { full }) => registerDiffCommand(command, full);
    },
  },
  info: {
    description: "show what a .tflite file holds, and whether it can run",
    async load() {
      const { registerInfoCommand } = await import("./commands/info.ts");
      return (command, { full }) => registerInfoCommand(command, full);
    },
  },
  validate: {
    description: "list the rules that a model breaks, and the oldest HAL version that it fits",
    async load() {
      const { registerValidateCommand } = await import("./commands/validate.ts");
      return (command, { full }) => registerValidateCommand(command, full);
    },
  },
  graph: {
    description: "draw a model as Graphviz text, SVG or PNG, or print it as JSON",
    async load() {
      const { registerGraphCommand } = await import("./commands/graph.ts");
      return (command, { full }) => registerGraphCommand(command, full);
    },
  },
  studio: {
    description: "serve a page that shows a .tflite model, runs it, and says which device computes what",
    needs: "@nnhal/studio",
    async load() {
      const { registerStudioCommand } = await import("./commands/studio.ts");
      return (command, { full }) => registerStudioCommand(command, full);
    },
  },
  devices: {
    description: "list the devices, and the missing parts of those that are not available",
    async load() {
      const { registerDevicesCommand } = await import("./commands/devices.ts");
      return (command, { full }) => registerDevicesCommand(command, full);
    },
  },
  vectors: {
    description: "run conformance vectors on a device and report the results",
    needs: kit,
    async load() {
      const { registerVectorsCommand } = await import("./commands/vectors.ts");
      return (command, { light }) => registerVectorsCommand(command, light);
    },
  },
  conformance: {
    description: "run the conformance suites on a device and report the rules that it breaks",
    needs: kit,
    async load() {
      const { registerConformanceCommand } = await import("./commands/conformance.ts");
      return (command, { light }) => registerConformanceCommand(command, light);
    },
  },
  completion: {
    description: "print a script that lets bash, zsh or fish complete command lines",
    async load() {
      const { registerCompletionCommand } = await import("./commands/completion.ts");
      return (command, { program, surroundings }) => registerCompletionCommand(command, program, surroundings);
    },
  },
};

const help = `
Exit codes:
  0  done
  1  the model cannot run, or what was checked is not right
  2  the command line is wrong, or a file it names is missing or not what it is given for

Examples:
  nnhal demo
  nnhal run model.tflite --input picture.png --labels labels.txt
  nnhal info model.tflite
  nnhal explain model.tflite
  nnhal bench model.tflite
  nnhal devices
  nnhal help run`;

/** The command that knows the options of all others. */
const knowingAll = "completion";

/** Runs the command line on some arguments. Never rejects: the outcome is text, and an exit code. */
export async function runProgram(args: readonly string[], surroundings: Surroundings): Promise<void> {
  const program = await createProgram(surroundings, (name) => args.includes(name) || args.includes(knowingAll));
  try {
    await program.parseAsync(args.length === 0 ? ["--help"] : args, { from: "user" });
  } catch (error) {
    // A call for help or the version ends commander's reading too, with the code 0.
    if (error instanceof CommanderError && error.exitCode === 0) return;
    const known = args.map((word) => program.commands.find((command) => command.name() === word)).find((each) => each);
    await report(
      error,
      ["nnhal", ...(known ? [known.name()] : [])].join(" "),
      program.opts<SharedOptions>(),
      surroundings,
    );
  }
}

async function report(
  error: unknown,
  command: string,
  { debug = false }: SharedOptions,
  { stderr, setExitCode, installs }: Surroundings,
): Promise<void> {
  const remedy = error instanceof CommandError && error.missing !== undefined ? `; ${installs(error.missing)}` : "";
  stderr.write(fit(`${command}: ${await lineOf(error, command, debug)}${remedy}\n`, stderr.columns));
  if (debug) stderr.write(`${stackOf(error)}\n`);
  setExitCode(exitCodeOf(error));
}

async function lineOf(error: unknown, command: string, debug: boolean): Promise<string> {
  // Only problems need it: help is shown sooner without it.
  const { oneLine, shellWord, unexpectedLine } = await import("./text.ts");
  const message = oneLine(messageOf(error));
  if (error instanceof CommandError) return message;
  if (error instanceof CommanderError) {
    const model = error.code === "commander.unknownCommand" ? /'(.*\.(?:tflite|lite))'/i.exec(message)?.[1] : undefined;
    if (model !== undefined) return `there is no command ${model}; nnhal run ${shellWord(model)} runs the model`;
    return `${message.replace(/^error: |\.$/g, "")}; see ${command} --help`;
  }
  return unexpectedLine(error, debug);
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommandError) return error.exitCode;
  return error instanceof CommanderError ? exitCodes.usage : exitCodes.failed;
}

/** The program with all its commands; those that are not `wanted` have no more than a name and a description. */
async function createProgram(surroundings: Surroundings, wanted: (name: string) => boolean): Promise<Command> {
  const { stdout, stderr, version } = surroundings;
  const helpWidth = stdout.columns ?? 80;
  const program = new Command("nnhal")
    .description("Run, explain and check models on Neural Networks HAL devices")
    .version(version, "-v, --version", "print the version")
    .helpOption("-h, --help", "explain a command")
    .addOption(
      new Option(
        "--backend <module>",
        "also offer the device of a backend from elsewhere: a module or file that exports `backend`",
      ).argParser(collect),
    )
    .addOption(
      new Option(
        "--extension <module>",
        "let the reference device run a vendor extension: a module or file that exports its definition",
      ).argParser(collect),
    )
    .addOption(
      new Option(
        "--driver <directory|name>",
        "use the devices of a daemon (nnhal-sample-driver): all of its directory, or the one of a name; --device may name others beside them",
      ).argParser(collect),
    )
    .option(
      "--driver-owner <user>",
      "the number of the user whose daemon --driver names (default: your own; any other is refused)",
      userNumber,
    )
    .option("--debug", "show the place in the program where a problem arose")
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      getOutHelpWidth: () => helpWidth,
      writeOut: (text) => stdout.write(fitHelp(text, helpWidth)),
      writeErr: (text) => stderr.write(text),
      outputError() {},
    })
    .exitOverride()
    .addHelpText("after", help);

  const contexts = createContexts(program, surroundings);
  for (const [name, entry] of Object.entries(commands)) {
    const command = program.command(name).description(entry.description);
    if (wanted(name)) (await definitionOf(entry))(command, contexts);
  }
  return program;
}

/** The definition of a command. One whose package cannot be loaded takes any arguments, and fails with what is missing. */
async function definitionOf({ load, needs }: CommandEntry): Promise<Definition> {
  if (needs === undefined) return load();
  try {
    return await loadPackage([needs], "the command", load);
  } catch (error) {
    return (command) =>
      command
        .addHelpText("after", `\n${messageOf(error)}`)
        .allowUnknownOption()
        .allowExcessArguments()
        .action(() => {
          throw error;
        });
  }
}

/** The contexts are made when a command begins its work: what they need takes longer to load than help. */
function createContexts(program: Command, surroundings: Surroundings): Contexts {
  const load = async () => {
    const { createContexts } = await import("./command-context.ts");
    return createContexts(program.opts<SharedOptions>(), surroundings);
  };
  let loaded: ReturnType<typeof load> | undefined;
  const contexts = () => {
    loaded ??= load();
    return loaded;
  };
  return {
    full: async () => (await contexts()).full(),
    light: async () => (await contexts()).light,
    program,
    surroundings,
  };
}
