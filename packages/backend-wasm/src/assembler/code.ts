/**
 * The code of one function: instructions in order, locals, and blocks whose labels are values instead of depths.
 */
import { type ByteWriter, createWriter } from "./bytes.ts";
import {
  type BlockType,
  type ImmediatesOf,
  type InstructionName,
  immediateForms,
  instructionOf,
  type ValueType,
} from "./instructions.ts";

/** The number of a local of a function. */
export type Local = number;

/** A block that `br` can leave, or a loop that it can repeat. Valid inside it only. */
export interface Label {
  readonly depth: number;
}

/** A function while it is written. */
export interface Code {
  /** Appends an instruction. Alignments are the natural ones. */
  op<Name extends InstructionName>(name: Name, ...immediates: ImmediatesOf<Name>): Code;
  /** A new local. */
  local(type: ValueType): Local;
  get(local: Local): Code;
  set(local: Local): Code;
  tee(local: Local): Code;
  i32(value: number): Code;
  /**
   * An i32 or, of 16 bytes, a v128 that functions with the same code may each have another one of: they can share the code, which takes it as a
   * parameter then.
   */
  given(value: Given): Code;
  /** A block that `br(label)` leaves. */
  block(write: (label: Label) => void): Code;
  /** A loop that `br(label)` repeats. */
  loop(write: (label: Label) => void): Code;
  /** Takes the condition from the stack. */
  if(write: () => void, otherwise?: () => void, type?: BlockType): Code;
  br(label: Label): Code;
  /** Takes the condition from the stack. */
  brIf(label: Label): Code;
}

/** See `Code.given`. */
export type Given = number | readonly number[];

/** The local that has a given number; undefined if it is a constant. */
export type LocalOfGiven = (value: Given) => Local | undefined;

/** A function that has been written. */
export interface WrittenCode {
  /** The types of its locals after the parameters. */
  readonly locals: readonly ValueType[];
  readonly bytes: Uint8Array;
}

/** The bytes of types. */
export const typeBytes: Readonly<Record<BlockType, number>> = {
  i32: 0x7f,
  i64: 0x7e,
  f32: 0x7d,
  f64: 0x7c,
  v128: 0x7b,
  none: 0x40,
};

/** Writes a function with some parameters. `localOf`: absent if given numbers are constants. */
export function writeCode(
  params: readonly ValueType[],
  write: (code: Code) => void,
  localOf?: LocalOfGiven,
): WrittenCode {
  const writer = createWriter();
  const locals = writeInstructions(params, write, (name, given) => encode(writer, name, given), localOf);
  return { locals, bytes: writer.copyBytes() };
}

/** Calls `append` for each instruction of a function, in order, and returns the types of its locals after the parameters. */
export function writeInstructions(
  params: readonly ValueType[],
  write: (code: Code) => void,
  append: (name: InstructionName, immediates: readonly Part[]) => void,
  localOf?: LocalOfGiven,
): readonly ValueType[] {
  const locals: ValueType[] = [];
  let depth = 0;
  const inside = (name: "block" | "loop", body: (label: Label) => void): void => {
    append(name, ["none"]);
    body({ depth: depth++ });
    depth--;
    append("end", []);
  };
  const code: Code = {
    op(name, ...immediates) {
      append(name, immediates);
      return code;
    },
    local: (type) => params.length + locals.push(type) - 1,
    get: (local) => code.op("local.get", local),
    set: (local) => code.op("local.set", local),
    tee: (local) => code.op("local.tee", local),
    i32: (value) => code.op("i32.const", value),
    given(value) {
      const local = localOf?.(value);
      if (local !== undefined) return code.get(local);
      return typeof value === "number" ? code.i32(value) : code.op("v128.const", value);
    },
    block(body) {
      inside("block", body);
      return code;
    },
    loop(body) {
      inside("loop", body);
      return code;
    },
    if(body, otherwise, type = "none") {
      append("if", [type]);
      depth++;
      body();
      if (otherwise !== undefined) {
        append("else", []);
        otherwise();
      }
      depth--;
      append("end", []);
      return code;
    },
    br: (label) => code.op("br", depth - 1 - label.depth),
    brIf: (label) => code.op("br_if", depth - 1 - label.depth),
  };
  write(code);
  append("end", []);
  return locals;
}

/** The value of one part of an immediate, as callers give it. */
export type Part = number | bigint | string | readonly number[] | undefined;

/** Appends an instruction. */
function encode(writer: ByteWriter, name: InstructionName, given: readonly Part[]): void {
  const { prefix, opcode, immediates, align } = instructionOf(name);
  if (prefix === 0) writer.byte(opcode);
  else {
    writer.byte(prefix);
    writer.writeUnsigned(opcode);
  }
  let next = 0;
  for (const part of immediateForms[immediates]) {
    if (part === "align") writer.writeUnsigned(align ?? 0);
    else if (part === "zero") writer.byte(0);
    else writePart(writer, name, part, given[next++]);
  }
}

function writePart(writer: ByteWriter, name: string, part: string, value: Part): void {
  if (typeof value === "bigint") writer.signed64(value);
  else if (typeof value === "string") writer.byte(typeBytes[blockType(value)]);
  else if (typeof value === "number") writeNumber(writer, part, value);
  else if (value === undefined) throw new TypeError(`${name}: the immediate ${part} is missing`);
  else if (part === "indexes") {
    writer.writeUnsigned(value.length);
    for (const index of value) writer.writeUnsigned(index);
  } else {
    if (value.length !== 16) throw new RangeError(`${name}: expected 16 bytes, got ${value.length}`);
    writer.bytes(value);
  }
}

function writeNumber(writer: ByteWriter, part: string, value: number): void {
  if (part === "i32") writer.writeSigned(value);
  else if (part === "f32") writer.float32(value);
  else if (part === "f64") writer.float64(value);
  else if (part === "lane") writer.byte(value);
  else writer.writeUnsigned(value);
}

function blockType(text: string): BlockType {
  switch (text) {
    case "i32":
    case "i64":
    case "f32":
    case "f64":
    case "v128":
    case "none":
      return text;
    default:
      throw new TypeError(`${text} is not the type of a block`);
  }
}
