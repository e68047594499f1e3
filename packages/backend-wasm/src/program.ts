/** A plan with its module and its memory, and both in a cache. */
import { type CacheBlobs, type GraphView, StatusError } from "@nnhal/backend";
import { elementAt, type TensorData } from "@nnhal/operations";
import { ErrorStatus } from "@nnhal/types";
import { nextTurn } from "@nnhal/utils/time";
import { copyInParts, type Pause, writeConstants } from "./constants.ts";
import { emitModule, functionName, pagesOf } from "./emit/emit.ts";
import { failureAddress } from "./emit/routine.ts";
import type { Lowerings } from "./plan/lowering.ts";
import { makePlan } from "./plan/make-plan.ts";
import { isControl, type Plan, partsOf, type RoutineStep, type Step } from "./plan/plan.ts";
import type { TileSums } from "./plan/tiles.ts";
import type { Team, TeamProgram } from "./threads/team.ts";
import type { Tiles } from "./tiles.ts";
import type { WasmModule, WebAssemblyApi } from "./web-assembly.ts";

/** State that the programs of a session share. */
export interface Machine {
  readonly api: WebAssemblyApi;
  readonly lowerings: Lowerings;
  /** The threads that compute a step together. Absent: one. */
  readonly team?: Team | undefined;
  /** True if modules may have instructions of relaxed SIMD. Default: false. */
  readonly relaxed?: boolean | undefined;
  /** See `Plan`. Default: false. */
  readonly isWide?: boolean | undefined;
  /** Default: those of the table. */
  readonly tiles?: Tiles | undefined;
  /** See `PlanOptions`. */
  readonly mostWork?: number | undefined;
}

/** A step that can be computed. */
export interface ComputeStep {
  readonly kind: "compute";
  readonly name: string;
  readonly units: number;
  readonly workPerUnit: number;
  /** True if its units are computed one after the other. */
  readonly isOrdered: boolean;
  /** The checks of data: see `RoutineStep`. */
  readonly checks?: RoutineStep["checks"];
  /** Where a routine that pauses has a word that is not 0 while units are left of a call: see `RoutineStep`. */
  readonly state?: number;
  /** Computes the units [begin, end), or a part of them if there is a state. Throws if the data do not fulfil a check. */
  compute(begin: number, end: number): void;
}

/** Steps that run as a byte in memory says: see the steps of these names in the plan. */
export type ProgramControl =
  | { readonly kind: "branch"; readonly address: number; readonly yes: Steps; readonly no: Steps }
  | { readonly kind: "loop"; readonly address: number; readonly test: Steps; readonly body: Steps };

type Steps = readonly ProgramStep[];

/** A step of a program. */
export type ProgramStep = ComputeStep | ProgramControl;

/** All steps that compute, in the order of the module's functions. */
export function findComputeSteps(steps: Steps): readonly ComputeStep[] {
  return steps.flatMap((step) => {
    if (step.kind === "compute") return [step];
    const [first, second] = step.kind === "branch" ? [step.yes, step.no] : [step.test, step.body];
    return [...findComputeSteps(first), ...findComputeSteps(second)];
  });
}

/** The parts of a plan that a run needs. */
export type ProgramPlan = Pick<Plan, "inputs" | "outputs" | "memory" | "constants"> & {
  readonly regions: readonly Pick<Plan["regions"][number], "address" | "bytes">[];
};

/** A network that is ready to run. */
export interface Program {
  readonly plan: ProgramPlan;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly memory: Uint8Array;
  readonly steps: readonly ProgramStep[];
  /** Lets the other threads forget it. */
  close(): void;
}

/** The saved part of a step. */
type Outline =
  | readonly [
      name: string,
      units: number,
      work: number,
      isOrdered: boolean,
      checks?: RoutineStep["checks"],
      state?: number,
    ]
  | {
      readonly kind: "branch" | "loop";
      readonly address: number;
      readonly parts: readonly [readonly Outline[], readonly Outline[]];
    };

/** Plans and compiles a network for inputs of some shapes, and for the values of those that decide shapes. */
export async function programOf(
  machine: Machine,
  graph: GraphView,
  dimensions: readonly (readonly number[] | undefined)[],
  settings?: ReadonlyMap<number, TensorData>,
  pause: Pause = nextTurn,
): Promise<Program> {
  const { lowerings, team, isWide, tiles, mostWork } = machine;
  const planWith = (tileSums?: TileSums) =>
    makePlan(graph, dimensions, settings, { lowerings, threads: team?.threads, isWide, tileSums, mostWork });
  const before = tiles?.sums();
  const plan = await planWith(before);
  const after = await tiles?.timed(plan);
  return compiledPlan(machine, after === before ? plan : await planWith(after), pause);
}

/** Compiles a plan. The memory has its constants. */
export async function compiledPlan(
  machine: Omit<Machine, "lowerings">,
  plan: Plan,
  pause: Pause = nextTurn,
): Promise<Program> {
  const outlineOf = (step: Step): Outline => {
    const { name, units, work } = step;
    if (isControl(step)) {
      const [first = [], second = []] = partsOf(step).map((steps) => steps.map(outlineOf));
      return { kind: step.kind, address: elementAt(plan.regions, step.condition).address, parts: [first, second] };
    }
    if (step.kind !== "routine") return [name, units, work, step.kind === "repeat"];
    if (step.state !== undefined)
      return [name, units, work, true, step.checks, elementAt(plan.regions, step.state).address];
    return step.checks.length > 0 ? [name, units, work, true, step.checks] : [name, units, work, true];
  };
  const outlines = plan.steps.map(outlineOf);
  const bytes = emitModule(plan, machine.relaxed);
  const program = await instantiate(machine, plan, bytes, outlines);
  await finishWriting(program, writeConstants(program.memory, plan.regions, pause));
  // The constants are in the memory now, and need not be kept beside it.
  const { inputs, outputs, memory, constants } = plan;
  const regions = plan.regions.map(({ address, bytes }) => ({ address, bytes }));
  return { ...program, plan: { inputs, outputs, memory, constants, regions } };
}

/** Waits for what is written into the memory of a program, which is closed if that fails. */
async function finishWriting(program: Program, work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    program.close();
    throw error;
  }
}

type ComputePart = Parameters<TeamProgram["compute"]>[3];

async function instantiate(
  { api, team }: Pick<Machine, "api" | "team">,
  plan: ProgramPlan,
  bytes: Uint8Array<ArrayBuffer>,
  outlines: readonly Outline[],
): Promise<Program> {
  const module = await api
    .compile(bytes)
    .catch((error) => refuseOf(`compiling the module of ${bytes.length} bytes`, error));
  const { memory, exports } = openInstance(api, module, plan.memory, team !== undefined);
  const functions: string[] = [];
  let shared: TeamProgram | undefined;
  const stepOf = (outline: Outline): ProgramStep => {
    if ("parts" in outline) {
      const { kind, address } = outline;
      const [first, second] = outline.parts;
      const [one, other] = [first.map(stepOf), second.map(stepOf)];
      return kind === "branch" ? { kind, address, yes: one, no: other } : { kind, address, test: one, body: other };
    }
    const [name, units, workPerUnit, isOrdered, checks, state] = outline;
    const number = functions.length;
    const exported = functionName(number, { name });
    functions.push(exported);
    const compute = exports[exported];
    if (typeof compute !== "function") throw new Error(`the module has no function for step ${number}, ${name}`);
    const facts = {
      kind: "compute",
      name,
      units,
      workPerUnit,
      isOrdered,
      ...(state !== undefined && { state }),
    } as const;
    const isShared = team !== undefined && !isOrdered && units > 1 && units * workPerUnit >= team.leastWork;
    if (checks === undefined) {
      return {
        ...facts,
        compute: isShared
          ? (begin, end) =>
              end - begin > 1 && shared
                ? shared.compute(number, begin, end, compute as ComputePart)
                : void compute(begin, end, 0)
          : (begin, end) => void compute(begin, end, 0),
      };
    }
    return {
      ...facts,
      checks,
      compute(begin, end) {
        try {
          compute(begin, end, 0);
        } catch (error) {
          throw new Error(`${name}: ${failedCheck(memory.buffer, checks)}`, { cause: error });
        }
      },
    };
  };
  const steps = outlines.map(stepOf);
  shared = await team?.add(module, memory, functions);
  return { plan, bytes, memory: new Uint8Array(memory.buffer), steps, close: () => shared?.close() };
}

function openInstance(api: WebAssemblyApi, module: WasmModule, bytes: number, shared: boolean) {
  const pages = pagesOf(bytes);
  try {
    const memory = new api.Memory({ initial: pages, maximum: pages, shared });
    const { exports } = new api.Instance(module, { env: { memory } });
    return { memory, exports };
  } catch (error) {
    return refuseOf(`taking ${bytes} bytes of memory for a network`, error);
  }
}

/** Throws what the platform refuses, with what was attempted. A RangeError is about memory, of which there may be more later. */
function refuseOf(what: string, error: unknown): never {
  const message = `${what}: ${error instanceof Error ? error.message : error}`;
  if (error instanceof RangeError) throw new StatusError(ErrorStatus.RESOURCE_EXHAUSTED_TRANSIENT, message);
  throw new Error(message, { cause: error });
}

/** The message of the check that has failed. */
function failedCheck(memory: ArrayBufferLike, checks: NonNullable<RoutineStep["checks"]>): string {
  const [place = 0, value] = new Int32Array(memory, failureAddress, 2);
  const [what, least, greatest] = checks[place] ?? [];
  return `${what}: expected a number within [${least}, ${greatest}], got ${value}`;
}

/** The saved part of a plan, in a form that changes with the plan. */
interface Saved {
  readonly version: string;
  /** The sums of tiles that have been timed. */
  readonly tiles: Partial<TileSums>;
  readonly steps: readonly Outline[];
  readonly plan: ProgramPlan;
}

function savedStep(step: ProgramStep): Outline {
  if (step.kind !== "compute") {
    const { kind, address } = step;
    const [first, second] = kind === "branch" ? [step.yes, step.no] : [step.test, step.body];
    return { kind, address, parts: [first.map(savedStep), second.map(savedStep)] };
  }
  const { name, units, workPerUnit, isOrdered, checks, state } = step;
  const outline = [name, units, workPerUnit, isOrdered] as const;
  if (state !== undefined) return [...outline, checks ?? [], state];
  return checks === undefined ? outline : [...outline, checks];
}

/** The blobs of a program: its module, what a run needs of the plan, and the constants as they lie in memory. */
export function savedProgram({ bytes, plan, steps, memory }: Program, version: string, tiles?: Tiles): CacheBlobs {
  const saved: Saved = {
    version,
    tiles: tiles?.known() ?? {},
    plan,
    steps: steps.map(savedStep),
  };
  return {
    model: [bytes, new TextEncoder().encode(JSON.stringify(saved))],
    data: [memory.slice(0, plan.constants)],
  };
}

/** The program of some blobs. Rejects if they are of another version, or of another network. */
export async function restoredProgram(
  machine: Machine,
  { model: [bytes, outline], data: [constants] }: CacheBlobs,
  version: string,
  graph: GraphView,
  extents: readonly (readonly number[])[],
  pause: Pause = nextTurn,
): Promise<Program> {
  if (bytes === undefined || outline === undefined || constants === undefined) {
    throw new Error("the cache has not the three parts of a program");
  }
  // It is what `savedProgram` wrote: the cache is sealed, and each part is checked where it could break something.
  const saved = JSON.parse(new TextDecoder().decode(outline)) as Saved;
  if (saved.version !== version)
    throw new Error(`the program in the cache is of version ${saved.version}, not ${version}`);
  const { plan, tiles } = saved;
  if (!fits(plan, graph, extents)) throw new Error("the program in the cache is of another network");
  if (constants.length !== plan.constants) throw new Error("the constants in the cache have another size");
  const program = await instantiate(machine, plan, Uint8Array.from(bytes), saved.steps);
  await finishWriting(program, copyInParts(program.memory, 0, constants, pause));
  machine.tiles?.keep(tiles);
  return program;
}

function fits(plan: ProgramPlan, graph: GraphView, extents: readonly (readonly number[])[]): boolean {
  const isSame = (place: number, index: number, dimensions: readonly number[], ports: ProgramPlan["outputs"]) => {
    const info = ports[place]?.info;
    const operand = graph.operands[index];
    return info !== undefined && operand?.type === info.type && `${info.dimensions}` === `${dimensions}`;
  };
  const inputs = plan.inputs.filter((port) => port !== undefined && port !== null);
  return (
    inputs.length === graph.inputs.length &&
    plan.outputs.length === graph.outputs.length &&
    graph.inputs.every((index, place) => isSame(place, index, elementAt(extents, place), inputs)) &&
    graph.outputs.every((index, place) => graph.operands[index]?.type === plan.outputs[place]?.info.type)
  );
}
