/**
 * Operations that choose among boxes: BOX_WITH_NMS_LIMIT and DETECTION_POSTPROCESSING.
 */

import { describe, expect, it } from "vitest";
import {
  boolScalar,
  declareOutput,
  expectClose,
  f32,
  f32Scalar,
  i32,
  i32Scalar,
  inOrder,
  mismatchOf,
  type Named,
  q16Asymm,
  runOperation,
  tensorOf,
  valuesOf,
  versionOf,
} from "./_run.test-helper.ts";
import { expectFloatSignature } from "./_signature.test-helper.ts";
import { boxWithNmsLimit } from "./box-with-nms-limit.ts";
import { detectionPostprocessing } from "./detection-postprocessing.ts";

const float = declareOutput("TENSOR_FLOAT32");
const integer = declareOutput("TENSOR_INT32");

/** Overlap of the first two: 1/2. The third stands apart. */
const [whole, half, apart] = [
  [0, 0, 10, 10],
  [0, 0, 10, 5],
  [20, 20, 30, 30],
];
const nowhere = [0, 0, 0, 0];

describe("BOX_WITH_NMS_LIMIT", () => {
  const inputs: Named = {
    scores: f32([3, 2], [1, 0.75, 1, 0.875, 1, 0.5]),
    boxes: f32([3, 8], [...nowhere, ...half, ...nowhere, ...whole, ...nowhere, ...apart]),
    batches: i32([3], [0, 0, 0]),
    scoreThreshold: f32Scalar(0.25),
    most: i32Scalar(-1),
    kernel: i32Scalar(0),
    overlapThreshold: f32Scalar(0.5),
    sigma: f32Scalar(0.5),
    leastScore: f32Scalar(0.125),
  };
  const outputs = [float, float, integer, integer];
  const run = (changes: Named = {}) =>
    runOperation(boxWithNmsLimit, inOrder(inputs, changes), { outputs }).map(valuesOf);

  it("drops a box that overlaps a better one; the background does not count", () => {
    expect(run()).toEqual([
      [0.875, 0.5],
      [...whole, ...apart],
      [1, 1],
      [0, 0],
    ]);
  });

  it("drops from the overlap threshold on", () => {
    expect(run({ overlapThreshold: f32Scalar(0.5001) })[0]).toEqual([0.875, 0.75, 0.5]);
  });

  it("with a linear kernel lowers scores from the threshold on", () => {
    const linear = { kernel: i32Scalar(1) };
    const [scores, boxes] = run(linear);
    expectClose(scores, [0.875, 0.5, 0.375]);
    expect(boxes).toEqual([...whole, ...apart, ...half]);
    expectClose(run({ ...linear, overlapThreshold: f32Scalar(0.5001) })[0], [0.875, 0.75, 0.5]);
  });

  it("with a Gaussian kernel lowers all scores", () => {
    expectClose(run({ kernel: i32Scalar(2) })[0], [0.875, 0.5, 0.75 * Math.exp(-0.5)]);
    expectClose(run({ kernel: i32Scalar(2), sigma: f32Scalar(0.25) })[0], [0.875, 0.5, 0.75 * Math.exp(-1)]);
  });

  it("drops scores that fall below the least", () => {
    expect(run({ kernel: i32Scalar(1), leastScore: f32Scalar(0.375) })[0]).toHaveLength(3);
    expect(run({ kernel: i32Scalar(1), leastScore: f32Scalar(0.376) })[0]).toEqual([0.875, 0.5]);
  });

  it("takes scores above the threshold only", () => {
    expect(run({ scoreThreshold: f32Scalar(0.5) })[0]).toEqual([0.875]);
    expect(run({ scoreThreshold: f32Scalar(0.4999) })[0]).toEqual([0.875, 0.5]);
    expect(run({ scoreThreshold: f32Scalar(0.9) })).toEqual([[], [], [], []]);
  });

  it.each([
    [1, [0.875]],
    [2, [0.875, 0.5]],
    [3, [0.875, 0.5]],
  ])("takes %d at most", (most, expected) => expect(run({ most: i32Scalar(most) })[0]).toEqual(expected));

  it("keeps batches apart", () => {
    expect(run({ batches: i32([3], [4, 7, 7]) })).toEqual([
      [0.75, 0.875, 0.5],
      [...half, ...whole, ...apart],
      [1, 1, 1],
      [4, 7, 7],
    ]);
  });

  it("keeps classes apart, limits them together and returns them class by class", () => {
    const boxes = f32([2, 12], [...nowhere, ...whole, ...whole, ...nowhere, ...apart, ...half]);
    const changes = { boxes, scores: f32([2, 3], [1, 0.5, 0.75, 1, 0.625, 0.875]), batches: i32([2], [0, 0]) };
    expect(run(changes)).toEqual([
      [0.625, 0.5, 0.875],
      [...apart, ...whole, ...half],
      [1, 1, 2],
      [0, 0, 0],
    ]);
    expect(run({ ...changes, most: i32Scalar(2) }).slice(0, 3)).toEqual([
      [0.625, 0.875],
      [...apart, ...half],
      [1, 2],
    ]);
  });

  it.each([
    ["TENSOR_QUANT8_ASYMM", 20, "1.2"],
    ["TENSOR_QUANT8_ASYMM_SIGNED", -20, "1.3"],
  ] as const)("of %s", (type, zeroPoint, version) => {
    const scale = 1 / 128;
    const scores = [1, 0.75, 1, 0.5, 1, 0.25].map((value) => zeroPoint + (value * 128) / 2);
    const corners = valuesOf(inputs.boxes).map((value) => 8 * value);
    const quantised = {
      scores: tensorOf(type, [3, 2], scores, { scale, zeroPoint }),
      boxes: q16Asymm([3, 8], 0.125, 0, corners),
      scoreThreshold: f32Scalar(0.0625),
    };
    const list = inOrder(inputs, quantised);
    const declaredOutputs = [
      declareOutput(type, { scale, zeroPoint }),
      declareOutput("TENSOR_QUANT16_ASYMM", { scale: 0.125 }),
      integer,
      integer,
    ];
    const [chosen, boxes] = runOperation(boxWithNmsLimit, list, { outputs: declaredOutputs });
    expect(valuesOf(chosen)).toEqual([zeroPoint + 48, zeroPoint + 16]);
    expect(valuesOf(boxes)).toEqual([...half, ...apart].map((value) => 8 * value));
    expect(versionOf(boxWithNmsLimit, list, { outputs: declaredOutputs })).toBe(version);
    const other = inOrder(inputs, { ...quantised, boxes: q16Asymm([3, 8], 0.25, 0, corners) });
    expect(() => runOperation(boxWithNmsLimit, other, { outputs: declaredOutputs })).toThrow(
      "the boxes: expected scale 0.125 and zero point 0, got 0.25 and 0",
    );
  });

  it("refuses operands that break its rules", () => {
    for (const kernel of [-1, 3]) {
      expect(() => run({ kernel: i32Scalar(kernel) })).toThrow(`kernel ${kernel} is none of hard 0, linear 1`);
    }
    expect(() => run({ scores: f32([3, 1]), boxes: f32([3, 4]) })).toThrow(
      "expected at least 2 classes (the first is the background), got 1",
    );
    expect(() => run({ boxes: f32([3, 9]) })).toThrow("the shape of the boxes");
    expect(() => run({ batches: i32([2]) })).toThrow("the shape of the batch indexes");
    const reversed = [...nowhere, ...half, ...nowhere, 1, 0, 0, 0, ...nowhere, ...apart];
    expect(() => run({ boxes: f32([3, 8], reversed) })).toThrow("box 3 ends before it begins: 1, 0, 0, 0");
    expect(run({ scores: f32([0, 2]), boxes: f32([0, 8]), batches: i32([0]) })).toEqual([[], [], [], []]);
  });

  it("takes float32 and float16 alone", () => {
    const types = ["TENSOR_FLOAT32", "TENSOR_FLOAT32", "TENSOR_INT32", "TENSOR_INT32"] as const;
    expectFloatSignature(boxWithNmsLimit, inOrder(inputs), types);
  });
});

describe("DETECTION_POSTPROCESSING", () => {
  // The anchors (centre y, centre x, height, width) of the boxes above, as (y1, x1, y2, x2).
  const inputs: Named = {
    scores: f32([1, 3, 3], [0, 0.25, 0.75, 0, 0.875, 0.125, 0, 0.375, 0.5]),
    deltas: f32([1, 3, 4]),
    anchors: f32([3, 4], [5, 2.5, 10, 5, 5, 5, 10, 10, 25, 25, 10, 10]),
    scaleY: f32Scalar(10),
    scaleX: f32Scalar(5),
    scaleHeight: f32Scalar(5),
    scaleWidth: f32Scalar(2),
    useRegularNms: boolScalar(false),
    most: i32Scalar(3),
    mostClassesPerDetection: i32Scalar(1),
    mostPerClass: i32Scalar(3),
    scoreThreshold: f32Scalar(0.25),
    overlapThreshold: f32Scalar(0.5),
    isBackgroundInLabel: boolScalar(false),
  };
  const narrow = [0, 0, 10, 5];
  const outputs = [float, float, integer, integer];
  const run = (changes: Named = {}) =>
    runOperation(detectionPostprocessing, inOrder(inputs, changes), { outputs }).map(valuesOf);
  const regular = { useRegularNms: boolScalar(true) };

  it("chooses boxes by their best class; unused places are 0", () => {
    expect(run()).toEqual([[0.875, 0.5, 0], [...whole, ...apart, ...nowhere], [0, 1, 0], [2]]);
  });

  it("returns labels unchanged if the background is one", () => {
    expect(run({ isBackgroundInLabel: boolScalar(true) })[2]).toEqual([1, 2, 0]);
  });

  it("drops from the overlap threshold on", () => {
    const [scores, boxes, labels, counts] = run({ overlapThreshold: f32Scalar(0.5001) });
    expect([scores, labels, counts]).toEqual([[0.875, 0.75, 0.5], [0, 1, 1], [3]]);
    expect(boxes).toEqual([...whole, ...narrow, ...apart]);
  });

  it("returns several classes of a box, each with its score", () => {
    const [scores, boxes, labels, counts] = run({ mostClassesPerDetection: i32Scalar(2) });
    expect(scores).toEqual([0.875, 0.125, 0.5, 0.375, 0, 0]);
    expect(boxes.slice(0, 16)).toEqual([...whole, ...whole, ...apart, ...apart]);
    expect([labels, counts]).toEqual([[0, 1, 1, 0, 0, 0], [4]]);
  });

  it("in regular mode suppresses in every class, and returns the best of all", () => {
    const [scores, boxes, labels, counts] = run(regular);
    expect([scores, labels, counts]).toEqual([[0.875, 0.75, 0.5], [0, 1, 1], [3]]);
    expect(boxes).toEqual([...whole, ...narrow, ...apart]);
    expect(run({ ...regular, most: i32Scalar(5) })[0]).toEqual([0.875, 0.75, 0.5, 0.375, 0]);
    expect(run({ ...regular, most: i32Scalar(5), mostPerClass: i32Scalar(1) })[0]).toEqual([0.875, 0.75, 0, 0, 0]);
  });

  it.each([false, true])("takes scores above the threshold only; regular: %s", (useRegularNms) => {
    const changes = { useRegularNms: boolScalar(useRegularNms) };
    expect(run({ ...changes, scoreThreshold: f32Scalar(0.875) })[3]).toEqual([0]);
    expect(run({ ...changes, scoreThreshold: f32Scalar(0.8749) })[3]).toEqual([1]);
  });

  it("decodes deltas by the scales, batch by batch, and ignores numbers after the first four", () => {
    const moved = [10, -4, 5 * Math.LN2, 0, 7];
    const still = [0, 0, 0, 0, 7];
    const [scores, boxes, , counts] = run({
      scores: f32([2, 1, 2], [0, 0.5, 0, 0.75]),
      deltas: f32([2, 1, 5], [...still, ...moved]),
      anchors: f32([1, 4], [5, 5, 10, 5]),
      most: i32Scalar(1),
    });
    expect([scores, counts]).toEqual([
      [0.5, 0.75],
      [1, 1],
    ]);
    // y: 5 + 10 · 10 / 10 = 15, x: 5 + 5 · -4 / 5 = 1, height 10 · 2, width 5
    expectClose(boxes, [0, 2.5, 10, 7.5, 5, -1.5, 25, 3.5]);
  });

  it.each(["scaleY", "scaleX", "scaleHeight", "scaleWidth"])("needs %s above 0", (name) => {
    for (const value of [0, -1])
      expect(() => run({ [name]: f32Scalar(value) })).toThrow(`${name}: expected a number > 0, got ${value}`);
  });

  it.each(["overlapThreshold", "scoreThreshold"])("needs %s of at least 0", (name) => {
    expect(() => run({ [name]: f32Scalar(-0.5) })).toThrow(`${name}: expected a number ≥ 0, got -0.5`);
    expect(() => run({ [name]: f32Scalar(0) })).not.toThrow();
  });

  it("needs limits of at least 1, of the mode that it runs in", () => {
    const zero = i32Scalar(0);
    expect(() => run({ most: zero })).toThrow("most: expected a number > 0, got 0");
    expect(() => run({ mostClassesPerDetection: zero })).toThrow("classes per detection: expected a number > 0, got 0");
    expect(() => run({ mostPerClass: zero })).not.toThrow();
    expect(() => run({ ...regular, mostPerClass: zero })).toThrow(
      "the most per class or classes per detection: expected a number > 0, got 0",
    );
    expect(() => run({ ...regular, mostClassesPerDetection: zero })).not.toThrow();
  });

  it("refuses other shapes", () => {
    expect(() => run({ scores: f32([1, 3, 1]) })).toThrow(
      "expected at least 2 classes (the first is the background), got 1",
    );
    expect(() => run({ deltas: f32([1, 3, 3]) })).toThrow("a box encoding: expected 4 or more numbers, got 3");
    expect(() => run({ deltas: f32([1, 2, 4]) })).toThrow("the shape of the deltas");
    expect(() => run({ anchors: f32([2, 4]) })).toThrow("the shape of the anchors");
    expect(run({ scores: f32([0, 3, 3]), deltas: f32([0, 3, 4]) })).toEqual([[], [], [], []]);
  });

  it("takes float32 and float16 alone", () => {
    const types = ["TENSOR_FLOAT32", "TENSOR_FLOAT32", "TENSOR_INT32", "TENSOR_INT32"] as const;
    expectFloatSignature(detectionPostprocessing, inOrder(inputs), types);
    const floats = types.map((type) => declareOutput(type));
    for (const type of ["TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM_SIGNED"] as const) {
      const list = inOrder(inputs, { scores: tensorOf(type, [1, 3, 3]) });
      expect(mismatchOf(detectionPostprocessing, list, { outputs: floats })).toContain(`got ${type}`);
    }
  });
});
