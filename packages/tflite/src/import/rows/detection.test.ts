import { flexible } from "@nnhal/test-kit/flexbuffer";
import { describe, expect, test } from "vitest";
import {
  changeModel,
  execute,
  firstOperator,
  importLines,
  oneOperator,
  problemOf,
  type TensorGiven,
} from "../../_model.test-helper.ts";
import type { TfliteModel } from "../../model.ts";
import { importTflite } from "../import.ts";

const options = {
  max_detections: 2,
  max_classes_per_detection: 1,
  detections_per_class: 5,
  num_classes: 2,
  nms_score_threshold: 0.25,
  nms_iou_threshold: 0.5,
  y_scale: 1,
  x_scale: 1,
  h_scale: 1,
  w_scale: 1,
  use_regular_nms: false,
};

// Three boxes; scores of the background and two classes.
const boxes = { shape: [1, 3, 4] } as const;
const scores = { shape: [1, 3, 3] } as const;
const anchors = { shape: [3, 4], data: [1, 1, 2, 2, 1, 1.125, 2, 2, 5, 5, 2, 2] } as const;
const outputs = { boxes_out: {}, classes: {}, scores_out: {}, count: {} };

function detection(
  given: object = options,
  tensors: Partial<Record<"boxes" | "scores" | "anchors", TensorGiven>> = {},
): TfliteModel {
  const model = oneOperator(
    "CUSTOM",
    { boxes, scores, anchors, ...tensors },
    outputs,
    {},
    {
      customCode: "TFLite_Detection_PostProcess",
    },
  );
  return changeModel(model, () => ({ operators: [{ ...firstOperator(model), customOptions: flexible(given) }] }));
}

describe("TFLite_Detection_PostProcess", () => {
  test("is DETECTION_POSTPROCESSING, with outputs in another order", async () => {
    const model = detection();
    expect(importLines(model)).toEqual([
      "DETECTION_POSTPROCESSING(in1, in0, FLOAT32[3,4](1,1,2,2,1,1.125,2,2,5,5,2,2), 1, 1, 1, 1, 0, 2, 1, 5, 0.25, 0.5, 0) -> out2, out0, t0:INT32[1,2], t1:INT32[1]",
      "CAST(t0) -> out1",
      "CAST(t1) -> out3",
    ]);
    const imported = importTflite(model);
    expect(imported.outputs.map(({ shape }) => shape)).toEqual([[1, 2, 4], [1, 2], [1, 2], [1]]);
    const zeros = new Array<number>(12).fill(0);
    // The second box overlaps the first, which is better; the third is apart.
    expect(await execute(imported, [zeros, [0, 0.75, 0.5, 0, 0.625, 0.5, 0, 0.25, 0.5]])).toEqual([
      [0, 0, 2, 2, 4, 4, 6, 6],
      [0, 1],
      [0.75, 0.5],
      [2],
    ]);
  });

  test("widens 8-bit inputs", () => {
    const q8 = { type: "UINT8", scale: 0.5, zeroPoint: 1 } as const;
    const lines = importLines(detection(options, { boxes: { ...boxes, ...q8 }, scores: { ...scores, ...q8 } }));
    expect(lines.map((line) => line.split("(")[0])).toEqual([
      "DEQUANTIZE",
      "DEQUANTIZE",
      "DETECTION_POSTPROCESSING",
      "CAST",
      "CAST",
    ]);
  });

  test("passes on the choice of suppression, and 100 detections for each class by default", () => {
    const { detections_per_class: _default, ...others } = options;
    const [line] = importLines(detection({ ...others, use_regular_nms: true }));
    expect(line).toContain(", 1, 1, 1, 1, 1, 2, 1, 100, 0.25, 0.5, 0) -> ");
    expect(importLines(detection({ ...others, use_regular_nms: 1 }))[0]).toBe(line);
    expect(importLines(detection({ ...options, use_regular_nms: 0 }))).toEqual(importLines(detection()));
  });

  test("with a score threshold below 0 is of the extension, and refused without it", async () => {
    const model = detection({ ...options, nms_score_threshold: -20 });
    expect(importLines(model)).toEqual([
      "nnhal.tflite DETECTION_POSTPROCESS(in0, in1, FLOAT32[3,4](1,1,2,2,1,1.125,2,2,5,5,2,2), 2, 1, 5, 0, -20, 0.5, 2, 1, 1, 1, 1) -> out0, out1, out2, out3",
    ]);
    expect(() => importTflite(model, { extensions: false })).toThrow(
      "the HAL needs an nms_score_threshold of at least 0, it is -20",
    );
    const zeros = new Array<number>(12).fill(0);
    const results = await execute(importTflite(model), [zeros, [0, -3, -5, 0, -4, -5, 0, -9, -7]]);
    expect(results).toEqual([[0, 0, 2, 2, 4, 4, 6, 6], [0, 1], [-3, -7], [2]]);
  });

  test("with a score threshold of 0 is the HAL's", () => {
    const [line] = importLines(detection({ ...options, nms_score_threshold: 0 }));
    expect(line).toMatch(/^DETECTION_POSTPROCESSING/);
  });

  test.each([
    [{ ...options, num_classes: 3 }, "3 classes need 4 scores, here are 3"],
    [{ ...options, max_detections: 0 }, "expected at least 1, got 0 and 1"],
    [{ ...options, max_detections: -1, nms_score_threshold: -1 }, "expected at least 1, got -1 and 1"],
    [{ ...options, y_scale: "one" }, "custom option y_scale: expected a number, got a text"],
    [{}, "custom option num_classes: expected a number, got nothing"],
  ])("with %j is refused", (given, message) => {
    expect(problemOf(detection(given))).toContain(message);
  });

  test("with options that are not a map, or other tensors, is refused", () => {
    const model = detection();
    const operator = firstOperator(model);
    const withOperator = (change: object) => changeModel(model, () => ({ operators: [{ ...operator, ...change }] }));
    const bad = [Uint8Array.of(1, 4, 1), "got type 1"] as const;
    const long = [new Uint8Array(2 ** 20 + 1).fill(36), "1048577 bytes of options are more than 1048576"] as const;
    for (const [customOptions, reason] of [
      [new Uint8Array(0), "num_classes: expected a number, got nothing"],
      bad,
      long,
    ] as const) {
      expect(problemOf(withOperator({ customOptions }))).toContain(reason);
    }
    expect(problemOf(withOperator({ inputs: [0, 1] }))).toContain("needs 3 inputs and 4 outputs, it has 2 and 4");
    expect(problemOf(detection(options, { boxes: { shape: [1, -1, 4] } }))).toContain(
      "the shape of the box encodings (input 0) must be known",
    );
  });

  test("with any byte of the options changed is imported or refused", () => {
    const model = detection();
    const { customOptions = new Uint8Array(0) } = firstOperator(model);
    for (let at = 0; at < customOptions.length; at++) {
      for (const value of [0, 1, 0x7f, 0x80, 0xff]) {
        const bytes = customOptions.slice();
        bytes[at] = value;
        expect(
          problemOf(changeModel(model, () => ({ operators: [{ ...firstOperator(model), customOptions: bytes }] }))),
        ).toMatch(/^(no error$|TfliteError: subgraphs\[0\])/);
      }
    }
  });
});
