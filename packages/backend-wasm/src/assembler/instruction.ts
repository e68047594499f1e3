/**
 * The form of a row in the tables of instructions: opcode, operands on the stack, immediates. Names, signatures and opcodes are those of the
 * WebAssembly specification.
 */

/** The values that an instruction carries in the code, in order. */
export const immediateForms = {
  none: [],
  /** The exponent of the alignment, and the offset. */
  memory: ["align", "offset"],
  /** The same, and the number of a lane. */
  memoryLane: ["align", "offset", "lane"],
  lane: ["lane"],
  i32: ["i32"],
  i64: ["i64"],
  f32: ["f32"],
  f64: ["f64"],
  bytes16: ["bytes16"],
  index: ["index"],
  label: ["index"],
  labels: ["indexes", "index"],
  block: ["blockType"],
  typeAndTable: ["index", "index"],
  memoryIndex: ["zero"],
  twoMemoryIndexes: ["zero", "zero"],
} as const;

/** A way to write the immediates of an instruction. */
export type ImmediateForm = keyof typeof immediateForms;

/** A row of a table of instructions. */
export interface Instruction {
  /** 0, or the byte before the opcode. */
  readonly prefix: number;
  readonly opcode: number;
  /** Operands and results, as in `ii:v`: i, l, f, d, v are i32, i64, f32, f64, v128. Absent: they depend on where it stands. */
  readonly signature?: string;
  readonly immediates: ImmediateForm;
  /** The exponent of the natural alignment, of instructions that read or write memory. */
  readonly align?: number;
}

/** A row as the tables write it: opcode, signature, form of the immediates, alignment. */
export type Row = readonly [opcode: number, signature?: string | undefined, immediates?: ImmediateForm, align?: number];

/** The name of a row and the form of its immediates. */
export type Rows = Readonly<Record<string, Row>>;

/** Rows with the byte before their opcodes; 0 if there is none. */
export interface Table {
  readonly prefix: number;
  readonly rows: Rows;
}
