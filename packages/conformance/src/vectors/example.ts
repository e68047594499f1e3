/**
 * One conformance example: a model, its inputs and its expected outputs. It has the fields of the vectors' JSON lines,
 * with the bytes decoded.
 */
import type {
  HalVersion,
  OperandTypeName,
  OperationTypeName,
  operandLifeTimes,
  SymmPerChannelQuantParams,
} from "@nnhal/types";

/** The HAL's own names of the lifetimes. */
export type LifeTimeName = keyof typeof operandLifeTimes;

/**
 * Allowed distance of an element from the expected one: abs(expected - actual) <= absolute + relative * abs(expected). A NaN
 * and an infinity must then be the same ones, unless they are `anyUnusual`.
 */
export interface Allowance {
  readonly absolute: number;
  readonly relative: number;
  /**
   * If true, elements that are expected to be NaN or infinite may have any value: the HAL does not define them. Default: false.
   */
  readonly anyUnusual?: boolean;
  /** Allowance of each element, instead of `absolute` and `relative`; null: it is not compared. */
  readonly elements?: readonly (number | null)[];
  /** The mean of the differences of all elements that are compared has at most this magnitude. Default: it is not compared. */
  readonly bias?: number;
  /** The mean of the squares of these differences is at most this. Default: it is not compared. */
  readonly meanSquare?: number;
}

/** A value of an example's graph. */
export interface ExampleOperand {
  readonly type: OperandTypeName;
  /** Of an output of the main subgraph: the expected shape, in which a 0 is also an unknown extent of the model. */
  readonly dimensions: readonly number[];
  readonly scale: number;
  readonly zeroPoint: number;
  readonly lifetime: LifeTimeName;
  readonly numberOfConsumers: number;
  readonly channelQuant: SymmPerChannelQuantParams | null;
  /** An output whose shape and values are not compared. */
  readonly isIgnored: boolean;
  /**
   * The value of a constant or of an input of the main subgraph, the expected value of one of its outputs, the index of
   * a SUBGRAPH (one uint32); little-endian and packed. Null: an omitted input, an output without elements, or a value
   * that the example does not state.
   */
  readonly data: Uint8Array | null;
  /** The model does not state its extents; of an input of the main subgraph, the request does. Default: false. */
  readonly isUnspecified?: boolean;
  /** Of an output of the main subgraph. Absent: as the type and the precision of the model say (`tolerances`). */
  readonly allowance?: Allowance;
}

/** One operation of an example's graph. */
export interface ExampleOperation {
  readonly type: OperationTypeName;
  readonly inputs: readonly number[];
  readonly outputs: readonly number[];
}

/** A graph of an example. */
export interface ExampleSubgraph {
  readonly inputIndexes: readonly number[];
  readonly outputIndexes: readonly number[];
  /** In execution order. */
  readonly operations: readonly ExampleOperation[];
  readonly operands: readonly ExampleOperand[];
}

/** A model with inputs and expected outputs. */
export interface Example {
  /** `<spec file>/<test name>`; unique among the examples of a folder. */
  readonly name: string;
  /** `<directory>/<spec file>`. */
  readonly spec: string;
  /** Absent if the source assigns none. */
  readonly minSupportedVersion?: HalVersion;
  readonly isRelaxed: boolean;
  /** The model is wrong: preparing it or executing it has to fail. */
  readonly expectFailure: boolean;
  /** Above 0: outputs are random samples, compared by their distribution. */
  readonly expectedMultinomialDistributionTolerance: number;
  readonly main: ExampleSubgraph;
  readonly referenced: readonly ExampleSubgraph[];
}

/** All graphs of an example, the main one first. */
export function subgraphsOf({ main, referenced }: Example): readonly ExampleSubgraph[] {
  return [main, ...referenced];
}
