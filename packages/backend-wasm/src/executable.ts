/**
 * Networks that are compiled: a module and a memory for inputs of certain shapes. If the model leaves extents of its inputs open, each run with
 * new extents makes a module, of which the last few are kept.
 */
import {
  addVariant,
  byteLength,
  type CacheBlobs,
  type CompileOptions,
  checkInput,
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
import {
  elementAt,
  elementCount,
  refineDimensions,
  sameShape,
  type TensorData,
  type TensorInfo,
} from "@nnhal/operations";
import { ErrorStatus, type OutputShape } from "@nnhal/types";
import { bytesAtOnce, copyInParts, type Pause, pauseWith } from "./constants.ts";
import { advance, isCompute, type Parts, rest, straightParts, workBetweenLooks } from "./parts.ts";
import { settingsOf } from "./plan/plan-graph.ts";
import { findComputeSteps, type Machine, type Program, programOf, restoredProgram, savedProgram } from "./program.ts";

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

/** A program, and what is the same in all of its runs. */
interface ProgramFor {
  readonly program: Program;
  /** The values of inputs that it was made for, by their positions. */
  readonly values: ReadonlyMap<number, InputBuffer>;
  /** Of the outputs. */
  readonly infos: readonly TensorInfo[];
  readonly outputShapes: readonly OutputShape[];
  /** The outputs in the memory. */
  readonly results: readonly Uint8Array[];
  partsOf(context: RunContext): Parts;
}

async function openProgram(program: Program, values: ReadonlyMap<number, InputBuffer>): Promise<ProgramFor> {
  const { plan, memory, steps } = program;
  const infos = plan.outputs.map(({ info }) => info);
  const results = plan.outputs.map(({ region, bytes }) => {
    const { address } = elementAt(plan.regions, region);
    return memory.subarray(address, address + bytes);
  });
  const outputShapes = infos.map(({ dimensions }) => ({ dimensions, isSufficient: true }));
  const made = { program, values, infos, outputShapes, results };
  if (steps.every(isCompute)) return { ...made, partsOf: () => straightParts(steps, memory) };
  const { controlledParts } = await import("./by-need.ts");
  return { ...made, partsOf: (context) => controlledParts(program, context) };
}

/** Compiles a subgraph. Rejects with the reason if it cannot be compiled. */
export function compileGraph(
  machine: VersionedMachine,
  graph: GraphView,
  options: CompileOptions,
): Promise<Executable> {
  return openGraph(machine, graph, options, (extents, pause) => programOf(machine, graph, extents, undefined, pause));
}

/** Opens a subgraph that was compiled before. Rejects if the blobs do not fit it. */
export function restoreGraph(
  machine: VersionedMachine,
  blobs: CacheBlobs,
  graph: GraphView,
  options: CompileOptions,
): Promise<Executable> {
  return openGraph(machine, graph, options, (extents, pause) =>
    restoredProgram(machine, blobs, machine.version, graph, extents, pause),
  );
}

async function openGraph(
  machine: VersionedMachine,
  graph: GraphView,
  options: CompileOptions,
  open: (extents: readonly (readonly number[])[], pause: Pause) => Promise<Program>,
): Promise<Executable> {
  const check = checkOf(options, "the deadline passed while the model was prepared");
  check();
  const given = settingsOf(graph);
  const settings = [...graph.inputs.keys()].filter((position) => given.has(elementAt(graph.inputs, position)));
  const compiled: Compiled = { machine, graph, settings, programs: [], last: undefined };
  const extents = settings.length > 0 ? undefined : staticExtents(graph);
  if (extents !== undefined) {
    const pause = pauseWith(check);
    const program = await open(extents, pause);
    try {
      compiled.programs.push(await openProgram(program, new Map()));
      await warmUp(program, pause);
      check();
    } catch (error) {
      program.close();
      throw error;
    }
  }
  return {
    run: (inputs, outputs, context) => run(compiled, inputs, outputs, context),
    ...(extents !== undefined && {
      serialize: () => savedProgram(elementAt(compiled.programs, 0).program, machine.version, machine.tiles),
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
async function warmUp({ steps }: Program, pause: Pause): Promise<void> {
  let work = 0;
  for (const { units, workPerUnit, compute, checks } of findComputeSteps(steps)) {
    // Values in memory may break them.
    if (checks !== undefined) continue;
    const some = Math.min(units, Math.max(2, Math.ceil(workForFastCode / Math.max(1, workPerUnit))));
    for (let unit = 0; unit < some; unit++) {
      compute(unit, unit + 1);
      work += workPerUnit;
      if (work < workBetweenLooks) continue;
      work = 0;
      await pause();
    }
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
      const found =
        programFor(compiled, inputs) ?? (await addProgram(compiled, inputs, pauseWith(checkOf(context, lateRun))));
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
): ProgramFor | undefined {
  // Loops over indexes: this is called for each run, and leaves nothing to collect.
  for (let position = 0; position < inputs.length; position++) {
    const input = inputs[position];
    if (input !== undefined) checkInput(graph, elementAt(graph.inputs, position), input);
  }
  for (let place = 0; place < programs.length; place++) {
    const found = elementAt(programs, place);
    if (isMadeFor(found, inputs, settings)) return found;
  }
  return undefined;
}

function isMadeFor(
  { program: { plan }, values }: ProgramFor,
  inputs: readonly (InputBuffer | undefined)[],
  settings: readonly number[],
): boolean {
  for (let position = 0; position < plan.inputs.length; position++) {
    const input = inputs[position];
    const isSame = settings.includes(position)
      ? isSameValue(values.get(position), input)
      : hasExtents(input, plan.inputs[position]?.info.dimensions);
    if (!isSame) return false;
  }
  return true;
}

/** True if an input has the value that a program was made for. */
function isSameValue(value: InputBuffer | undefined, input: InputBuffer | undefined): boolean {
  if (value === undefined || input === undefined) return value === input;
  return (
    sameShape(value.dimensions, input.dimensions) && value.bytes.every((byte, place) => byte === input.bytes[place])
  );
}

/** Makes a program for the extents of a request; the oldest one goes if there are too many. */
async function addProgram(
  compiled: Compiled,
  inputs: readonly (InputBuffer | undefined)[],
  pause: Pause,
): Promise<ProgramFor> {
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
    pause,
  );
  const made = await openProgram(program, values);
  addVariant(programs, made)?.program.close();
  return made;
}

const lateRun = "the deadline passed before the execution ended";

/** Runs a program. It ends at once if it is short. Throws, or rejects, with what `failedRun` makes a result of. */
function start(
  found: ProgramFor,
  graph: GraphView,
  inputs: readonly (InputBuffer | undefined)[],
  outputs: readonly OutputBuffer[],
  context: RunContext,
): Promise<RunResult> | RunResult {
  const { program, infos, outputShapes, results } = found;
  const { plan } = program;
  const check = checkOf(context, lateRun);
  check();
  for (let position = 0; position < outputs.length; position++) {
    const { dimensions } = elementAt(outputs, position);
    refineDimensions(elementAt(graph.outputs, position), dimensions, elementAt(infos, position).dimensions);
  }
  const short = shortage(infos, outputs);
  if (short !== undefined) return short;
  checkRoom(plan.memory - plan.constants, context);
  const section = context.section?.begin("LC", "PE", "run");
  const finish = (timeOnDevice: bigint): RunResult => {
    // A result that is ready after the deadline is not delivered.
    check();
    section?.end();
    return { status: ErrorStatus.NONE, outputShapes, ...(context.measure && { timeOnDevice }) };
  };
  try {
    if (isLarge(plan)) return runLarge(found, inputs, outputs, context, check).then(finish);
    copyInputs(program, inputs);
    const begun = context.now();
    const copyOutputs = (): RunResult => {
      const timeOnDevice = context.now() - begun;
      for (let position = 0; position < results.length; position++) {
        elementAt(outputs, position).bytes.set(elementAt(results, position));
      }
      return finish(timeOnDevice);
    };
    const parts = found.partsOf(context);
    return advance(parts, context, check) ? copyOutputs() : rest(parts, context, check).then(copyOutputs);
  } catch (error) {
    section?.end();
    throw error;
  }
}

/** True if an input or an output takes long to copy. */
function isLarge({ inputs, outputs }: Program["plan"]): boolean {
  for (const port of inputs) if (port && port.bytes > bytesAtOnce) return true;
  for (const { bytes } of outputs) if (bytes > bytesAtOnce) return true;
  return false;
}

/** Runs a program whose inputs and outputs are copied with pauses. Resolves to the time between. */
async function runLarge(
  { program, results, partsOf }: ProgramFor,
  inputs: readonly (InputBuffer | undefined)[],
  outputs: readonly OutputBuffer[],
  context: RunContext,
  check: () => void,
): Promise<bigint> {
  const { plan, memory } = program;
  const pause = pauseWith(check);
  for (const [position, port] of plan.inputs.entries()) {
    const input = inputs[position];
    if (!port || input === undefined) continue;
    const { address } = elementAt(plan.regions, port.region);
    await copyInParts(memory, address, input.bytes.subarray(0, port.bytes), pause);
  }
  const begun = context.now();
  const parts = partsOf(context);
  if (!advance(parts, context, check)) await rest(parts, context, check);
  const timeOnDevice = context.now() - begun;
  for (const [position, result] of results.entries())
    await copyInParts(elementAt(outputs, position).bytes, 0, result, pause);
  return timeOnDevice;
}

function copyInputs({ plan, memory }: Program, inputs: readonly (InputBuffer | undefined)[]): void {
  for (let position = 0; position < plan.inputs.length; position++) {
    const port = plan.inputs[position];
    const input = inputs[position];
    if (port === undefined || input === undefined) continue;
    memory.set(input.bytes.subarray(0, port.bytes), elementAt(plan.regions, port.region).address);
  }
}

/** Throws if the results of operations take more than the limit. */
function checkRoom(bytes: number, { temporaryLimit }: RunContext): void {
  if (temporaryLimit === undefined || bytes <= temporaryLimit) return;
  const message = `the results of operations take ${bytes} bytes, more than the limit of ${temporaryLimit}`;
  throw new StatusError(ErrorStatus.RESOURCE_EXHAUSTED_PERSISTENT, message);
}
