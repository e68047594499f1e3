/**
 * Custom operators that TensorFlow Lite registers itself: one that detects objects, and those of sounds.
 */
import { elementAt } from "@nnhal/operations";
import { type CustomOptions, customOptions, kindOf } from "../custom-options.ts";
import type { Lowering } from "../lowering.ts";
import type { OperandSpec } from "../operand-types.ts";
import type { CustomRow } from "../row.ts";

/** An option that must be there. */
function numberOption(op: Lowering, options: CustomOptions, name: string): number {
  const value = options(name);
  if (typeof value !== "number")
    op.fail(`custom option ${name}: expected a number, got ${value === undefined ? "nothing" : kindOf(value)}`);
  return value;
}

/** An option that is a truth value, or a number other than 0. Default: false. */
function isTrue(options: CustomOptions, name: string): boolean {
  const value = options(name);
  return value === true || (typeof value === "number" && value !== 0);
}

const places = ["the box encodings", "the class scores", "the anchors"];

const detectionPostProcess: CustomRow = {
  customCode: "TFLite_Detection_PostProcess",
  version: 1,
  operations: ["DETECTION_POSTPROCESSING", "DEQUANTIZE", "CAST"],
  note: "Custom. The first class must be the background. 8-bit inputs are widened by DEQUANTIZE; classes and the count become floats by CAST. A score threshold below 0: DETECTION_POSTPROCESS of the extension.",
  lower(op: Lowering) {
    const { inputs, outputs } = op.operator;
    op.ensure(
      inputs.length === 3 && outputs.length === 4,
      () => `needs 3 inputs and 4 outputs, it has ${inputs.length} and ${outputs.length}`,
    );
    const dimensions = places.map((what, place) => {
      const { dimensions: own } = op.inputSpec(place);
      op.ensure(
        own.every((extent) => extent > 0),
        () => `the shape of ${what} (input ${place}) must be known`,
      );
      return own;
    });
    const [batches = 0, , classes = 0] = elementAt(dimensions, 1);
    const options = customOptions(op);
    const number = (name: string) => numberOption(op, options, name);
    const labels = number("num_classes");
    const threshold = number("nms_score_threshold");
    if (threshold < 0) {
      const isEmitted = emitOfExtension(op, options);
      op.ensure(isEmitted, () => `the HAL needs an nms_score_threshold of at least 0, it is ${threshold}`);
      return;
    }
    op.ensure(
      classes === labels + 1,
      () =>
        `the HAL takes the first class as the background: ${labels} classes need ${labels + 1} scores, here are ${classes}`,
    );
    const isRegular = isTrue(options, "use_regular_nms");
    const [most, mostClasses] = [number("max_detections"), number("max_classes_per_detection")];
    const mostPerClass = options("detections_per_class");
    const detections = isRegular ? most : most * mostClasses;
    ensureCount(op, detections, most, mostClasses);
    // The file does not say how many results there are.
    const shapes = [[batches, detections, 4], [batches, detections], [batches, detections], [batches]];
    for (const [place, shape] of shapes.entries()) op.graph.setShape(op.outputIndex(place), shape);
    const scores = op.asFloat(1);
    const spec = op.graph.spec(scores);
    const float = (name: string) => op.float(number(name), spec);
    const integers = (shape: readonly number[]) =>
      op.graph.temporary({ type: "TENSOR_INT32", dimensions: shape, scale: 0, zeroPoint: 0 });
    const [chosen, counts] = [integers([batches, detections]), integers([batches])];
    op.emit(
      "DETECTION_POSTPROCESSING",
      [
        ...[scores, op.asFloat(0), op.asFloat(2)],
        ...scales.map(float),
        ...[op.bool(isRegular), op.int32(most), op.int32(mostClasses)],
        op.int32(typeof mostPerClass === "number" ? mostPerClass : DEFAULT_PER_CLASS),
        ...thresholds.map(float),
        op.bool(false),
      ],
      [op.output(2), op.output(0), chosen, counts],
    );
    op.emit("CAST", [chosen], [op.output(1)]);
    op.emit("CAST", [counts], [op.output(3)]);
  },
};

/** Refuses a number of detections that no result can have. */
function ensureCount(op: Lowering, count: number, most: number, mostClasses: number): void {
  op.ensure(
    Number.isInteger(count) && count > 0 && count <= 0x7fff_ffff,
    () => `max_detections and max_classes_per_detection: expected at least 1, got ${most} and ${mostClasses}`,
  );
}

const thresholds = ["nms_score_threshold", "nms_iou_threshold"] as const;
const scales = ["y_scale", "x_scale", "h_scale", "w_scale"] as const;

/** Emits the extension's operation, which computes as TensorFlow Lite does. False without the extension. */
function emitOfExtension(op: Lowering, options: CustomOptions): boolean {
  const number = (name: string) => numberOption(op, options, name);
  const [most, mostClasses] = [number("max_detections"), number("max_classes_per_detection")];
  const mostPerClass = options("detections_per_class");
  const count = most * mostClasses;
  ensureCount(op, count, most, mostClasses);
  const shapes = [[1, count, 4], [1, count], [1, count], [1]];
  for (const [place, shape] of shapes.entries()) op.graph.setShape(op.outputIndex(place), shape);
  const spec: OperandSpec = { type: "TENSOR_FLOAT32", dimensions: [], scale: 0, zeroPoint: 0 };
  const float = (name: string) => op.float(number(name), spec);
  const inputs = [
    ...[op.input(0), op.input(1), op.input(2), op.int32(most), op.int32(mostClasses)],
    op.int32(typeof mostPerClass === "number" ? mostPerClass : DEFAULT_PER_CLASS),
    op.bool(isTrue(options, "use_regular_nms")),
    ...thresholds.map(float),
    op.int32(number("num_classes")),
    ...scales.map(float),
  ];
  return op.emitExtended("DETECTION_POSTPROCESS", inputs, [0, 1, 2, 3].map(op.output));
}

/** Value of TensorFlow Lite if detections_per_class is missing. */
const DEFAULT_PER_CLASS = 100;

/** A custom operator that only the extension has. */
function ofExtension(customCode: string, note?: string): CustomRow {
  return {
    customCode,
    version: 1,
    operations: [],
    note: note === undefined ? "Custom." : `Custom. ${note}`,
    lower: (op: Lowering) => op.fail(`the HAL has no counterpart of the custom operator ${customCode}`),
  };
}

export const customRows: readonly CustomRow[] = [
  detectionPostProcess,
  ofExtension("AudioSpectrogram"),
  ofExtension("Mfcc"),
  ofExtension("NumericVerify", "Computed only if an output depends on it."),
];
