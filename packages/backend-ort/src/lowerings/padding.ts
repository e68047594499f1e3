/** Operations that add elements around a tensor. */
import type { KernelTensor } from "@nnhal/backend";
import { elementAt, integerRange, type TensorInfo } from "@nnhal/operations";
import { addWholeNumber, type Builder, cast, integers, real, type Value } from "../graph/builder.ts";
import { isShifted, type Lowered, refuse, type Scope, valueType, zeroPointOf } from "../graph/scope.ts";
import { align, isQuant8, numbersOf, typeName } from "./_lowering.ts";

interface One {
  readonly output: TensorInfo;
}

interface Padded {
  readonly input: KernelTensor;
  readonly paddings: KernelTensor;
}

/** The numbers of elements before and after each axis. */
export function padsOf(paddings: KernelTensor): { before: number[]; after: number[] } {
  const numbers = numbersOf("the padding", paddings);
  return {
    before: numbers.filter((_, place) => place % 2 === 0),
    after: numbers.filter((_, place) => place % 2 === 1),
  };
}

function lowerPad(scope: Scope, input: KernelTensor, paddings: KernelTensor, value: Value): Lowered {
  const { builder } = scope;
  const { before, after } = padsOf(paddings);
  const { values, lower: lowered } = align(scope, [input], input.dimensions.length);
  const order = scope.isImage(input) ? [0, 3, 1, 2] : before.map((_, axis) => axis);
  const pads = [before, after].map((side) => order.map((axis) => elementAt(side, axis)));
  const from = elementAt(values, 0);
  const dims = from.dims.map((extent, axis) => pads.reduce((sum, side) => sum + elementAt(side, axis), extent));
  const pad = (image: Value, filler: Value) =>
    builder.node("Pad", [image, integers(builder, pads.flat()), filler], { type: image.type, dims });
  if (from.type !== "int16") return lowered(pad(from, value));
  // The engine pads no 16-bit integers.
  const [image, filler] = [from, value].map((each) => cast(builder, each, "int32"));
  return lowered(cast(builder, pad(image ?? from, filler ?? value), "int16"));
}

/** A scalar constant with the type of a tensor's value. */
export function element(builder: Builder, info: TensorInfo, number: number): Value {
  const type = valueType(info.type);
  return type === "float32" ? real(builder, number) : addWholeNumber(builder, type, number);
}

/** Quantised tensors are padded with their zero point. */
export function pad({ input, paddings }: Padded, _: One, scope: Scope): Lowered {
  return lowerPad(scope, input, paddings, element(scope.builder, input, zeroPointOf(input)));
}

/** The value has the type of the elements. Of an INT32 for 8-bit elements only the low byte counts. */
export function padV2({ input, paddings, value }: Padded & { readonly value: number }, _: One, scope: Scope): Lowered {
  let number = value;
  if (isQuant8(input)) {
    const [least] = integerRange(input.type);
    number = ((value - least) & 0xff) + least + (isShifted(input.type) ? 128 : 0);
  }
  return lowerPad(scope, input, paddings, element(scope.builder, input, number));
}

/** The engine repeats the elements within the border, but not the border itself. */
export function mirrorPad(
  { input, paddings, mode }: Padded & { readonly mode: number },
  { output }: One,
  { builder, read }: Scope,
): Lowered {
  if (mode !== 0) refuse(`mode ${mode} is not available; only 0 is`);
  const { before, after } = padsOf(paddings);
  const value = read(input);
  if (value.type === "int16") refuse(`${typeName(input)} is not available`);
  const result = { type: value.type, dims: output.dimensions };
  const attributes = { mode: { text: "reflect" } };
  return builder.node("Pad", [value, integers(builder, [...before, ...after])], result, { attributes });
}
