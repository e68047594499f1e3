/**
 * Rows of operators that take elements of a tensor in another order, or repeat them: each dimension is gathered by itself, which
 * is exact for every type.
 */
import { elementAt } from "@nnhal/operations";
import { listText } from "../../error.ts";
import type { Lowering } from "../lowering.ts";
import type { OperandSpec } from "../operand-types.ts";
import type { Row } from "../row.ts";

/** Most places along a dimension. */
const MOST_PLACES = 2 ** 16;

/** Gathers places along some dimensions; undefined leaves a dimension as it is. */
function gatherPlaces(op: Lowering, places: readonly (readonly number[] | undefined)[]): void {
  const input = op.inputSpec(0);
  const moved = places.flatMap((list, axis) => (list === undefined ? [] : [{ list, axis }]));
  let from = op.input(0);
  let spec: OperandSpec = input;
  if (moved.length === 0) {
    op.emitMoved("RESHAPE", [from, op.int32Tensor(input.dimensions)], input);
    return;
  }
  for (const [step, { list, axis }] of moved.entries()) {
    const inputs = [from, op.int32(axis), op.int32Tensor(list)];
    if (step === moved.length - 1) {
      op.emitMoved("GATHER", inputs, input);
      return;
    }
    spec = { ...spec, dimensions: spec.dimensions.with(axis, list.length) };
    from = op.graph.temporary(spec);
    op.emit("GATHER", inputs, [from]);
  }
}

/** Types whose elements the HAL's own operation moves. */
const movedTypes: readonly unknown[] = [
  "TENSOR_FLOAT32",
  "TENSOR_FLOAT16",
  "TENSOR_INT32",
  "TENSOR_QUANT8_ASYMM",
  "TENSOR_QUANT8_ASYMM_SIGNED",
];

/** A form with the operation that AIDL 3 adds, for its types. */
function formOfAidl(op: Lowering, form: (op: Lowering) => void): readonly ((op: Lowering) => void)[] {
  return op.halVersion >= "aidl3" && movedTypes.includes(op.inputSpec(0).type) ? [form] : [];
}

/** Refuses a shape that is not fully known, or too long a dimension. */
function knownExtents(op: Lowering): readonly number[] {
  const { dimensions } = op.inputSpec(0);
  op.ensure(
    dimensions.every((extent) => extent > 0 && extent <= MOST_PLACES),
    () => `the extents of the input: expected known ones of at most ${MOST_PLACES}, got ${listText(dimensions)}`,
  );
  return dimensions;
}

const mirrorPad: Row = {
  operator: "MIRROR_PAD",
  version: 3,
  operations: ["GATHER", "RESHAPE", "MIRROR_PAD"],
  note: "One GATHER for each padded dimension; the input's shape must be known and the paddings constants. MIRROR_PAD since AIDL 3.",
  narrowed: "inputs",
  betterForms: (op) =>
    formOfAidl(op, (draft: Lowering) => {
      const mode = draft.int32(draft.text("mode") === "REFLECT" ? 0 : 1);
      draft.emitMoved("MIRROR_PAD", [draft.input(0), draft.input(1), mode], draft.inputSpec(0));
    }),
  lower(op: Lowering) {
    const extents = knownExtents(op);
    const paddings = op.integers(1, "the paddings");
    const skipped = op.text("mode") === "REFLECT" ? 1 : 0;
    op.ensure(
      paddings.length === 2 * extents.length,
      () => `${extents.length} dimensions need ${2 * extents.length} paddings, there are ${paddings.length}`,
    );
    const places = extents.map((extent, axis) => {
      const [before, after] = [elementAt(paddings, 2 * axis), elementAt(paddings, 2 * axis + 1)];
      op.ensure(
        Math.min(before, after) >= 0 && Math.max(before, after) <= extent - skipped,
        () => `paddings of ${before} and ${after} do not fit an extent of ${extent} in mode ${op.text("mode")}`,
      );
      if (before === 0 && after === 0) return undefined;
      const inside = Array.from({ length: extent }, (_, place) => place);
      const head = inside.slice(skipped, skipped + before).reverse();
      const tail = inside.toReversed().slice(skipped, skipped + after);
      return [...head, ...inside, ...tail];
    });
    gatherPlaces(op, places);
  },
};

const reverse: Row = {
  operator: "REVERSE_V2",
  version: 3,
  operations: ["GATHER", "RESHAPE", "REVERSE"],
  note: "The input's shape must be known and the axes constants. One REVERSE since AIDL 3.",
  narrowed: "inputs",
  betterForms: (op) =>
    formOfAidl(op, (draft: Lowering) => {
      const input = draft.inputSpec(0);
      const axes = draft.integers(1, "the axes").map((axis) => draft.axis(axis, input.dimensions.length));
      const [axis, ...others] = axes;
      draft.ensure(axis !== undefined && others.length === 0, () => `${axes.length} axes need as many operations`);
      draft.emitMoved("REVERSE", [draft.input(0), draft.int32Tensor(axes)], input);
    }),
  lower(op: Lowering) {
    const extents = knownExtents(op);
    const axes = new Set(op.integers(1, "the axes").map((axis) => op.axis(axis, extents.length)));
    gatherPlaces(
      op,
      extents.map((extent, axis) =>
        axes.has(axis) ? Array.from({ length: extent }, (_, i) => extent - 1 - i) : undefined,
      ),
    );
  },
};

export const placeRows: readonly Row[] = [mirrorPad, reverse];
