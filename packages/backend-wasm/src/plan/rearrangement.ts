/** Operations of AIDL that put elements elsewhere. */
import { extentProduct } from "@nnhal/operations";
import { addMove, type Builder, operandOf, outputOf, type Value } from "./builder.ts";
import { constantOf, type LoweringTable } from "./lowering.ts";
import { padsOf } from "./movement.ts";

/** A part of an axis: `count` elements from `first` on, or backwards from it, and their first place in the result. */
interface Part {
  readonly first: number;
  readonly count: number;
  readonly isBackwards: boolean;
  readonly place: number;
}

/** Copies parts of an axis of a value into a target with another extent of that axis. */
function addParts(builder: Builder, name: string, value: Value, axis: number, parts: readonly Part[], target: Value) {
  const outer = extentProduct(value.dimensions, 0, axis);
  const inner = extentProduct(value.dimensions, axis + 1);
  const [extent = 1, length = 1] = [value.dimensions[axis], target.dimensions[axis]];
  for (const { first, count, isBackwards, place } of parts) {
    if (count === 0) continue;
    const from = operandOf(value, [extent * inner, isBackwards ? -inner : inner, 1], first * inner);
    addMove(builder, name, [outer, count, inner], from, operandOf(target, [length * inner, inner, 1], place * inner));
  }
}

/** The lowerings. */
export const rearrangements: LoweringTable = {
  PACK({ axis, values }, { output }, builder) {
    const target = outputOf(builder, output);
    const inner = extentProduct(output.dimensions, axis + 1);
    const outer = extentProduct(output.dimensions, 0, axis);
    for (const [place, tensor] of values.entries()) {
      const from = operandOf(builder.read(tensor), [inner, 1]);
      addMove(builder, "PACK", [outer, inner], from, operandOf(target, [values.length * inner, 1], place * inner));
    }
    return target;
  },
  REVERSE({ input, axis }, { output }, builder) {
    const target = outputOf(builder, output);
    const [along = 0] = Array.from(constantOf("the axis", axis));
    const count = input.dimensions[along] ?? 1;
    const parts = [{ first: count - 1, count, isBackwards: true, place: 0 }];
    addParts(builder, "REVERSE", builder.read(input), along, parts, target);
    return target;
  },
  MIRROR_PAD({ input, paddings, mode }, { output }, builder) {
    const pads = padsOf(paddings, input.dimensions.length);
    const border = mode === 0 ? 1 : 0;
    // Axis by axis: a reflection of one has those of the axes before it.
    let value = builder.read(input);
    const axes = [...pads.keys()].filter((axis) => pads[axis]?.some((count) => count > 0));
    for (const axis of axes) {
      const [[before, after] = [0, 0], extent = 1] = [pads[axis], value.dimensions[axis]];
      const dimensions = value.dimensions.with(axis, before + extent + after);
      const target = axis === axes.at(-1) ? outputOf(builder, output) : builder.value(value.type, dimensions);
      const parts = [
        { first: before - 1 + border, count: before, isBackwards: true, place: 0 },
        { first: 0, count: extent, isBackwards: false, place: before },
        { first: extent - 1 - border, count: after, isBackwards: true, place: before + extent },
      ];
      addParts(builder, "MIRROR_PAD", value, axis, parts, target);
      value = target;
    }
    return value;
  },
};
