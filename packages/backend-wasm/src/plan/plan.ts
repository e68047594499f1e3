/**
 * The plan of a network: regions of one memory, and steps over them in order. It is data, and knows no instructions: whatever emits code
 * reads it, and nothing else.
 */
import type { TensorInfo } from "@nnhal/operations";
import type { Expression } from "./expression.ts";
import type { NumberType, Statement } from "./formula.ts";

/** Layout of an element in memory. */
export type ElementType = "u8" | "i8" | "u16" | "i16" | "i32" | "f32";

/** The bytes of each. */
export const elementBytes: Readonly<Record<ElementType, number>> = { u8: 1, i8: 1, u16: 2, i16: 2, i32: 4, f32: 4 };

/** The number of a region of memory. */
export type Region = number;

/** Bytes behind each region that a step may read, though not write: so vectors at the end need no care. */
export const SLACK = 64;

/** The most bytes of a memory: addresses and sums of them have 31 bits. */
export const mostBytes = 2 ** 31 - 2 ** 20;

/** A region after planning. Its address is a multiple of 64. */
export interface PlacedRegion {
  readonly address: number;
  readonly bytes: number;
  /** The bytes of a constant. */
  readonly data?: Uint8Array | LateConstant;
}

/** The bytes of a constant that are made in the memory of the network: so large ones are there once. */
export interface LateConstant {
  readonly byteLength: number;
  /** The elements that they are made of. */
  readonly count: number;
  /** Writes those of the elements [first, end) over zeros. */
  fill(memory: Uint8Array, first: number, end: number): void;
}

/** Elements at the places that loops run over. */
export interface Operand {
  readonly region: Region;
  readonly type: ElementType;
  /** In elements, from the start of the region. */
  readonly offset: number;
  /** For each loop the elements from one turn to the next. */
  readonly steps: readonly number[];
}

interface Named {
  /** The operations that it computes, for people. */
  readonly name: string;
  /** Parts that can be computed one by one; in any order, unless the kind of step says otherwise. */
  readonly units: number;
  /** Multiply-adds, or steps that take as long, of each unit. */
  readonly work: number;
}

/** Computes an expression for each place. The last loop is the innermost; there the target's step is 1, and those of operands 0 or 1. */
export interface ElementwiseStep extends Named {
  readonly kind: "elementwise";
  readonly loops: readonly number[];
  readonly operands: readonly Operand[];
  readonly target: Operand;
  readonly value: Expression;
}

/**
 * Rows times weights: target[m, n] = value(bias[n] + Σ row m [k] · weights[k, n]), k in ascending order. Floats are added in this order, one
 * by one. Integers are added in pairs, exactly, in 32 bits.
 */
export interface ProductStep extends Named {
  readonly kind: "product";
  readonly rows: number;
  readonly depth: number;
  readonly columns: number;
  readonly source: RowSource;
  /** In panels of `4 · tile.vectors` columns: see `packInto`. */
  readonly weights: Region;
  /** A number for each column, i32 or f32. */
  readonly bias: Region;
  readonly tile: { readonly rows: number; readonly vectors: number };
  /** Rows that are computed together. */
  readonly blockRows: number;
  /** Parts of the columns: a unit is one of them for one block of rows. */
  readonly groups: number;
  /** Room for the rows of a block, if they are gathered: of each thread, `scratchBytes` after the one before. */
  readonly scratch: Region | undefined;
  readonly scratchBytes: number;
  readonly target: Target;
  /** Other operands of the value, in the shape of the target. */
  readonly operands: readonly Target[];
  readonly value: Expression;
  /** Part of the depth, if several steps add to the sums. Default: all. */
  readonly piece?: DepthPiece;
}

/** A part of the depth of a product. */
export interface DepthPiece {
  /** The first turn over the depth, and the turns of the whole depth, of each panel of the weights. */
  readonly firstTurn: number;
  readonly allTurns: number;
  /** True if the last operand has the sums of the pieces before, instead of the bias. */
  readonly isBegun: boolean;
}

/** Elements without gaps. */
export interface Target {
  readonly region: Region;
  readonly type: ElementType;
}

/**
 * Where the rows of a product come from: for the row of output pixel (b, y, x), `runs` pieces of `length` elements that begin at
 * `b · batchStep + y · rowStep + x · pixelStep` plus the offset of the piece. Integers have `zeroPoint` subtracted.
 */
export interface RowSource {
  readonly region: Region;
  /** f32, u8, i8 or i16. */
  readonly type: ElementType;
  readonly zeroPoint: number;
  /** True if the rows are contiguous floats, which are read in place. */
  readonly isDirect: boolean;
  readonly width: number;
  readonly height: number;
  readonly batchStep: number;
  readonly rowStep: number;
  readonly pixelStep: number;
  readonly runs: readonly number[];
  readonly length: number;
}

/** A part of an axis of the output, of which the windows see the same cells of the filter: [begin, end) of each. */
export interface Segment {
  readonly begin: number;
  readonly end: number;
  readonly firstTap: number;
  readonly endTap: number;
}

/** An image whose channels lie side by side. */
export interface ImageExtents {
  readonly batches: number;
  readonly height: number;
  readonly width: number;
  readonly channels: number;
}

/** A window that slides over an image. */
export interface Window {
  readonly height: number;
  readonly width: number;
  readonly strideHeight: number;
  readonly strideWidth: number;
  readonly dilationHeight: number;
  readonly dilationWidth: number;
  readonly paddingTop: number;
  readonly paddingLeft: number;
}

/** The columns and the channels of an output that a step computes: [begin, end) of each. Channels begin at a multiple of those that a kernel computes together. */
export interface ImagePart {
  readonly columns: readonly [begin: number, end: number];
  readonly channels: readonly [begin: number, end: number];
}

/** A convolution of each channel by itself. A unit is a row of the output. Floats are added cell by cell. */
export interface DepthwiseStep extends Named {
  readonly kind: "depthwise";
  readonly source: Target & { readonly zeroPoint: number };
  readonly input: ImageExtents;
  readonly output: ImageExtents;
  readonly window: Window;
  readonly rows: readonly Segment[];
  readonly columns: readonly Segment[];
  /** Channels that are computed together. */
  readonly channelsAtOnce: number;
  /** For each cell of the filter, in panels of the channels that are computed together: see `packInto`. */
  readonly weights: Region;
  readonly bias: Region;
  readonly target: Target;
  readonly operands: readonly Target[];
  readonly value: Expression;
  /** Default: all. */
  readonly part?: ImagePart;
}

/** The mean, the greatest or the mean square of the cells under a window; cells outside the image do not count. A unit is a row of the output. */
export interface PoolStep extends Named {
  readonly kind: "pool";
  readonly pool: "average" | "max" | "squares";
  readonly source: Target;
  readonly input: ImageExtents;
  readonly output: ImageExtents;
  readonly window: Window;
  readonly target: Target;
  /** The accumulator is the mean, as a float, or the greatest in the source's kind of lane. */
  readonly value: Expression;
  /** Default: all. */
  readonly part?: ImagePart;
  /** The cells of the window that the step adds, if several steps do. Default: all. */
  readonly cells?: PoolCells;
}

/** Some cells of a window: [begin, end) of its rows and columns. */
export interface PoolCells {
  readonly rows: readonly [begin: number, end: number];
  readonly columns: readonly [begin: number, end: number];
  /** Results of the cells before, in lanes of 32 bits in the shape of the target, unless they are the first. */
  readonly begun: Region | undefined;
  /** True if these are the last cells. Other steps leave their results so far in the target, in lanes of 32 bits. */
  readonly isLast: boolean;
}

/** Copies elements to other places. A unit is a turn of the first loop. */
export interface MoveStep extends Named {
  readonly kind: "move";
  readonly loops: readonly number[];
  readonly source: Operand;
  readonly target: Operand;
}

/** Looks each byte up in a table of 256 elements. A unit is a part of at most `TABLE_UNIT` bytes. */
export interface TableStep extends Named {
  readonly kind: "table";
  readonly source: Region;
  readonly target: Region;
  readonly count: number;
  readonly table: Region;
  /** The bytes of an element of the table. */
  readonly bytes: 1 | 4;
}

/** Bytes of a unit of a table step. */
export const TABLE_UNIT = 1 << 16;

/** Elements of a unit of an elementwise step with one loop. */
export const FLAT_UNIT = 1 << 15;

/** Combines elements along some axes. A unit is a turn of the first kept loop. */
export interface ReduceStep extends Named {
  readonly kind: "reduce";
  readonly combine: "add" | "min" | "max" | "mul";
  /** Loops over results, and over what each is made of. */
  readonly kept: readonly number[];
  readonly reduced: readonly number[];
  /** Steps of the kept loops, then those of the reduced ones. */
  readonly source: Operand;
  /** Steps of the kept loops. */
  readonly target: Operand;
  /** The accumulator has the type of `start`. */
  readonly start: Expression;
  /** The accumulators of the steps before that combine other elements: the step goes on with them, instead of `start`. Steps of the kept loops. */
  readonly begun?: Operand;
  /** The element that is combined: a value of operand 0. */
  readonly taken: Expression;
  readonly value: Expression;
}

/**
 * Interpolates an image: each pixel of the output between two rows and two columns of the input. A unit is a row of the output. The accumulator is the sum
 * of four elements, each times the shares of its row and its column, in the source's kind of lane.
 */
export interface ResizeStep extends Named {
  readonly kind: "resize";
  readonly source: Target;
  readonly input: ImageExtents;
  readonly output: ImageExtents;
  /**
   * For each row of the output four numbers of 32 bits: the bytes from the start of the image to either row of the input, and their shares, as the
   * lanes have them.
   */
  readonly rows: Region;
  /** The same for each column, with the bytes from the start of a row. */
  readonly columns: Region;
  readonly target: Target;
  readonly value: Expression;
  /** Default: all. */
  readonly part?: ImagePart;
}

/** Elements that a routine reads or writes. */
export interface RoutineOperand {
  readonly region: Region;
  readonly type: ElementType | "f64";
}

/** Statements over single numbers: see `formula.ts` and `routine.ts`. Local 0 is the number of the unit. */
export interface RoutineStep extends Named {
  readonly kind: "routine";
  readonly reads: readonly RoutineOperand[];
  /** Operands that are written have the numbers -1, -2 and so on in formulas. */
  readonly writes: readonly RoutineOperand[];
  readonly locals: readonly NumberType[];
  /** The name of the checked number, and the least and greatest value that it may have. */
  readonly checks: readonly (readonly [what: string, least: number, greatest: number])[];
  readonly body: readonly Statement[];
  /** Where a routine that pauses leaves its locals: see `resumable.ts`. The first four bytes are not 0 after a call that has not computed all of its units. */
  readonly state?: Region;
}

/** Computes some steps again and again. A unit is a turn, or a slice of it; they are computed in order. */
export interface RepeatStep extends Named {
  readonly kind: "repeat";
  /** One i32: the number of the turn. */
  readonly turn: Region;
  readonly steps: readonly Step[];
  /** The slices of a turn, if it has several: each has units [begin, end) of some of the steps, in order. */
  readonly slices?: readonly (readonly SlicePart[])[];
}

/** Units [begin, end) of one of the steps. */
export interface SlicePart {
  readonly step: number;
  readonly begin: number;
  readonly end: number;
}

/** Computes some steps or others, as the first byte of a region says. */
export interface BranchStep extends Named {
  readonly kind: "branch";
  readonly condition: Region;
  readonly yes: readonly Step[];
  readonly no: readonly Step[];
}

/** Computes steps, and then others as long as those leave a byte in a region that is not 0. */
export interface LoopStep extends Named {
  readonly kind: "loop";
  readonly condition: Region;
  readonly test: readonly Step[];
  readonly body: readonly Step[];
}

/** A step of which parts are computed as data say: see `partsOf`. */
export type ControlStep = BranchStep | LoopStep;

/** The lists of steps that a step consists of. */
export function partsOf(step: ControlStep): readonly (readonly Step[])[] {
  return step.kind === "branch" ? [step.yes, step.no] : [step.test, step.body];
}

/** A step that is a function of the module. */
export type PlainStep = Exclude<Step, ControlStep>;

/** All steps that are functions, in the order of their numbers. */
export function functionsOf(steps: readonly Step[]): PlainStep[] {
  return steps.flatMap((step) => (isControl(step) ? functionsOf(partsOf(step).flat()) : [step]));
}

/** Returns true if a step consists of others that run as data say. */
export function isControl(step: Step): step is ControlStep {
  return step.kind === "branch" || step.kind === "loop";
}

/** The most work of a unit: some milliseconds. */
export const mostWork = 2 ** 22;

/** True if a unit of a step has more work than it should. That of products is counted in products, of which vectors compute more in the time of other steps. */
export function isLong({ kind, work }: Step, most = mostWork): boolean {
  return work > (kind === "product" ? 4 * most : most);
}

/** A step. */
export type Step =
  | ElementwiseStep
  | ProductStep
  | DepthwiseStep
  | PoolStep
  | ResizeStep
  | MoveStep
  | TableStep
  | ReduceStep
  | RoutineStep
  | RepeatStep
  | ControlStep;

/** An input or an output of the network. */
export interface Port {
  readonly region: Region;
  readonly info: TensorInfo;
  readonly bytes: number;
}

/** The plan of a network for inputs of certain shapes. */
export interface Plan {
  readonly regions: readonly PlacedRegion[];
  readonly steps: readonly Step[];
  /** Undefined for inputs that are omitted. */
  readonly inputs: readonly (Port | undefined)[];
  readonly outputs: readonly Port[];
  /** Bytes of the whole memory. */
  readonly memory: number;
  /** Bytes of it that constants take, from its start on. */
  readonly constants: number;
  /** Threads that may compute units of a step at the same time. */
  readonly threads: number;
  /** True for a compiler that joins two neighbouring vectors of 128 bits to one of 256: tiles are larger, and results are stored by pairs. */
  readonly isWide: boolean;
}
