/**
 * The whole command line: its commands, their shared options, and the handling of problems.
 */
import { type AllowList, currentApplication, readAllowList } from "@nnhal/runtime";
import { createTraceRecorder, silentLogger, type TraceRecorder } from "@nnhal/utils";
import { Command, CommanderError, Option } from "commander";
import { type Engine, engineOf, extensionsOf } from "./backend-module.ts";
import { registerBenchCommand } from "./commands/bench.ts";
import { registerConformanceCommand } from "./commands/conformance.ts";
import { registerDemoCommand } from "./commands/demo.ts";
import { registerDevicesCommand } from "./commands/devices.ts";
import { registerExplainCommand } from "./commands/explain.ts";
import { registerGraphCommand } from "./commands/graph.ts";
import { registerInfoCommand } from "./commands/info.ts";
import { registerRunCommand } from "./commands/run.ts";
import { registerValidateCommand } from "./commands/validate.ts";
import { registerVectorsCommand } from "./commands/vectors.ts";
import type { CommandContext, DemoContext } from "./context.ts";
import { asOneDevice, createDeviceFinder, type DeviceFinder } from "./devices.ts";
import { CommandError, exitCodes, messageOf, stackOf, unexpectedLine } from "./failure.ts";
import { collect } from "./option-values.ts";
import { oneLine } from "./text.ts";

/** The process around the command line. */
export interface Surroundings
  extends Omit<DemoContext, "openDevice" | "devices" | "trace" | "showWhere" | "allowList"> {
  /** The engines it knows, in the order in which they are preferred. */
  readonly engines: readonly Engine[];
  readonly version: string;
  /** Which applications may use extensions. Default: the machine's list. */
  readonly extensionsAllowed?: AllowList;
}

/** Options of every command. */
interface SharedOptions {
  readonly backend?: readonly string[];
  readonly extension?: readonly string[];
  readonly debug?: boolean;
}

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

/** Runs the command line on some arguments. Never rejects: the outcome is text, and an exit code. */
export async function runProgram(args: readonly string[], surroundings: Surroundings): Promise<void> {
  const program = createProgram(surroundings);
  try {
    await program.parseAsync(args.length === 0 ? ["--help"] : args, { from: "user" });
  } catch (error) {
    // A call for help or the version ends commander's reading too, with the code 0.
    if (error instanceof CommanderError && error.exitCode === 0) return;
    const known = program.commands.find((command) => args.includes(command.name()));
    report(error, ["nnhal", ...(known ? [known.name()] : [])].join(" "), program.opts<SharedOptions>(), surroundings);
  }
}

function report(
  error: unknown,
  command: string,
  { debug = false }: SharedOptions,
  { stderr, setExitCode }: Surroundings,
): void {
  stderr.write(`${command}: ${lineOf(error, command, debug)}\n`);
  if (debug) stderr.write(`${stackOf(error)}\n`);
  setExitCode(exitCodeOf(error));
}

function lineOf(error: unknown, command: string, debug: boolean): string {
  const message = oneLine(messageOf(error));
  if (error instanceof CommandError) return message;
  if (error instanceof CommanderError) return `${message.replace(/^error: |\.$/g, "")}; see ${command} --help`;
  return unexpectedLine(error, debug);
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommandError) return error.exitCode;
  return error instanceof CommanderError ? exitCodes.usage : exitCodes.failed;
}

function createProgram(surroundings: Surroundings): Command {
  const { stdout, stderr, version, startSelf } = surroundings;
  const program = new Command("nnhal")
    .description("Run, explain and check models on Neural Networks HAL devices")
    .version(version, "--version", "print the version")
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
    .option("--debug", "show the place in the program where a problem arose")
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      outputError() {},
    })
    .exitOverride()
    .addHelpText("after", help);

  const trace = createTraceRecorder();
  let finder: Promise<DeviceFinder> | undefined;
  const devices = () => {
    finder ??= findDevices(program.opts<SharedOptions>(), surroundings, trace);
    return finder;
  };
  const context: CommandContext = {
    ...surroundings,
    showWhere(error) {
      if (program.opts<SharedOptions>().debug === true) stderr.write(`${stackOf(error)}\n`);
    },
    openDevice: async (names) => asOneDevice(await (await devices()).select(names)),
    ...(startSelf !== undefined && {
      startSelf: (args) => startSelf([...sharedArguments(program.opts<SharedOptions>()), ...args]),
    }),
  };
  const full = async (): Promise<DemoContext> => {
    const found = await devices();
    return {
      ...context,
      ...surroundings,
      trace,
      devices: found,
      allowList() {
        const list = surroundings.extensionsAllowed ?? readAllowList({ log: silentLogger });
        return { source: list.source, refused: list.whyRefused(currentApplication()) ?? null };
      },
      openDevice: async (names) => asOneDevice(await found.select(names)),
    };
  };
  registerDemoCommand(program, full);
  registerRunCommand(program, full);
  registerBenchCommand(program, full);
  registerExplainCommand(program, full);
  registerInfoCommand(program, full);
  registerValidateCommand(program, full);
  registerGraphCommand(program, full);
  registerDevicesCommand(program, full);
  registerVectorsCommand(program, context);
  registerConformanceCommand(program, context);
  return program;
}

/** The user's backends come before those that this program knows. Naming one of these moves it to the front. */
async function findDevices(
  { backend: modules = [], extension: definitions = [] }: SharedOptions,
  { engines, cwd }: Surroundings,
  trace: TraceRecorder,
): Promise<DeviceFinder> {
  const own = await Promise.all(modules.map((module) => engineOf(module, cwd)));
  const others = engines.filter(({ module }) => !modules.includes(module));
  const extensions = (await Promise.all(definitions.map((module) => extensionsOf(module, cwd)))).flat();
  return createDeviceFinder([...own, ...others], { trace, extensions, own: own.length });
}

/** The shared options as arguments, for a child process that is to know the same devices. */
function sharedArguments({ backend = [], extension = [], debug = false }: SharedOptions): string[] {
  const named = (option: string, modules: readonly string[]) => modules.flatMap((module) => [option, module]);
  return [...named("--backend", backend), ...named("--extension", extension), ...(debug ? ["--debug"] : [])];
}
