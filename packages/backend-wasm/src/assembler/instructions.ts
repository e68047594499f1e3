/**
 * Instructions by their names: the one place that knows opcodes, immediates and signatures. The encoder and its tests read it.
 */
import { type ImmediateForm, type Instruction, immediateForms, type Table } from "./instruction.ts";
import type { OtherRows } from "./others.ts";
import { plain, saturatingAndBulk } from "./scalar.ts";
import { relaxed, simd } from "./simd.ts";

/** The tables of what kernels use. */
export const tables = [
  { prefix: 0, rows: plain },
  { prefix: 0xfc, rows: saturatingAndBulk },
  { prefix: 0xfd, rows: simd },
  { prefix: 0xfd, rows: relaxed },
] as const satisfies readonly Table[];

type AllRows = typeof plain & typeof saturatingAndBulk & typeof simd & typeof relaxed & OtherRows;

/** The name of an instruction, as the specification spells it. */
export type InstructionName = keyof AllRows;

/** The type of each part of an immediate. */
interface PartTypes {
  align: number;
  offset: number;
  lane: number;
  i32: number;
  i64: bigint;
  f32: number;
  f64: number;
  bytes16: readonly number[];
  index: number;
  indexes: readonly number[];
  blockType: BlockType;
  zero: undefined;
}

/** A type of values. */
export type ValueType = "i32" | "i64" | "f32" | "f64" | "v128";

/** The result of a block; it has no operands. */
export type BlockType = ValueType | "none";

/** Parts that a caller gives: alignment follows from the instruction, and there is one memory. */
type Given<Parts extends readonly string[]> = Parts extends readonly [
  infer First,
  ...infer Rest extends readonly string[],
]
  ? First extends "align" | "zero"
    ? Given<Rest>
    : [First extends keyof PartTypes ? PartTypes[First] : never, ...Given<Rest>]
  : [];

type FormOf<R> = R extends readonly [number, unknown, infer Form extends ImmediateForm, ...unknown[]] ? Form : "none";

/** The immediates that a caller gives for an instruction. */
export type ImmediatesOf<Name extends InstructionName> = Given<(typeof immediateForms)[FormOf<AllRows[Name]>]>;

function byName(all: Map<string, Instruction>, more: readonly Table[]): Map<string, Instruction> {
  for (const { prefix, rows } of more) {
    for (const [name, row] of Object.entries(rows)) {
      const [opcode, signature, immediates = "none", align] = row;
      all.set(name, {
        prefix,
        opcode,
        immediates,
        ...(signature !== undefined && { signature }),
        ...(align !== undefined && { align }),
      });
    }
  }
  return all;
}

let made: Map<string, Instruction> | undefined;

/** Makes more instructions known. */
export function addInstructions(more: readonly Table[]): void {
  made = byName(made ?? byName(new Map(), tables), more);
}

/** The row of an instruction. */
export function instructionOf(name: InstructionName): Instruction {
  made ??= byName(new Map(), tables);
  const found = made.get(name);
  if (found === undefined) throw new TypeError(`there is no instruction ${name} among those that are known`);
  return found;
}

export { immediateForms };
