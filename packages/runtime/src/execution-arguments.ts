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
import { expect, NeuralNetworksError, ResultCode } from "./result-code.ts";

type Side = Role["side"];

/** An argument that was set. */
interface Argument {
  readonly argument: RequestArgument;
  /** Its extents as far as they are known: the caller's, else the model's. */
  readonly dimensions: readonly number[];
  readonly content?: MemoryContent;
}

/** An argument that may be set. */
interface Slot {
  readonly operand: Operand;
  readonly facts: OperandFacts;
  set: Argument | undefined;
}

/** See the file's head. Messages begin with `what`. */
export interface ExecutionArguments {
  /** Facts of the type of an input or output. Throws BAD_DATA if there is no such index. */
  factsAt(side: Side, index: number, what: string): OperandFacts;
  /** `bytes` null: the argument is omitted. */
  set(side: Side, index: number, bytes: Uint8Array | null, dimensions: readonly number[], what: string): void;
  setFromMemory(side: Side, index: number, memory: Memory, region: ArgumentRegion, what: string): void;
  /** Throws BAD_DATA if an argument is not set. */
  expectAllSet(what: string): void;
  /** Throws BAD_DATA if an extent of an output is unknown. */
  expectKnownOutputs(what: string): void;
  /** Throws OP_FAILED if an input lies in a memory without a value, or with a value of other extents. */
  expectValues(what: string): void;
  request(): Request;
  /** The application's memories in the request. */
  readonly memories: ReadonlyMap<HalMemory, Memory>;
  /** The outputs' shapes as far as they are known before execution. */
  initialShapes(): OutputShape[];
  /** Marks all memories as in use. */
  retain(): void;
  /**
   * Records the end of the execution. `shapes`: undefined if it failed. `until`: the device uses the memories until this resolves.
   * Returns a text if a memory cannot hold the written value.
   */
  end(shapes: readonly OutputShape[] | undefined, until?: Promise<unknown>): string | undefined;
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

/** Arguments of which none is set yet. */
export function createArguments(compilation: ArgumentsOf): ExecutionArguments {
  const { main } = compilation.hal;
  const slotsOf = (indexes: readonly number[]): Slot[] =>
    indexes.map((index) => {
      const operand = elementAt(main.operands, index);
      return { operand, facts: compilation.factsOf(operand.type) ?? unknownFacts(operand), set: undefined };
    });
  const slots: Readonly<Record<Side, readonly Slot[]>> = {
    input: slotsOf(main.inputIndexes),
    output: slotsOf(main.outputIndexes),
  };
  const all = () => [...slots.input, ...slots.output];
  const pools: RequestMemoryPool[] = [];
  const poolIndexes = new Map<MemoryContent, number>();
  const used = new Set<Memory>();
  const memories = new Map<HalMemory, Memory>();

  const slotAt = (side: Side, index: number, what: string): Slot => {
    const list = slots[side];
    const slot = list[index];
    expect(slot !== undefined, ResultCode.BAD_DATA, () => `${what}: there are ${list.length} ${side}s, counted from 0`);
    return slot;
  };
  const unsetSlotAt = (side: Side, index: number, what: string): Slot => {
    const slot = slotAt(side, index, what);
    expect(slot.set === undefined, ResultCode.BAD_STATE, () => `${what}: it was set before`);
    return slot;
  };
  return {
    memories,
    factsAt: (side, index, what) => slotAt(side, index, what).facts,
    set(side, index, bytes, given, what) {
      const slot = unsetSlotAt(side, index, what);
      const dimensions = combined(slot, given, side === "output" || bytes === null, what);
      if (bytes === null) {
        const needed = whyNeeded(main, side, index);
        expect(
          needed === undefined,
          ResultCode.BAD_DATA,
          () => `${what}: ${side} ${index} cannot be omitted: ${needed}`,
        );
        slot.set = { argument: { hasNoValue: true, location: nowhere, dimensions: [] }, dimensions };
        return;
      }
      expectLength(slot, dimensions, bytes.length, what);
      const poolIndex = pools.push({ kind: "memory", memory: memoryOf(bytes) }) - 1;
      const location = { poolIndex, offset: 0, length: bytes.length };
      slot.set = { argument: { hasNoValue: false, location, dimensions: [...given] }, dimensions };
    },
    setFromMemory(side, index, memory, { dimensions: given = [], ...region }, what) {
      const slot = unsetSlotAt(side, index, what);
      expectKind(memory, "Memory", what, "memory");
      const dimensions = combined(slot, given, side === "output", what);
      const content = memory.content(what);
      const place = content.locate({ compilation, side, index }, region, given);
      if (typeof place === "string") throw new NeuralNetworksError(ResultCode.BAD_DATA, `${what}: ${place}`);
      const isSized = !content.isDescribed && place.length > 0;
      if (isSized) expectLength(slot, dimensions, place.length, what);
      let poolIndex = poolIndexes.get(content);
      if (poolIndex === undefined) {
        poolIndex = pools.push(content.pool) - 1;
        poolIndexes.set(content, poolIndex);
      }
      used.add(memory);
      if (content.plain !== undefined) memories.set(content.plain, memory);
      const argument = { hasNoValue: false, location: { poolIndex, ...place }, dimensions: [...given] };
      slot.set = { argument, dimensions, content };
    },
    expectAllSet(what) {
      for (const side of ["input", "output"] as const) {
        const missing = slots[side].findIndex((slot) => slot.set === undefined);
        expect(missing < 0, ResultCode.BAD_DATA, () => `${what}: ${side} ${missing} is not set`);
      }
    },
    expectKnownOutputs(what) {
      for (const [index, { facts, set }] of slots.output.entries()) {
        const isKnown = set === undefined || set.argument.hasNoValue || !isUnspecified(facts, set.dimensions);
        expect(
          isKnown,
          ResultCode.BAD_DATA,
          () => `${what}: output ${index} has dimensions [${set?.dimensions}] where all must be known`,
        );
      }
    },
    expectValues(what) {
      for (const [index, { set }] of slots.input.entries()) {
        const problem = set?.content?.whyUnreadable(set.dimensions);
        expect(problem === undefined, ResultCode.OP_FAILED, () => `${what}: input ${index}: ${problem}`);
      }
    },
    request: () => ({ inputs: argumentsIn(slots.input), outputs: argumentsIn(slots.output), pools }),
    initialShapes: () =>
      slots.output.map(({ set }) => ({
        dimensions: set === undefined || set.argument.hasNoValue ? [] : set.dimensions,
        isSufficient: true,
      })),
    retain() {
      for (const memory of used) memory.retain();
      // A memory that is being written has no value until the execution has ended.
      for (const { set } of slots.output) set?.content?.written(undefined);
    },
    end(shapes, until) {
      const problems = slots.output.map(({ set }, index) => set?.content?.written(shapes?.[index]?.dimensions));
      const wrong = problems.findIndex((problem) => problem !== undefined);
      // If a value does not fit, the execution has failed, and no output has a value.
      if (wrong >= 0) for (const { set } of slots.output) set?.content?.written(undefined);
      const giveBack = () => {
        for (const memory of used) memory.giveBack();
      };
      if (until === undefined) giveBack();
      else void until.then(giveBack);
      for (const slot of all()) slot.set = undefined;
      return wrong < 0 ? undefined : `output ${wrong}: ${problems[wrong]}`;
    },
  };
}

function argumentsIn(slots: readonly Slot[]): RequestArgument[] {
  return slots.flatMap(({ set }) => (set === undefined ? [] : [set.argument]));
}

/** Facts of an extension's type that the model has no description of: any length is accepted. */
function unknownFacts({ type, dimensions }: Operand): OperandFacts {
  return halOperandFacts(type) ?? { name: "OEM", kind: dimensions.length > 0 ? "tensor" : "scalar", elementSize: 0 };
}

/** The extents of an argument: the caller's, which must refine the model's, or the model's. */
function combined(
  { operand, facts }: Slot,
  given: readonly number[],
  mayBeUnspecified: boolean,
  what: string,
): readonly number[] {
  expectDimensions(given, what);
  const isRanked = facts.kind === "tensor" || given.length === 0;
  expect(isRanked, ResultCode.BAD_DATA, () => `${what}: a ${facts.name} has no dimensions, given [${given}]`);
  const known = operand.dimensions;
  const dimensions = given.length > 0 ? given : known;
  expect(
    refines(dimensions, known),
    ResultCode.BAD_DATA,
    () => `${what}: the dimensions [${given}] contradict those of the model, [${known}]`,
  );
  expect(
    mayBeUnspecified || !isUnspecified(facts, dimensions),
    ResultCode.BAD_DATA,
    () => `${what}: the dimensions [${dimensions}] are not all known`,
  );
  return dimensions;
}

function expectLength({ facts }: Slot, dimensions: readonly number[], length: number, what: string): void {
  const needed = sizeOfData(facts, dimensions);
  expect(
    needed === undefined || needed === length,
    ResultCode.BAD_DATA,
    () => `${what}: ${length} bytes were given where ${needed} are needed`,
  );
  expect(length <= greatestSize, ResultCode.BAD_DATA, () => `${what}: ${length} bytes are more than ${greatestSize}`);
}
