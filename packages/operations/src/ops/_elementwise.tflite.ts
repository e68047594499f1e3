/**
 * Kernels that compute element by element, in the arithmetic of the type: real numbers for floats and quantised elements, 32-bit
 * integers or 64-bit integers that wrap.
 */

import { FusedActivationFunc } from "@nnhal/types";
import { activationRange } from "../activation.ts";
import { clamp } from "../fixed-point.ts";
import type { Phase } from "../phases.ts";
import type { TensorInfo } from "../tensor.ts";
import { broadcastData } from "./_broadcast.ts";
import { type AnyOutput, type AnyTensor, isPlain, isQuantised, readerOf, writerOf } from "./_elements.tflite.ts";
import { longsIn, movable, numbersIn } from "./_integers.tflite.ts";
import { floatTypes } from "./_types.tflite.ts";
import { isLong } from "./_wider.tflite.ts";

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

/** The elements of a tensor repeated to a shape that it broadcasts to, and the phases that write them. */
export function broadcast<T extends AnyTensor>(
  tensor: T,
  shape: readonly number[],
): { readonly tensor: T; readonly phases: readonly Phase[] } {
  // It only copies elements, which it does with those of any typed array.
  const { data, phases } = broadcastData({ ...tensor, data: movable(tensor.data) }, shape);
  return { tensor: { ...tensor, data, dimensions: shape }, phases };
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
export function mapElements(
  input: AnyTensor,
  output: AnyOutput,
  functions: ElementFunctions,
  activation: number = FusedActivationFunc.NONE,
): Phase {
  const { real, integer, long } = functions;
  const units = output.data.length;
  const kind = kindOf(functions, [input, output]);
  if (kind === "long" && long !== undefined) {
    const [from, to] = [longsIn(input.data), longsIn(output.data)];
    return {
      units,
      compute(first, end) {
        for (let index = first; index < end; index++) to[index] = long(from[index]);
      },
    };
  }
  if (kind === "integer" && integer !== undefined) {
    const [from, to] = [numbersIn(input.data), numbersIn(output.data)];
    return {
      units,
      compute(first, end) {
        for (let index = first; index < end; index++) to[index] = integer(from[index]);
      },
    };
  }
  if (real !== undefined) {
    const [read, write] = [readerOf(input), writerOf(output, activation)];
    return {
      units,
      compute(first, end) {
        for (let index = first; index < end; index++) write(index, real(read(index)));
      },
    };
  }
  throw new TypeError(`there is no function of ${kind} elements`);
}

/** Computes each element of the output from those of two tensors that broadcast, then applies the fused activation. */
export function combineElements(
  left: AnyTensor,
  right: AnyTensor,
  output: AnyOutput,
  functions: PairFunctions,
  activation: number = FusedActivationFunc.NONE,
): readonly Phase[] {
  const { real, integer, long } = functions;
  const kind = kindOf(functions, [left, right, output]);
  const { tensor: a, phases: ofLeft } = broadcast(left, output.dimensions);
  const { tensor: b, phases: ofRight } = broadcast(right, output.dimensions);
  const after = (compute: Phase["compute"]) => [...ofLeft, ...ofRight, { units: output.data.length, compute }];
  if (kind === "long" && long !== undefined) {
    const [lefts, rights, to] = [longsIn(a.data), longsIn(b.data), longsIn(output.data)];
    return after((first, end) => {
      for (let index = first; index < end; index++) to[index] = long(lefts[index], rights[index]);
      activateLongs(to.subarray(first, end), activation);
    });
  }
  if (kind === "integer" && integer !== undefined) {
    const [lefts, rights, to] = [numbersIn(a.data), numbersIn(b.data), numbersIn(output.data)];
    const [least, greatest] = activationRange(activation);
    return after((first, end) => {
      for (let index = first; index < end; index++) {
        to[index] = integer(lefts[index], rights[index]);
        // The result wraps before the activation applies.
        if (activation !== FusedActivationFunc.NONE) to[index] = clamp(to[index], least, greatest);
      }
    });
  }
  if (real !== undefined) {
    const [readLeft, readRight, write] = [readerOf(a), readerOf(b), writerOf(output, activation)];
    return after((first, end) => {
      for (let index = first; index < end; index++) write(index, real(readLeft(index), readRight(index)));
    });
  }
  throw new TypeError(`there is no function of ${kind} elements`);
}

function activateLongs(data: BigInt64Array | BigUint64Array, activation: number): void {
  const [least, greatest] = activationRange(activation).map((bound) =>
    Number.isFinite(bound) ? BigInt(bound) : undefined,
  );
  for (let index = 0; index < data.length; index++) {
    if (least !== undefined && data[index] < least) data[index] = least;
    if (greatest !== undefined && data[index] > greatest) data[index] = greatest;
  }
}
