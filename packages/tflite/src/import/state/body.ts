/** A subgraph while its state becomes dataflow: its tensors and operators so far, and the present value of each cell. */
import type { TfliteModel, TfliteOperator, TfliteSubgraph, TfliteTensor } from "../../model.ts";
import type { Initial } from "./initial.ts";
import type { Procedure } from "./procedure.ts";
import { type Bound, type Resource, type Resources, resourcesIn, variableTensorKey } from "./resources.ts";

/** Values that a subgraph passes in and out beside its own inputs and outputs. */
export interface Passing {
  readonly bound: Bound;
  /** The cells that are inputs after its own. */
  readonly cells: readonly string[];
  /** The cells whose last value is an output after its own. */
  readonly written: readonly string[];
}

/** The model whose state becomes dataflow, and the subgraphs that are made. */
export interface Threads {
  readonly model: TfliteModel;
  readonly resources: Resources;
  readonly initial: Initial;
  /** Cells that are constants. */
  readonly constants: ReadonlySet<string>;
  readonly mainIndex: number;
  /** The subgraphs of the file, and those that were made. */
  readonly procedures: Procedure[];
  /** A subgraph of the file with these inputs and outputs; its index among the procedures. */
  specialise(index: number, passing: Passing): number;
  /** The subgraph that stands for one that need not run: it returns the cells as they are. */
  passThrough(index: number, cells: readonly string[], written: readonly string[]): number;
}

/** See the file's head. */
export interface Body {
  readonly threads: Threads;
  readonly source: TfliteSubgraph;
  /** The place of the file's subgraph. */
  readonly index: number;
  readonly tensors: TfliteTensor[];
  readonly operators: TfliteOperator[];
  /** The place in the file's subgraph of each operator. */
  readonly origins: number[];
  /** Operators of the file that became values. */
  readonly carried: Set<number>;
  /** The tensors with the present values of cells. */
  readonly current: Map<string, number>;
  /** Tensors that have the value of another one. */
  readonly aliases: Map<number, number>;
  /** The resources that tensors refer to. */
  readonly known: ReadonlyMap<number, Resource>;
  /** The inputs for the cells. */
  readonly cellInputs: readonly number[];
}

/** Opens a subgraph. */
export function openBody(threads: Threads, source: TfliteSubgraph, index: number, passing: Passing): Body {
  const body = {
    ...{ threads, source, index },
    tensors: [...source.tensors],
    operators: [],
    origins: [],
    carried: new Set<number>(),
    current: new Map<string, number>(),
    aliases: new Map<number, number>(),
    known: resourcesIn(source, passing.bound),
    cellInputs: [],
  };
  const cellInputs = passing.cells.map((key) => {
    const tensor = ownTensor(body, key) ?? addCell(body, key);
    body.current.set(key, tensor);
    return tensor;
  });
  return { ...body, cellInputs };
}

/** Adds a tensor; returns its place. */
export function addTensor({ tensors }: Body, tensor: TfliteTensor): number {
  return tensors.push(tensor) - 1;
}

/** The tensor that has the value of another one. */
export function realTensor({ aliases }: Body, tensor: number): number {
  return aliases.get(tensor) ?? tensor;
}

/** A new tensor for the value of a cell. */
export function addCell(body: Body, key: string): number {
  const cell = body.threads.resources.cell(key);
  if (cell === undefined) throw new TypeError(`no operator describes the cell ${key}`);
  return addTensor(body, cell.tensor);
}

/** The variable tensor of this subgraph that represents itself as a cell. */
function ownTensor({ source, index, threads }: Body, key: string): number | undefined {
  const place = source.tensors.findIndex((tensor, i) => tensor.isVariable && variableTensorKey(index, i) === key);
  return index === threads.mainIndex || place < 0 ? undefined : place;
}

/** The tensor with the present value of a cell. */
export function presentOf(body: Body, key: string): number {
  const { current, threads, index } = body;
  const present = current.get(key);
  if (present !== undefined) return present;
  const value = threads.constants.has(key) ? threads.initial.values.get(key) : undefined;
  if (value === undefined) throw new TypeError(`the cell ${key} is not passed to subgraph ${index}`);
  const tensor = addTensor(body, value);
  current.set(key, tensor);
  return tensor;
}

/** Adds an operator. `origin`: its place in the file. */
export function addOperator({ operators, origins }: Body, operator: TfliteOperator, origin: number): void {
  operators.push(operator);
  origins.push(origin);
}

/** Tensors that are not resources. */
export function plainTensors({ known }: Body, tensors: readonly number[]): readonly number[] {
  return tensors.filter((tensor) => !known.has(tensor));
}

/** A flag that is set. */
export function trueFlag(name: string): TfliteTensor {
  return { name, type: "BOOL", shape: [1], data: Uint8Array.of(1), isVariable: false };
}
