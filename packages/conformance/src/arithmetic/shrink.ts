/**
 * From an operation that fails to the smallest one that fails too: each extent, scalar, quantisation and element is made as simple as it
 * can be. A candidate that the reference refuses, or that the device has right, is not taken.
 */

import { type Candidates, shrinkBy } from "@nnhal/diff";
import { isTensorType, type Tensor, type TensorData } from "@nnhal/operations";
import type { RandomOperation } from "../random/draw.ts";

/** Returns true if a candidate still fails. */
export type StillFails = (candidate: RandomOperation) => Promise<boolean>;

/** The most candidates that are tried. */
const mostTries = 250;

/** Shrinks an operation until no simpler one fails, or `mostTries` were tried. */
export function shrink(drawn: RandomOperation, stillFails: StillFails): Promise<RandomOperation> {
  const passes = [simplerShapes, simplerOperands, simplerElements];
  return shrinkBy(drawn, { passes, stillFails, mostTries });
}

/** Each extent smaller: in all tensors that have it, then in each alone. */
const simplerShapes: Candidates<RandomOperation> = function* (drawn) {
  const extents = new Set(drawn.inputs.flatMap((input) => input?.dimensions ?? []));
  for (const extent of [...extents].sort((a, b) => b - a)) {
    for (const smaller of smallerThan(extent)) {
      yield withInputs(drawn, (input) =>
        input.dimensions.reduce((cut, own, axis) => (own === extent ? cutTo(cut, axis, smaller) : cut), input),
      );
      for (const [position, input] of drawn.inputs.entries()) {
        for (const [axis, own] of (input?.dimensions ?? []).entries()) {
          if (own === extent) yield withInput(drawn, position, (tensor) => cutTo(tensor, axis, smaller));
        }
      }
    }
  }
};

/** Operands omitted, scalars 0 or 1, scales 1 and zero points 0. */
const simplerOperands: Candidates<RandomOperation> = function* (drawn) {
  for (const [position, input] of drawn.inputs.entries()) {
    const param = drawn.signature.inputs[position];
    if (input === undefined || param === undefined) continue;
    if (param.omittable) yield { ...drawn, inputs: drawn.inputs.with(position, undefined) };
    const [value = 0] = input.data;
    if (!isTensorType(input.type)) {
      for (const simple of [0, 1]) if (Math.abs(value) > simple) yield withInput(drawn, position, fillWith(simple));
    }
  }
};

/** Elements 0: all of a tensor, halves, and each of a few. */
const simplerElements: Candidates<RandomOperation> = function* (drawn) {
  for (const [position, input] of drawn.inputs.entries()) {
    if (input === undefined || !isTensorType(input.type) || drawn.signature.inputs[position]?.read) continue;
    const zero = input.zeroPoint;
    const { length } = input.data;
    const parts = [
      [0, length],
      [0, length >> 1],
      [length >> 1, length],
    ];
    if (length <= 16) for (let index = 0; index < length; index++) parts.push([index, index + 1]);
    for (const [from = 0, to = 0] of parts) {
      if (input.data.subarray(from, to).some((element) => !Object.is(element, zero))) {
        yield withInput(drawn, position, (tensor) => ({ ...tensor, data: tensor.data.slice().fill(zero, from, to) }));
      }
    }
  }
};

function smallerThan(extent: number): number[] {
  return [...new Set([1, extent >> 1, extent - 1])].filter((smaller) => smaller > 0 && smaller < extent);
}

function withInputs(drawn: RandomOperation, change: (input: Tensor) => Tensor): RandomOperation {
  return { ...drawn, inputs: drawn.inputs.map((input) => input && change(input)) };
}

function withInput(drawn: RandomOperation, position: number, change: (input: Tensor) => Tensor): RandomOperation {
  return {
    ...drawn,
    inputs: drawn.inputs.map((input, index) => (index === position && input ? change(input) : input)),
  };
}

function fillWith(value: number): (input: Tensor) => Tensor {
  return (input) => ({ ...input, data: input.data.slice().fill(value) });
}

/** The first elements along an axis, and the scales of the channels that are left. */
function cutTo(tensor: Tensor, axis: number, extent: number): Tensor {
  const { dimensions, channelQuant, data } = tensor;
  const old = dimensions[axis] ?? 0;
  const inner = dimensions.slice(axis + 1).reduce((product, one) => product * one, 1);
  const kept: TensorData = data.filter((_, index) => Math.floor(index / inner) % old < extent);
  return {
    ...tensor,
    dimensions: dimensions.with(axis, extent),
    data: kept,
    ...(channelQuant?.channelDim === axis && {
      channelQuant: { ...channelQuant, scales: channelQuant.scales.slice(0, extent) },
    }),
  };
}
