/**
 * Networks that are compiled: a module and a memory for inputs of certain shapes. If the model leaves extents of its inputs open, each run with
 * new extents makes a module, of which the last few are kept.
 */
import {
  addVariant,
  byteLength,
  type CacheBlobs,
  type CompileOptions,
  checkOf,
  decodeTensorData,
  type Executable,
  failedRun,
  type GraphView,
  hasExtents,
  type InputBuffer,
  inputInfo,
  type OutputBuffer,
  type RunContext,
  type RunResult,
  StatusError,
  shortage,
  staticExtents,
} from "@nnhal/backend";
import { elementAt, elementCount, refineDimensions, sameShape, type TensorData } from "@nnhal/operations";
import { ErrorStatus } from "@nnhal/types";
import { nextTurn } from "@nnhal/utils/time";
import { settingsOf } from "./plan/plan-graph.ts";
import {
  findComputeSteps,
  type Machine,
  type Program,
  type ProgramStep,
  programOf,
  restoredProgram,
  savedProgram,
} from "./program.ts";

/** State that the executables of a session share. */
export interface VersionedMachine extends Machine {
  /** Key that saved modules are bound to. */
  readonly version: string;
}

/** A compiled subgraph. */
interface Compiled {
  readonly machine: VersionedMachine;
  readonly graph: GraphView;
  /** Positions of the inputs whose values decide shapes, or are settings. */
  readonly settings: readonly number[];
  /** The last ones that were used. */
  readonly programs: ProgramFor[];
  /** The end of the run that is in progress, after which the next one may use the memory. */
  last: Promise<unknown> | undefined;
}

/** A program, and the values of inputs that it was made for, by their positions. */
interface ProgramFor {
  readonly program: Program;
  readonly values: ReadonlyMap<number, InputBuffer>;
}

/** Compiles a subgraph. Rejects with the reason if it cannot be compiled. */
export function compileGraph(
  machine: VersionedMachine,
  graph: GraphView,
  options: CompileOptions,
): Promise<Executable> {
  return openGraph(machine, graph, options, (extents) => programOf(machine, graph, extents));
}

/** Opens a subgraph that was compiled before. Rejects if the blobs do not fit it. */
export function restoreGraph(
  machine: VersionedMachine,
  blobs: CacheBlobs,
  graph: GraphView,
  options: CompileOptions,
): Promise<Executable> {
  return openGraph(machine, graph, options, (extents) =>
    restoredProgram(machine, blobs, machine.version, graph, extents),
  );
}

async function openGraph(
  machine: VersionedMachine,
  graph: GraphView,
  options: CompileOptions,
  open: (extents: readonly (readonly number[])[]) => Promise<Program>,
): Promise<Executable> {
  const check = checkOf(options, "the deadline passed while the model was prepared");
  check();
  const given = settingsOf(graph);
  const settings = [...graph.inputs.keys()].filter((position) => given.has(elementAt(graph.inputs, position)));
  const compiled: Compiled = { machine, graph, settings, programs: [], last: undefined };
  const extents = settings.length > 0 ? undefined : staticExtents(graph);
  if (extents !== undefined) {
    const program = await open(extents);
    compiled.programs.push({ program, values: new Map() });
    await warmUp(program);
    check();
  }
  return {
    run: (inputs, outputs, context) => run(compiled, inputs, outputs, context),
    ...(extents !== undefined && {
      serialize: () => savedProgram(elementAt(compiled.programs, 0).program, machine.version),
    }),
    close() {
      for (const { program } of compiled.programs.splice(0)) program.close();
    },
  };
}

/** Steps of work after which engines make fast code of a function. */
const workForFastCode = 2 ** 19;

/**
 * Computes a part of each step, on whatever is in memory, so that the engine makes fast code of it before the first execution: engines begin with code that
 * is made fast, and improve what has run for some time. Lets the event loop have a turn from time to time.
 */
async function warmUp({ steps }: Program): Promise<void> {
  let work = 0;
  for (const { units, workPerUnit, compute, checks } of findComputeSteps(steps)) {
    // Values in memory may break them.
    if (checks !== undefined) continue;
    const some = Math.min(units, Math.max(2, Math.ceil(workForFastCode / Math.max(1, workPerUnit))));
    for (let unit = 0; unit < some; unit++) compute(unit, unit + 1);
    work += some * workPerUnit;
    if (work < workBetweenLooks) continue;
    work = 0;
    await nextTurn();
  }
}

/** Never rejects. Runs of one executable use one memory, so each waits for the one before. */
function run(
  compiled: Compiled,
  inputs: readonly (InputBuffer | undefined)[],
  outputs: readonly OutputBuffer[],
  context: RunContext,
): Promise<RunResult> | RunResult {
  try {
    const program = programFor(compiled, inputs);
    if (program !== undefined && compiled.last === undefined) {
      const ending = start(program, compiled.graph, inputs, outputs, context);
      return ending instanceof Promise ? hold(compiled, ending.catch(failedRun)) : ending;
    }
    const before = compiled.last;
    const later = async (): Promise<RunResult> => {
      await before;
      const found = programFor(compiled, inputs) ?? (await addProgram(compiled, inputs));
      return start(found, compiled.graph, inputs, outputs, context);
    };
    return hold(compiled, later().catch(failedRun));
  } catch (error) {
    return failedRun(error);
  }
}

/** Keeps others waiting until a run has ended. */
function hold(compiled: Compiled, ending: Promise<RunResult>): Promise<RunResult> {
  compiled.last = ending;
  return ending.finally(() => {
    if (compiled.last === ending) compiled.last = undefined;
  });
}

/** The program for the extents of a request; undefined if there is none yet. Throws if the bytes of an input are too few. */
function programFor(
  { programs, graph, settings }: Compiled,
  inputs: readonly (InputBuffer | undefined)[],
): Program | undefined {
  for (const [position, input] of inputs.entries()) {
    if (input !== undefined) inputInfo(graph, elementAt(graph.inputs, position), input);
  }
  const found = programs.find(({ program: { plan }, values }) =>
    plan.inputs.every((port, position) => {
      const input = inputs[position];
      if (settings.includes(position)) return isSameValue(values.get(position), input);
      return hasExtents(input, port?.info.dimensions);
    }),
  );
  return found?.program;
}

/** True if an input has the value that a program was made for. */
function isSameValue(value: InputBuffer | undefined, input: InputBuffer | undefined): boolean {
  if (value === undefined || input === undefined) return value === input;
  return (
    sameShape(value.dimensions, input.dimensions) && value.bytes.every((byte, place) => byte === input.bytes[place])
  );
}

/** Makes a program for the extents of a request; the oldest one goes if there are too many. */
async function addProgram(compiled: Compiled, inputs: readonly (InputBuffer | undefined)[]): Promise<Program> {
  const { machine, graph, programs } = compiled;
  const values = new Map<number, InputBuffer>();
  const settings = new Map<number, TensorData>();
  for (const position of compiled.settings) {
    const input = inputs[position];
    const index = elementAt(graph.inputs, position);
    if (input === undefined) continue;
    const { type, dimensions } = inputInfo(graph, index, input);
    const count = elementCount(dimensions);
    const bytes = input.bytes.slice(0, byteLength(type, count));
    values.set(position, { bytes, dimensions });
    settings.set(index, decodeTensorData(type, bytes, count));
  }
  const program = await programOf(
    machine,
    graph,
    inputs.map((input) => input?.dimensions),
    settings,
  );
  addVariant(programs, { program, values })?.program.close();
  return program;
}

/** Steps of work between two looks at the clock: some milliseconds. */
const workBetweenLooks = 2 ** 22;

/** Milliseconds after which a run lets the event loop have a turn. */
const mostAtOnce = 15n * 1_000_000n;

/** Runs a program. It ends at once if it is short. Throws, or rejects, with what `failedRun` makes a result of. */
function start(
  program: Program,
  graph: GraphView,
  inputs: readonly (InputBuffer | undefined)[],
  outputs: readonly OutputBuffer[],
  context: RunContext,
): Promise<RunResult> | RunResult {
  const { plan, memory } = program;
  const check = checkOf(context, "the deadline passed before the execution ended");
  check();
  const infos = plan.outputs.map(({ info }) => info);
  for (const [position, { dimensions }] of outputs.entries()) {
    refineDimensions(elementAt(graph.outputs, position), dimensions, elementAt(infos, position).dimensions);
  }
  const short = shortage(infos, outputs);
  if (short !== undefined) return short;
  checkRoom(plan.memory - plan.constants, context);
  const section = context.section?.begin("LC", "PE", "run");
  try {
    for (const [position, port] of plan.inputs.entries()) {
      const input = inputs[position];
      if (port === undefined || input === undefined) continue;
      memory.set(input.bytes.subarray(0, port.bytes), elementAt(plan.regions, port.region).address);
    }
    const begun = context.now();
    const finish = (): RunResult => {
      const timeOnDevice = context.now() - begun;
      for (const [position, { region, bytes }] of plan.outputs.entries()) {
        const { address } = elementAt(plan.regions, region);
        elementAt(outputs, position).bytes.set(memory.subarray(address, address + bytes));
      }
      // A result that is ready after the deadline is not delivered.
      check();
      section?.end();
      const outputShapes = infos.map(({ dimensions }) => ({ dimensions, isSufficient: true }));
      return { status: ErrorStatus.NONE, outputShapes, ...(context.measure && { timeOnDevice }) };
    };
    const parts = partsOf(program, context);
    return advance(parts, context, check) ? finish() : rest(parts, context, check).then(finish);
  } catch (error) {
    section?.end();
    throw error;
  }
}

/** Runs the steps in parts, each of some milliseconds at most. */
function partsOf({ steps, memory }: Program, { now, loopTimeoutDuration }: RunContext): Generator<void, void> {
  let work = 0;
  return run(steps);

  function* run(list: readonly ProgramStep[]): Generator<void, void> {
    for (const step of list) {
      if (step.kind === "compute") {
        const { units, workPerUnit } = step;
        const most = Math.max(1, Math.floor(workBetweenLooks / Math.max(1, workPerUnit)));
        for (let unit = 0; unit < units; unit += most) {
          const end = Math.min(units, unit + most);
          step.compute(unit, end);
          work += (end - unit) * workPerUnit;
          if (work < workBetweenLooks) continue;
          work = 0;
          yield;
        }
      } else if (step.kind === "branch") yield* run(memory[step.address] === 0 ? step.no : step.yes);
      else yield* repeat(step);
    }
  }

  function* repeat({ address, test, body }: Extract<ProgramStep, { kind: "loop" }>): Generator<void, void> {
    const begun = now();
    for (;;) {
      yield* run(test);
      if (memory[address] === 0) return;
      if (now() - begun > loopTimeoutDuration) {
        const message = `WHILE: the loop took longer than ${loopTimeoutDuration} ns`;
        throw new StatusError(ErrorStatus.MISSED_DEADLINE_TRANSIENT, message);
      }
      yield* run(body);
      // A turn may have little work, and there may be many.
      yield;
    }
  }
}

/** Computes until it is done, or for some milliseconds. Whether it is done. */
function advance(parts: Generator<void, void>, { now }: RunContext, check: () => void): boolean {
  const begun = now();
  while (!parts.next().done) {
    check();
    if (now() - begun > mostAtOnce) return false;
  }
  return true;
}

async function rest(parts: Generator<void, void>, context: RunContext, check: () => void): Promise<void> {
  do await nextTurn();
  while (!advance(parts, context, check));
}

/** Throws if the results of operations take more than the limit. */
function checkRoom(bytes: number, { temporaryLimit }: RunContext): void {
  if (temporaryLimit === undefined || bytes <= temporaryLimit) return;
  const message = `the results of operations take ${bytes} bytes, more than the limit of ${temporaryLimit}`;
  throw new StatusError(ErrorStatus.RESOURCE_EXHAUSTED_PERSISTENT, message);
}
