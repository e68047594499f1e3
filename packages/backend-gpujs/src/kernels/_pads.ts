/** Padded tensors. */
import type { KernelTensor } from "@nnhal/backend";
import { stridesOf } from "@nnhal/operations";
import { scalar, type Writer } from "./_code.ts";
import { ravel } from "./_index.ts";

/** The numbers of elements added before and after an axis. */
export type Pad = readonly [before: number, after: number];

/** The pads in a [rank, 2] tensor. */
export function padsOf({ data = [] }: { readonly data?: ArrayLike<number> }): Pad[] {
  return Array.from({ length: data.length / 2 }, (_, axis) => [data[2 * axis], data[2 * axis + 1]]);
}

/** An element of a padded tensor; it is `value` outside the tensor. */
export function readPadded(writer: Writer, input: KernelTensor, pads: readonly Pad[], value: number): string {
  const { index, line, read, at } = writer;
  const { dimensions } = input;
  const from = read(input);
  const coordinates = dimensions.map((_, axis) =>
    pads[axis][0] === 0 ? at[axis] : index(`${at[axis]} - ${pads[axis][0]}`),
  );
  const conditions = coordinates.flatMap((coordinate, axis) => [
    ...(pads[axis][0] > 0 ? [`${coordinate} >= 0`] : []),
    ...(pads[axis][1] > 0 ? [`${coordinate} < ${dimensions[axis]}`] : []),
  ]);
  const element = from(ravel(coordinates, stridesOf(dimensions)));
  if (conditions.length === 0) return element;
  line(`let value = ${scalar(writer, value)};\nif (${conditions.join(" && ")}) {\nvalue = ${element};\n}`);
  return "value";
}
