/** Random models of one operator: the tensors that are drawn, and the choices that draw them. */
import type { OptionValue, TfliteTensor } from "@nnhal/tflite";
import { randomSequence } from "../random.ts";

/** Element types of drawn tensors. */
export type DrawnType = TfliteTensor["type"];

/** A tensor that an operator reads. */
export interface DrawnInput {
  readonly type: DrawnType;
  readonly shape: readonly number[];
  /** Elements of a constant. Default: an input of the model. */
  readonly data?: readonly number[];
  /** The strings of a constant of STRING. */
  readonly strings?: readonly string[];
  /** The range of random elements. Default: that of the type, or small numbers. */
  readonly range?: readonly [least: number, greatest: number];
  /** One scale, or one for each channel along `axis`. */
  readonly scale?: number | readonly number[];
  readonly zeroPoint?: number;
  readonly axis?: number;
  readonly isVariable?: boolean;
}

/** A tensor that an operator writes. Its shape follows. */
export type DrawnOutput = Pick<DrawnInput, "type" | "scale" | "zeroPoint">;

/** A model of one operator. */
export interface DrawnModel {
  /** In the order of the operator's inputs; undefined: omitted. */
  readonly inputs: readonly (DrawnInput | undefined)[];
  readonly outputs: readonly DrawnOutput[];
  readonly options?: Readonly<Record<string, OptionValue>>;
  /** Subgraphs besides the main one, each of one operator on tensors of a type and shape. */
  readonly bodies?: readonly DrawnBody[];
  /**
   * True if MAXIMUM or CAST copies the results: LiteRT.js does not give those that an operator computes before the first execution, the older
   * build no INT64. Default: false.
   */
  readonly isCopied?: boolean;
  /** Version of the operator. Default: 1. */
  readonly version?: number;
  /** The subgraphs of a model of several operators, the main one first: it is the file instead of one operator on the inputs. */
  readonly graphs?: readonly DrawnGraph[];
}

/** A subgraph of operators that follow one another. */
export interface DrawnGraph {
  /** By name; those without elements are inputs, results, or between. The shape may be left to follow. */
  readonly tensors: Readonly<Record<string, Omit<DrawnInput, "shape"> & { readonly shape?: readonly number[] }>>;
  readonly operators: readonly DrawnOperator[];
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
}

/** An operator of a subgraph. Tensors by name; undefined: omitted. */
export interface DrawnOperator {
  readonly name: string;
  readonly inputs: readonly (string | undefined)[];
  readonly outputs: readonly string[];
  readonly options?: Readonly<Record<string, OptionValue>>;
}

/** A model of subgraphs. */
export function graphModel(...graphs: readonly [DrawnGraph, ...DrawnGraph[]]): DrawnModel {
  const [{ tensors, inputs, outputs }] = graphs;
  const find = (name: string): DrawnInput => ({ type: "FLOAT32", shape: [], ...tensors[name] });
  return { inputs: inputs.map(find), outputs: outputs.map(find), graphs };
}

/** A subgraph of one operator. */
export interface DrawnBody {
  readonly operator: string;
  readonly inputs: readonly DrawnInput[];
  readonly output: DrawnInput;
}

/** The models of one operator. */
export interface Drawer {
  readonly types: readonly DrawnType[];
  draw(random: Draw, type: DrawnType): DrawnModel;
}

/** Random choices. */
export interface Draw {
  /** A number from 0 to below 1. */
  next(): number;
  /** An integer of a range, both ends included. */
  int(least: number, greatest: number): number;
  bool(): boolean;
  pick<Item>(items: readonly Item[]): Item;
  /** Extents from 1 to `most`. */
  shape(leastRank: number, mostRank: number, most?: number): number[];
  /** All places up to `count` in another order. */
  order(count: number): number[];
  /** Integers of a range. */
  ints(count: number, least: number, greatest: number): number[];
}

export function createDraw(seed: number): Draw {
  const next = randomSequence(seed);
  const int = (least: number, greatest: number) => least + Math.floor(next() * (greatest - least + 1));
  const pick = <Item>(items: readonly Item[]): Item => {
    const item = items[int(0, items.length - 1)];
    if (item === undefined) throw new RangeError("there is nothing to pick from");
    return item;
  };
  const ints = (count: number, least: number, greatest: number) =>
    Array.from({ length: count }, () => int(least, greatest));
  return {
    next,
    int,
    pick,
    ints,
    bool: () => next() < 0.5,
    shape: (leastRank, mostRank, most = 5) => ints(int(leastRank, mostRank), 1, most),
    order(count) {
      const places = Array.from({ length: count }, (_, place) => place);
      for (let place = count - 1; place > 0; place--) {
        const other = int(0, place);
        [places[place], places[other]] = [places[other] ?? 0, places[place] ?? 0];
      }
      return places;
    },
  };
}

export const FLOATS = ["FLOAT32"] as const;
export const WHOLE = ["INT32", "INT64"] as const;
export const BYTES = ["UINT8", "INT8"] as const;
export const QUANTISED = ["UINT8", "INT8", "INT16"] as const;

/** Returns true if tensors of a type are quantised where an operator computes with them. */
export function isQuantised(type: DrawnType): boolean {
  return type === "UINT8" || type === "INT8" || type === "INT16";
}

/** A quantisation of a type for real numbers of about `reach`; none for other types. */
export function quantisation(random: Draw, type: DrawnType, reach = 4): Pick<DrawnInput, "scale" | "zeroPoint"> {
  if (!isQuantised(type)) return {};
  const wide = reach * (0.5 + random.next());
  if (type === "INT16") return { scale: wide / 32768, zeroPoint: 0 };
  const zeroPoint = random.int(-40, 40) + (type === "UINT8" ? 128 : 0);
  return { scale: wide / 128, zeroPoint };
}

/** An input of the model. */
export function giveInput(
  random: Draw,
  type: DrawnType,
  shape: readonly number[],
  range?: readonly [number, number],
): DrawnInput {
  return {
    type,
    shape,
    ...quantisation(random, type),
    ...(range !== undefined && !isQuantised(type) && type !== "BOOL" && { range }),
  };
}

/** A result. */
export function result(random: Draw, type: DrawnType, reach?: number): DrawnOutput {
  return { type, ...quantisation(random, type, reach) };
}

/** The same quantisation as another tensor. */
export function alike({ type, scale, zeroPoint }: DrawnInput): DrawnOutput {
  return { type, ...(scale !== undefined && { scale }), ...(zeroPoint !== undefined && { zeroPoint }) };
}

/** Constants of INT32, as a list. */
export function list(...data: readonly number[]): DrawnInput {
  return { type: "INT32", shape: [data.length], data };
}

/** A constant of one element. */
export function scalar(data: number, type: DrawnType = "INT32"): DrawnInput {
  return { type, shape: [], data: [data] };
}

export function count(shape: readonly number[]): number {
  return shape.reduce((product, extent) => product * extent, 1);
}

/** A shape that broadcasts with another to it: some extents are 1, some dimensions left out. */
export function narrower(random: Draw, shape: readonly number[]): number[] {
  const kept = shape.map((extent) => (random.next() < 0.3 ? 1 : extent));
  return random.next() < 0.3 ? kept.slice(random.int(0, Math.max(0, kept.length - 1))) : kept;
}
