/** A prepared kernel whose last phase threads compute together, and the memory that they share. */
import {
  type AnyArgs,
  type AnyOperandType,
  dataConstructor,
  isExtensionType,
  numbersPerElement,
  type Phase,
  phasesOf,
  runInSteps,
  type TensorData,
  type TensorInfo,
  tensorInfo,
} from "@nnhal/operations";
import type { FindOperation } from "../helper/library.ts";
import type { Slot } from "../helper/messages.ts";
import { mostPieces } from "../helper/words.ts";
import type { HelpedRun, Helper, Preparation } from "../kernel.ts";
import type { Scratch } from "../scratch.ts";
import type { Team } from "./team.ts";

/** The steps of a phase from which on threads compute it. */
export interface LeastWork {
  /** In the first run of a kernel: telling threads about it takes some ten microseconds, which is lost if it runs once. */
  readonly first: number;
  /** In later runs: some tens of microseconds, of which waking a thread takes a part. */
  readonly later: number;
}

const usualLeast: LeastWork = { first: 2 ** 22, later: 2 ** 16 };

/** The most units that the threads can number. */
const mostUnits = 2 ** 31 - 1;

/** Elements that are copied between two pauses. */
const PART = 1 << 18;

/** Settings of `helpBy`. */
export interface HelpSettings {
  readonly team: Team;
  /** Scratch memory of any size. */
  readonly kept: Scratch;
  readonly find: FindOperation;
  /** Default: as measured. */
  readonly least?: LeastWork;
}

/** The memory and the kernels of an engine whose kernels a team computes. */
export function helpBy(settings: HelpSettings): Helper {
  const { team, kept } = settings;
  const scratch = sharedScratch(team, kept);
  return {
    scratch,
    prepare: (preparation) => prepareHelped(settings, scratch, preparation),
    close: team.close,
  };
}

/** Scratch memory that threads share, of which there is always some. */
interface SharedScratch extends Scratch {
  take(type: AnyOperandType, count: number): TensorData;
}

/** Creates that memory. It keeps no memory that threads may still write. */
function sharedScratch(team: Team, kept: Scratch): SharedScratch {
  return {
    take: (type, count) => kept.take(type, count) ?? sharedData(dataConstructor(type), count * numbersPerElement(type)),
    giveBack(data) {
      if (isShared(data) && !team.isAstray()) kept.giveBack(data);
    },
    clear: kept.clear,
  };
}

function sharedData(Data: ReturnType<typeof dataConstructor>, count: number): TensorData {
  return new Data(new SharedArrayBuffer(count * Data.BYTES_PER_ELEMENT), 0, count);
}

function isShared({ buffer }: TensorData): boolean {
  return buffer instanceof SharedArrayBuffer;
}

/** Copies elements into shared memory. */
function* copyInto(shared: TensorData, data: TensorData): Generator<void, TensorData, void> {
  for (let from = 0; from < data.length; from += PART) {
    if (from > 0) yield;
    shared.set(data.subarray(from, from + PART), from);
  }
  return shared;
}

/** A tensor whose elements may be known when its kernel is prepared. */
interface Known extends TensorInfo {
  readonly data?: TensorData;
}

/** A slot for each of some tensors. Elements that are known when the kernel is prepared are constants. */
function slotsOf(name: string, isListed: boolean, infos: readonly Known[]): Slot[] {
  return infos.map(({ data, ...info }) => {
    return { name, isListed, info: tensorInfo(info, info.dimensions), ...(data && { constant: data }) };
  });
}

/** True for a tensor of an extension's type, which has functions. */
function isForeign({ info }: Slot): boolean {
  return isExtensionType(info.type);
}

/** Lets the threads help a kernel. They know the operations of the library alone, draw no numbers, and need shapes before they compute. */
function prepareHelped(
  { team, find, least = usualLeast }: HelpSettings,
  scratch: SharedScratch,
  preparation: Preparation,
): HelpedRun | undefined {
  const { operation, tensors, places } = preparation;
  const { dynamic, random, extension, code, reference } = operation;
  if (dynamic || random || find(code, extension)?.reference !== reference) return undefined;
  const inputs = tensors.flatMap(([name, arg]) => slotsOf(name, Array.isArray(arg), [arg].flat()));
  const outputs = places.flatMap(({ name, isList, infos }) => slotsOf(name, isList, infos));
  if (inputs.length + outputs.length > mostPieces || [...inputs, ...outputs].some(isForeign)) return undefined;
  return helpedKernel(team, least, scratch, preparation, inputs, outputs);
}

function helpedKernel(
  team: Team,
  least: LeastWork,
  scratch: SharedScratch,
  { operation, args, tensors, widened, setup }: Preparation,
  inputs: readonly Slot[],
  outputs: readonly Slot[],
): HelpedRun {
  const id = team.nextKernel();
  const names = new Set(inputs.map(({ name }) => name));
  const plain: AnyArgs = Object.fromEntries(Object.entries(args).filter(([name]) => !names.has(name)));
  let isKnown = false;
  let runs = 0;
  /** The inputs whose widened elements the threads have. */
  const told = new Set<number>();

  /** Tells the threads about the kernel. Its constants are copied into shared memory, once. */
  function* introduce(): Generator<void, void, void> {
    const shared: Slot[] = [];
    for (const slot of inputs) {
      const { constant } = slot;
      const room = constant && sharedData(dataConstructor(slot.info.type), constant.length);
      shared.push({ ...slot, ...(room && { constant: yield* copyInto(room, constant) }) });
    }
    // Another run may have done so meanwhile.
    const { code, extension } = operation;
    if (!isKnown) team.post({ kind: "kernel", id, code, extension, args: plain, inputs: shared, outputs });
    isKnown = true;
  }

  function tellWidened(): void {
    for (const [input, { constant }] of inputs.entries()) {
      const wide = constant && widened.get(constant);
      if (wide === undefined || told.has(input)) continue;
      told.add(input);
      team.post({ kind: "widened", id, input, wide });
    }
  }

  const isLarge = ({ apart, units, cost = 4 }: Phase) =>
    apart === true && units <= mostUnits && units * cost >= (isKnown || runs > 0 ? least.later : least.first);

  widened.allocate = (data) => {
    if (!widened.accepts(data)) return undefined;
    return new Float64Array(new SharedArrayBuffer(data.length * Float64Array.BYTES_PER_ELEMENT));
  };
  setup.onIdle(() => {
    const hasTold = told.size > 0;
    told.clear();
    if (hasTold) team.post({ kind: "narrow", id });
  });
  setup.onClose(() => {
    if (isKnown) team.post({ kind: "drop", id });
  });
  return function* run(work, read, made) {
    const phases = phasesOf(work);
    const last = phases.at(-1);
    const isDivided = last !== undefined && team.isFree() && isLarge(last);
    runs++;
    if (!isDivided) return yield* runInSteps(phases);
    const copies: TensorData[] = [];
    try {
      if (!isKnown) yield* introduce();
      const pieces: TensorData[] = [];
      const held = tensors.flatMap(([, arg]) => [arg].flat().map(read));
      for (const [at, { data, isForeign, type }] of held.entries()) {
        if (inputs[at]?.constant !== undefined) continue;
        let piece = data;
        if (isForeign || !isShared(data)) {
          piece = scratch.take(type, data.length);
          copies.push(piece);
          yield* copyInto(piece, data);
        }
        pieces.push(piece);
      }
      pieces.push(...made.map(({ data }) => data));
      // Another run may have taken it meanwhile.
      if (!team.isFree()) return yield* runInSteps(phases);
      tellWidened();
      if (!(yield* team.compute(id, pieces, phases.slice(0, -1), last))) yield* runInSteps(last);
    } finally {
      for (const data of copies) scratch.giveBack(data);
    }
  };
}
