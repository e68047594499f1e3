/**
 * The inputs and outputs of a compiled model as arguments fill them: their extents and sizes.
 */
import { elementAt, isUnspecified } from "@nnhal/operations";
import type { DataLocation, Operand, Subgraph } from "@nnhal/types";
import { expectDimensions } from "./checks.ts";
import type { Role } from "./memory-content.ts";
import { greatestSize, halOperandFacts, type OperandFacts, refines, sizeOfData } from "./operand-facts.ts";
import { NeuralNetworksError, ResultCode } from "./result-code.ts";

/** A side of a model. */
export type Side = Role["side"];

/** An input or output of a model. */
export interface Slot {
  readonly operand: Operand;
  readonly facts: OperandFacts;
}

/** The part of a compilation that arguments need: the model and the facts of its types. */
export interface ArgumentsOf {
  readonly hal: { readonly main: Subgraph };
  factsOf(type: number): OperandFacts | undefined;
}

/** The inputs and outputs of a model. */
export type Slots = Readonly<Record<Side, readonly Slot[]>>;

/** The inputs and outputs of each compilation: the same for all of its executions. */
const slotsByCompilation = new WeakMap<ArgumentsOf, Slots>();

/** The inputs and outputs of a compilation. */
export function slotsOf(compilation: ArgumentsOf): Slots {
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

/** Throws BAD_DATA if there is no such index. */
export function slotAt(slots: Slots, side: Side, index: number, what: string): Slot {
  const list = slots[side];
  const slot = list[index];
  if (slot === undefined) fail(`${what}: there are ${list.length} ${side}s, counted from 0`);
  return slot;
}

/** Facts of an extension's type that the model has no description of: any length is accepted. */
function unknownFacts({ type, dimensions }: Operand): OperandFacts {
  return halOperandFacts(type) ?? { name: "OEM", kind: dimensions.length > 0 ? "tensor" : "scalar", elementSize: 0 };
}

/** The extents of an argument: the caller's, which must refine the model's, or the model's. */
export function combine(
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

/**
 * The bytes of a place of some length that the value takes. Throws BAD_DATA unless it takes all of them; if `isPadded`, the rest is
 * padding, and fewer are BAD_DATA. All of them may hold a value of unknown size.
 */
export function lengthsOf(
  { facts }: Slot,
  dimensions: readonly number[],
  length: number,
  isPadded: boolean,
  what: string,
): Pick<DataLocation, "length" | "padding"> {
  const needed = sizeOfData(facts, dimensions);
  const fits = needed === undefined || needed === length || (isPadded && needed < length);
  if (!fits) fail(`${what}: expected ${needed} bytes${isPadded ? " or more" : ""}, got ${length}`);
  if (length > greatestSize) fail(`${what}: ${length} bytes are more than ${greatestSize}`);
  return needed === undefined || needed === length ? { length } : { length: needed, padding: length - needed };
}

/** Throws BAD_DATA. */
export function fail(message: string): never {
  throw new NeuralNetworksError(ResultCode.BAD_DATA, message);
}
