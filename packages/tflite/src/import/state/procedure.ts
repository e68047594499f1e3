/**
 * The subgraphs that an import lowers: those of the file, and those made from them, in which state is an input and an output.
 */
import type { TfliteSubgraph, TfliteTensor } from "../../model.ts";

/** A subgraph to lower. */
export interface Procedure {
  readonly subgraph: TfliteSubgraph;
  /** The index of the file's subgraph that it is or was made from. */
  readonly index: number;
  /** The place in the file's subgraph of each operator. Absent: its own place. */
  readonly origins?: readonly number[];
  /** Operators of the file's subgraph that became inputs and outputs. */
  readonly carried?: ReadonlySet<number>;
  /** True if a variable tensor that is an output is the new value of the state, rather than a copy beside it. */
  readonly returnsStates?: true;
}

/** State of the model that is an ordinary input and output of its main subgraph. */
export interface MainCell {
  readonly name: string;
  /** The place of its input among those of the main subgraph. */
  readonly input: number;
  /** The place of its output; undefined if the model does not change it. */
  readonly output: number | undefined;
  /** The constant that is the first value; undefined: zeros. */
  readonly initial: TfliteTensor | undefined;
}

/** The subgraphs of an import. */
export interface Program {
  readonly main: Procedure;
  /** Operators refer to these by their index; the file's own subgraphs are the first ones. */
  readonly procedures: readonly Procedure[];
  readonly cells: readonly MainCell[];
}
