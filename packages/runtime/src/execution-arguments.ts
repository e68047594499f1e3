/**
 * The inputs and outputs of an execution: checks of each argument when it is set, and the request made of them.
 */
import { memoryOf } from "@nnhal/driver-core/memory";
import { elementAt, isUnspecified } from "@nnhal/operations";
import type {
  Memory as HalMemory,
  Operand,
  OutputShape,
  Request,
  RequestArgument,
  RequestMemoryPool,
  Subgraph,
} from "@nnhal/types";
import { expectDimensions } from "./checks.ts";
import { nowhere } from "./draft-operand.ts";
import { expectKind } from "./given.ts";
import type { Memory } from "./memory.ts";
import type { MemoryContent, MemoryRegion, Role } from "./memory-content.ts";
import { whyNeeded } from "./omitted.ts";
import { greatestSize, halOperandFacts, type OperandFacts, refines, sizeOfData } from "./operand-facts.ts";
import { NeuralNetworksError, ResultCode } from "./result-code.ts";

type Side = Role["side"];

/** An argument that was set. */
interface Argument {
  readonly argument: RequestArgument;
  /** Its extents as far as they are known: the caller's, else the model's. */
  readonly dimensions: readonly number[];
  readonly content?: MemoryContent;
}

/** An input or output of a model. */
interface Slot {
  readonly operand: Operand;
  readonly facts: OperandFacts;
}

/** A part of a memory, and the extents of its value. */
export interface ArgumentRegion extends MemoryRegion {
  /** The extents, if the model leaves some unknown. */
  readonly dimensions?: readonly number[] | undefined;
}

/** The part of a compilation that arguments need: the model and the facts of its types. */
interface ArgumentsOf {
  readonly hal: { readonly main: Subgraph };
  factsOf(type: number): OperandFacts | undefined;
}

type Slots = Readonly<Record<Side, readonly Slot[]>>;

/** The inputs and outputs of each compilation: the same for all of its executions. */
const slotsByCompilation = new WeakMap<ArgumentsOf, Slots>();

function slotsOf(compilation: ArgumentsOf): Slots {
  const known = slotsByCompilation.get(compilation);
  if (known !== undefined) return known;
  const { main } = compilation.hal;
  const listOf = (indexes: readonly number[]): Slot[] =>
    indexes.map((index) => {
      const operand = elementAt(main.operands, index);
      return { operand, facts: compilation.factsOf(operand.type) ?? unknownFacts(operand) };
    });
  const slots = { input: listOf(main.inputIndexes), output: listOf(main.outputIndexes) };
  slotsByCompilation.set(compilation, slots);
  return slots;
}

/** See the file's head. None is set at first. Messages begin with `what`. One is made for each execution: messages are made if needed. */
export class ExecutionArguments {
  readonly #compilation: ArgumentsOf;
  readonly #slots: Slots;
  readonly #set: Readonly<Record<Side, (Argument | undefined)[]>>;
  /** Has room for the most pools. The first `#poolCount` are set. */
  readonly #pools: RequestMemoryPool[];
  #poolCount = 0;
  /** The application's memories; most executions have none. */
  #used: Set<Memory> | undefined;
  #poolIndexes: Map<MemoryContent, number> | undefined;
  #memories: Map<HalMemory, Memory> | undefined;

  constructor(compilation: ArgumentsOf) {
    this.#compilation = compilation;
    this.#slots = slotsOf(compilation);
    const { input, output } = this.#slots;
    this.#set = { input: new Array(input.length), output: new Array(output.length) };
    this.#pools = new Array(input.length + output.length);
  }

  /** The application's memories in the request. */
  get memories(): ReadonlyMap<HalMemory, Memory> {
    return this.#memories ?? noMemories;
  }

  /** Facts of the type of an input or output. Throws BAD_DATA if there is no such index. */
  factsAt(side: Side, index: number, what: string): OperandFacts {
    return this.#slotAt(side, index, what).facts;
  }

  /** `bytes` null: the argument is omitted. */
  set(side: Side, index: number, bytes: Uint8Array | null, given: readonly number[], what: string): void {
    const slot = this.#unsetSlotAt(side, index, what);
    const dimensions = combine(slot, given, side === "output" || bytes === null, what);
    if (bytes === null) {
      const needed = whyNeeded(this.#compilation.hal.main, side, index);
      if (needed !== undefined) fail(`${what}: ${side} ${index} cannot be omitted: ${needed}`);
      this.#set[side][index] = { argument: { hasNoValue: true, location: nowhere, dimensions: [] }, dimensions };
      return;
    }
    expectLength(slot, dimensions, bytes.length, what);
    const poolIndex = this.#poolCount++;
    this.#pools[poolIndex] = { kind: "memory", memory: memoryOf(bytes) };
    const location = { poolIndex, offset: 0, length: bytes.length };
    this.#set[side][index] = { argument: { hasNoValue: false, location, dimensions: copy(given) }, dimensions };
  }

  setFromMemory(
    side: Side,
    index: number,
    memory: Memory,
    { dimensions: given = [], ...region }: ArgumentRegion,
    what: string,
  ): void {
    const slot = this.#unsetSlotAt(side, index, what);
    expectKind(memory, "Memory", what, "memory");
    const dimensions = combine(slot, given, side === "output", what);
    const content = memory.content(what);
    const place = content.locate({ compilation: this.#compilation, side, index }, region, given);
    if (typeof place === "string") throw new NeuralNetworksError(ResultCode.BAD_DATA, `${what}: ${place}`);
    const isSized = !content.isDescribed && place.length > 0;
    if (isSized) expectLength(slot, dimensions, place.length, what);
    this.#poolIndexes ??= new Map();
    let poolIndex = this.#poolIndexes.get(content);
    if (poolIndex === undefined) {
      poolIndex = this.#poolCount++;
      this.#pools[poolIndex] = content.pool;
      this.#poolIndexes.set(content, poolIndex);
    }
    this.#used ??= new Set();
    this.#used.add(memory);
    if (content.plain !== undefined) {
      this.#memories ??= new Map();
      this.#memories.set(content.plain, memory);
    }
    const argument = { hasNoValue: false, location: { poolIndex, ...place }, dimensions: copy(given) };
    this.#set[side][index] = { argument, dimensions, content };
  }

  /** Throws BAD_DATA if an argument is not set. */
  expectAllSet(what: string): void {
    this.#expectSide("input", what);
    this.#expectSide("output", what);
  }

  /** Throws BAD_DATA if an extent of an output is unknown. */
  expectKnownOutputs(what: string): void {
    for (const [index, { facts }] of this.#slots.output.entries()) {
      const set = this.#set.output[index];
      const isKnown = set === undefined || set.argument.hasNoValue || !isUnspecified(facts, set.dimensions);
      if (!isKnown) fail(`${what}: output ${index} has dimensions [${set.dimensions}] where all must be known`);
    }
  }

  /** Throws OP_FAILED if an input lies in a memory without a value, or with a value of other extents. */
  expectValues(what: string): void {
    const inputs = this.#set.input;
    for (let index = 0; index < inputs.length; index++) {
      const set = inputs[index];
      const problem = set?.content?.whyUnreadable(set.dimensions);
      if (problem !== undefined)
        throw new NeuralNetworksError(ResultCode.OP_FAILED, `${what}: input ${index}: ${problem}`);
    }
  }

  request(): Request {
    const pools = this.#poolCount === this.#pools.length ? this.#pools : this.#pools.slice(0, this.#poolCount);
    return { inputs: argumentsIn(this.#set.input), outputs: argumentsIn(this.#set.output), pools };
  }

  /** The outputs' shapes as far as they are known before execution. */
  initialShapes(): OutputShape[] {
    return this.#slots.output.map((_, index) => {
      const set = this.#set.output[index];
      return { dimensions: set === undefined || set.argument.hasNoValue ? [] : set.dimensions, isSufficient: true };
    });
  }

  /** Marks all memories as in use. */
  retain(): void {
    if (this.#used === undefined) return;
    for (const memory of this.#used) memory.retain();
    // A memory that is being written has no value until the execution has ended.
    this.#forgetOutputs();
  }

  /**
   * Records the end of the execution. `shapes`: undefined if it failed. `until`: the device uses the memories until this resolves.
   * Returns a text if a memory cannot hold the written value.
   */
  end(shapes: readonly OutputShape[] | undefined, until?: Promise<unknown>): string | undefined {
    const used = this.#used;
    const problem = used === undefined ? undefined : this.#written(shapes);
    // If a value does not fit, the execution has failed, and no output has a value.
    if (problem !== undefined) this.#forgetOutputs();
    if (used !== undefined) {
      const giveBack = () => {
        for (const memory of used) memory.giveBack();
      };
      if (until === undefined) giveBack();
      else void until.then(giveBack);
    }
    this.#set.input.length = 0;
    this.#set.output.length = 0;
    return problem;
  }

  /** Tells the memories of outputs what was written. Returns the first problem. */
  #written(shapes: readonly OutputShape[] | undefined): string | undefined {
    let first: string | undefined;
    for (const [index, set] of this.#set.output.entries()) {
      const problem = set?.content?.recordWritten(shapes?.[index]?.dimensions);
      if (problem !== undefined) first ??= `output ${index}: ${problem}`;
    }
    return first;
  }

  #forgetOutputs(): void {
    for (const set of this.#set.output) set?.content?.recordWritten(undefined);
  }

  #expectSide(side: Side, what: string): void {
    const set = this.#set[side];
    const count = this.#slots[side].length;
    for (let index = 0; index < count; index++)
      if (set[index] === undefined) fail(`${what}: ${side} ${index} is not set`);
  }

  #slotAt(side: Side, index: number, what: string): Slot {
    const list = this.#slots[side];
    const slot = list[index];
    if (slot === undefined) fail(`${what}: there are ${list.length} ${side}s, counted from 0`);
    return slot;
  }

  #unsetSlotAt(side: Side, index: number, what: string): Slot {
    const slot = this.#slotAt(side, index, what);
    if (this.#set[side][index] !== undefined) {
      throw new NeuralNetworksError(ResultCode.BAD_STATE, `${what}: it was set before`);
    }
    return slot;
  }
}

const noMemories: ReadonlyMap<HalMemory, Memory> = new Map();
const noDimensions: readonly number[] = [];

function copy(dimensions: readonly number[]): readonly number[] {
  return dimensions.length === 0 ? noDimensions : [...dimensions];
}

/** Throws BAD_DATA. */
function fail(message: string): never {
  throw new NeuralNetworksError(ResultCode.BAD_DATA, message);
}

/** All are set. */
function argumentsIn(set: readonly (Argument | undefined)[]): RequestArgument[] {
  // As long as it needs to be: a list that is pushed to takes room for 17.
  return set.map(argumentOf);
}

function argumentOf(set: Argument | undefined): RequestArgument {
  if (set === undefined) throw new Error("a request needs an argument that is not set");
  return set.argument;
}

/** Facts of an extension's type that the model has no description of: any length is accepted. */
function unknownFacts({ type, dimensions }: Operand): OperandFacts {
  return halOperandFacts(type) ?? { name: "OEM", kind: dimensions.length > 0 ? "tensor" : "scalar", elementSize: 0 };
}

/** The extents of an argument: the caller's, which must refine the model's, or the model's. */
function combine(
  { operand, facts }: Slot,
  given: readonly number[],
  mayBeUnspecified: boolean,
  what: string,
): readonly number[] {
  expectDimensions(given, what);
  const isScalar = facts.kind !== "tensor" && halOperandFacts(operand.type) !== undefined;
  if (isScalar && given.length > 0) fail(`${what}: a ${facts.name} has no dimensions, given [${given}]`);
  const known = operand.dimensions;
  const dimensions = given.length > 0 ? given : known;
  if (given.length > 0 && !refines(given, known)) {
    fail(`${what}: the dimensions [${given}] contradict those of the model, [${known}]`);
  }
  if (!mayBeUnspecified && isUnspecified(facts, dimensions)) {
    fail(`${what}: the dimensions [${dimensions}] are not all known`);
  }
  return dimensions;
}

function expectLength({ facts }: Slot, dimensions: readonly number[], length: number, what: string): void {
  const needed = sizeOfData(facts, dimensions);
  if (needed !== undefined && needed !== length) fail(`${what}: expected ${needed} bytes, got ${length}`);
  if (length > greatestSize) fail(`${what}: ${length} bytes are more than ${greatestSize}`);
}
