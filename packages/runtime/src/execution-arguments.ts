/**
 * The inputs and outputs of an execution: checks of each argument when it is set, and the request made of them.
 */
import type { Memory as HalMemory, OutputShape, Request, RequestArgument } from "@nnhal/types";
import { nowhere } from "./draft-operand.ts";
import { expectKind } from "./given.ts";
import type { Memory } from "./memory.ts";
import type { MemoryContent, MemoryRegion } from "./memory-content.ts";
import {
  type ArgumentsOf,
  combine,
  fail,
  lengthsOf,
  type Side,
  type Slot,
  type Slots,
  slotAt,
  slotsOf,
} from "./model-slots.ts";
import { whyNeeded } from "./omitted.ts";
import type { OperandFacts } from "./operand-facts.ts";
import { RequestPools } from "./request-pools.ts";
import { expect, NeuralNetworksError, ResultCode } from "./result-code.ts";

/** An argument that was set. */
export interface Argument {
  readonly argument: RequestArgument;
  /** Its extents as far as they are known: the caller's, else the model's. */
  readonly dimensions: readonly number[];
  readonly content?: MemoryContent;
}

/** A part of a memory, and the extents of its value. */
export interface ArgumentRegion extends MemoryRegion {
  /** The extents, if the model leaves some unknown. */
  readonly dimensions?: readonly number[] | undefined;
}

/** See the file's head. None is set at first. Messages begin with `what`. One is made for each execution: messages are made if needed. */
export class ExecutionArguments {
  readonly #compilation: ArgumentsOf;
  readonly #slots: Slots;
  readonly #set: Readonly<Record<Side, (Argument | undefined)[]>>;
  readonly #pools: RequestPools;
  #isAnySet = false;
  #isPadded = false;
  #request: Request | undefined;

  constructor(compilation: ArgumentsOf) {
    this.#compilation = compilation;
    this.#slots = slotsOf(compilation);
    const { input, output } = this.#slots;
    this.#set = { input: new Array(input.length), output: new Array(output.length) };
    this.#pools = new RequestPools(input.length + output.length);
  }

  /** The application's memories in the request. */
  get memories(): ReadonlyMap<HalMemory, Memory> {
    return this.#pools.memories;
  }

  /** Sets whether places may be longer than their values. Throws BAD_STATE once an argument is set. */
  enablePadding(enable: boolean, what: string): void {
    expect(!this.#isAnySet, ResultCode.BAD_STATE, () => `${what}: an input or output was set before`);
    this.#isPadded = enable;
  }

  /** Facts of the type of an input or output. Throws BAD_DATA if there is no such index. */
  factsAt(side: Side, index: number, what: string): OperandFacts {
    return slotAt(this.#slots, side, index, what).facts;
  }

  /** `bytes` null: the argument is omitted. */
  set(side: Side, index: number, bytes: Uint8Array | null, given: readonly number[], what: string): void {
    const slot = this.#unsetSlotAt(side, index, what);
    const dimensions = combine(slot, given, side === "output" || bytes === null, what);
    if (bytes === null) {
      const needed = whyNeeded(this.#compilation.hal.main, side, index);
      if (needed !== undefined) fail(`${what}: ${side} ${index} cannot be omitted: ${needed}`);
      this.#put(side, index, { argument: { hasNoValue: true, location: nowhere, dimensions: [] }, dimensions });
      return;
    }
    const lengths = lengthsOf(slot, dimensions, bytes.length, this.#isPadded, what);
    const location = { poolIndex: this.#pools.addBytes(bytes), offset: 0, ...lengths };
    this.#put(side, index, { argument: { hasNoValue: false, location, dimensions: copy(given) }, dimensions });
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
    if (typeof place === "string") fail(`${what}: ${place}`);
    const isSized = !content.isDescribed && place.length > 0;
    const lengths = isSized ? lengthsOf(slot, dimensions, place.length, this.#isPadded, what) : place;
    const location = { poolIndex: this.#pools.addMemory(memory, content), ...place, ...lengths };
    const argument = { hasNoValue: false, location, dimensions: copy(given) };
    this.#put(side, index, { argument, dimensions, content });
  }

  /** Throws BAD_DATA if an argument is not set. */
  expectAllSet(what: string): void {
    expectSet(this.#set.input, "input", what);
    expectSet(this.#set.output, "output", what);
  }

  /** The outputs that were set, with the facts of their types. */
  outputs(): { readonly facts: OperandFacts; readonly set: Argument | undefined }[] {
    return this.#slots.output.map(({ facts }, index) => ({ facts, set: this.#set.output[index] }));
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

  /** The same object for all runs. All arguments are set. */
  request(): Request {
    const { input, output } = this.#set;
    this.#request ??= { inputs: argumentsIn(input), outputs: argumentsIn(output), pools: this.#pools.list() };
    return this.#request;
  }

  /** Marks all memories as in use. */
  retain(): void {
    if (!this.#pools.hasMemories) return;
    this.#pools.retain();
    // A memory that is being written has no value until the execution has ended.
    forgetValues(this.#set.output);
  }

  /**
   * Records the end of the execution. `shapes`: undefined if it failed. `isReusable`: the arguments serve again. `until`: the device uses the
   * memories until this resolves. Returns a text if a memory cannot hold the written value.
   */
  end(shapes: readonly OutputShape[] | undefined, isReusable: boolean, until?: Promise<unknown>): string | undefined {
    const pools = this.#pools;
    const problem = pools.hasMemories ? recordValues(this.#set.output, shapes) : undefined;
    if (until === undefined) pools.giveBack();
    else void until.then(() => pools.giveBack());
    if (isReusable) return problem;
    this.#request = undefined;
    this.#set.input.length = 0;
    this.#set.output.length = 0;
    return problem;
  }

  #put(side: Side, index: number, argument: Argument): void {
    this.#isAnySet = true;
    this.#set[side][index] = argument;
  }

  #unsetSlotAt(side: Side, index: number, what: string): Slot {
    const slot = slotAt(this.#slots, side, index, what);
    if (this.#set[side][index] !== undefined) {
      throw new NeuralNetworksError(ResultCode.BAD_STATE, `${what}: it was set before`);
    }
    return slot;
  }
}

function expectSet(set: readonly (Argument | undefined)[], side: Side, what: string): void {
  for (let index = 0; index < set.length; index++)
    if (set[index] === undefined) fail(`${what}: ${side} ${index} is not set`);
}

/** Tells the memories of outputs what was written; they have no value if one does not fit. Returns the first problem. */
function recordValues(
  outputs: readonly (Argument | undefined)[],
  shapes: readonly OutputShape[] | undefined,
): string | undefined {
  let first: string | undefined;
  for (const [index, set] of outputs.entries()) {
    const problem = set?.content?.recordWritten(shapes?.[index]?.dimensions);
    if (problem !== undefined) first ??= `output ${index}: ${problem}`;
  }
  // If a value does not fit, the execution has failed, and no output has a value.
  if (first !== undefined) forgetValues(outputs);
  return first;
}

function forgetValues(outputs: readonly (Argument | undefined)[]): void {
  for (const set of outputs) set?.content?.recordWritten(undefined);
}

const noDimensions: readonly number[] = [];

function copy(dimensions: readonly number[]): readonly number[] {
  return dimensions.length === 0 ? noDimensions : [...dimensions];
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
