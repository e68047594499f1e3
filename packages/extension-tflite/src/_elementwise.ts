/**
 * Kernels that compute element by element, in the arithmetic of the type: real numbers for floats and quantised elements, 32-bit
 * integers or 64-bit integers that wrap.
 */
import { activationRange, clamp, type Tensor, type TensorData, type TensorInfo } from "@nnhal/operations";
import { broadcastData, CHUNK } from "@nnhal/operations/kernels";
import { FusedActivationFunc } from "@nnhal/types";
import { type AnyOutput, type AnyTensor, isPlain, isQuantised, readerOf, writerOf } from "./_elements.ts";
import { filledData } from "./_phases.ts";
import { floatTypes } from "./_types.ts";
import { isLong } from "./_wider.ts";

/** A rank of any size. */
export const anyRank = [1, Number.POSITIVE_INFINITY] as const;

/**
 * A function of one element in each arithmetic that the operation has. Results of integers wrap in the output's type. Without `real`
 * quantised elements are plain integers.
 */
export interface ElementFunctions {
  readonly real?: (value: number) => number;
  readonly integer?: (value: number) => number;
  readonly long?: (value: bigint) => bigint;
}

/** The same of two elements. */
export interface PairFunctions {
  readonly real?: (left: number, right: number) => number;
  readonly integer?: (left: number, right: number) => number;
  readonly long?: (left: bigint, right: bigint) => bigint;
}

/** Runs a loop over [0, length) in parts, with a pause between two. */
export function* inParts(length: number, run: (first: number, end: number) => void): Generator<void, void> {
  for (let first = 0; first < length; first += CHUNK) {
    if (first > 0) yield;
    run(first, Math.min(first + CHUNK, length));
  }
}

/** The elements of a tensor repeated to a shape that it broadcasts to. */
export function* broadcast<T extends AnyTensor>(tensor: T, shape: readonly number[]): Generator<void, T> {
  // It only copies elements, which it does with those of any typed array.
  const data = yield* filledData(broadcastData(tensor as Tensor, shape));
  return { ...tensor, data, dimensions: shape };
}

type Kind = "real" | "integer" | "long";

/**
 * The arithmetic for operands. Of the types with a quantisation, only 16-bit ones without it are integers that wrap; 8-bit ones are so
 * in operations that have no function of real numbers.
 */
function kindOf(functions: ElementFunctions | PairFunctions, operands: readonly TensorInfo[]): Kind {
  const [{ type }] = operands;
  if (isLong(type)) return "long";
  if (!isQuantised(type)) return floatTypes.some((each) => each === type) ? "real" : "integer";
  if (functions.real === undefined) return "integer";
  const mayWrap = type === "TENSOR_QUANT16_SYMM" && functions.integer !== undefined;
  return mayWrap && operands.every(isPlain) ? "integer" : "real";
}

/** Computes each element of the output from the element of the input at the same place; an activation applies to real numbers. */
export function* mapElements(
  input: AnyTensor,
  output: AnyOutput,
  functions: ElementFunctions,
  activation: number = FusedActivationFunc.NONE,
): Generator<void, void> {
  const { real, integer, long } = functions;
  const { length } = output.data;
  const kind = kindOf(functions, [input, output]);
  if (kind === "long" && long !== undefined) {
    const [from, to] = [input.data as BigInt64Array, output.data as BigInt64Array];
    yield* inParts(length, (first, end) => {
      for (let index = first; index < end; index++) to[index] = long(from[index]);
    });
  } else if (kind === "integer" && integer !== undefined) {
    const [from, to] = [input.data as TensorData, output.data as TensorData];
    yield* inParts(length, (first, end) => {
      for (let index = first; index < end; index++) to[index] = integer(from[index]);
    });
  } else if (real !== undefined) {
    const [read, write] = [readerOf(input), writerOf(output, activation)];
    yield* inParts(length, (first, end) => {
      for (let index = first; index < end; index++) write(index, real(read(index)));
    });
  } else throw new TypeError(`there is no function of ${kind} elements`);
}

/** Computes each element of the output from those of two tensors that broadcast, then applies the fused activation. */
export function* combineElements(
  left: AnyTensor,
  right: AnyTensor,
  output: AnyOutput,
  functions: PairFunctions,
  activation: number = FusedActivationFunc.NONE,
): Generator<void, void> {
  const { real, integer, long } = functions;
  const { length } = output.data;
  const kind = kindOf(functions, [left, right, output]);
  const a = yield* broadcast(left, output.dimensions);
  const b = yield* broadcast(right, output.dimensions);
  if (kind === "long" && long !== undefined) {
    const [lefts, rights, to] = [a.data as BigInt64Array, b.data as BigInt64Array, output.data as BigInt64Array];
    yield* inParts(length, (first, end) => {
      for (let index = first; index < end; index++) to[index] = long(lefts[index], rights[index]);
      activateLongs(to.subarray(first, end), activation);
    });
  } else if (kind === "integer" && integer !== undefined) {
    const [lefts, rights, to] = [a.data as TensorData, b.data as TensorData, output.data as TensorData];
    const [least, greatest] = activationRange(activation);
    yield* inParts(length, (first, end) => {
      for (let index = first; index < end; index++) {
        to[index] = integer(lefts[index], rights[index]);
        // The result wraps before the activation applies.
        if (activation !== FusedActivationFunc.NONE) to[index] = clamp(to[index], least, greatest);
      }
    });
  } else if (real !== undefined) {
    const [readLeft, readRight, write] = [readerOf(a), readerOf(b), writerOf(output, activation)];
    yield* inParts(length, (first, end) => {
      for (let index = first; index < end; index++) write(index, real(readLeft(index), readRight(index)));
    });
  } else throw new TypeError(`there is no function of ${kind} elements`);
}

function activateLongs(data: BigInt64Array, activation: number): void {
  const [least, greatest] = activationRange(activation).map((bound) =>
    Number.isFinite(bound) ? BigInt(bound) : undefined,
  );
  for (let index = 0; index < data.length; index++) {
    if (least !== undefined && data[index] < least) data[index] = least;
    if (greatest !== undefined && data[index] > greatest) data[index] = greatest;
  }
}
