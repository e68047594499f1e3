/**
 * Operations that choose among boxes: BOX_WITH_NMS_LIMIT, DETECTION_POSTPROCESSING, GENERATE_PROPOSALS.
 */
import type { OperandTypeName } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import type { Operation } from "../define.ts";
import {
  boolScalar,
  declared,
  f32,
  f32Scalar,
  type Given,
  i32,
  i32Scalar,
  mismatchOf,
  q16Asymm,
  q16Symm,
  runOperation,
  tensorOf,
  valuesOf,
  versionOf,
} from "./_run.test-helper.ts";
import { boxWithNmsLimit } from "./box-with-nms-limit.ts";
import { detectionPostprocessing } from "./detection-postprocessing.ts";
import { generateProposals } from "./generate-proposals.ts";

const float = declared("TENSOR_FLOAT32");
const integer = declared("TENSOR_INT32");

type Named = Readonly<Record<string, Given>>;

function inOrder(inputs: Named, changes: Named = {}): Given[] {
  for (const name of Object.keys(changes)) if (!(name in inputs)) throw new RangeError(`no input ${name}`);
  return Object.values({ ...inputs, ...changes });
}

function expectClose(actual: readonly number[], expected: readonly number[], tolerance = 1e-5): void {
  expect(actual).toHaveLength(expected.length);
  actual.forEach((value, index) => {
    expect(Math.abs(value - expected[index]), `element ${index}`).toBeLessThanOrEqual(tolerance);
  });
}

/** Checks that no operand can be of another type, and that no other number of operands is taken. */
function expectOneSignature(operation: Operation, inputs: readonly Given[], types: readonly OperandTypeName[]): void {
  const outputs = types.map((type) => declared(type));
  expect(versionOf(operation, inputs, { outputs })).toBe("1.2");
  const half = (type: OperandTypeName): OperandTypeName =>
    type === "FLOAT32" ? "FLOAT16" : type === "TENSOR_FLOAT32" ? "TENSOR_FLOAT16" : type;
  const halves = inputs.map(({ type, dimensions }) => tensorOf(half(type), dimensions));
  expect(versionOf(operation, halves, { outputs: types.map((type) => declared(half(type))) })).toBe("1.2");
  inputs.forEach((_, index) => {
    const changed = inputs.map((given, at) => (at === index ? tensorOf("TENSOR_BOOL8", [1]) : given));
    expect(mismatchOf(operation, changed, { outputs })).toContain(`input ${index} (`);
  });
  outputs.forEach((_, index) => {
    const changed = outputs.map((given, at) => (at === index ? declared("TENSOR_BOOL8") : given));
    expect(mismatchOf(operation, inputs, { outputs: changed })).toContain(`output ${index} (`);
  });
  expect(mismatchOf(operation, inputs.slice(1), { outputs })).toContain(`it has ${inputs.length - 1} inputs`);
  expect(mismatchOf(operation, [...inputs, f32([1])], { outputs })).toContain(`it has ${inputs.length + 1} inputs`);
  expect(mismatchOf(operation, inputs, { outputs: outputs.slice(1) })).toContain(`${outputs.length - 1} outputs`);
}

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

  it("keeps classes apart, limits them together and gives them class by class", () => {
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
      declared(type, { scale, zeroPoint }),
      declared("TENSOR_QUANT16_ASYMM", { scale: 0.125 }),
      integer,
      integer,
    ];
    const [chosen, boxes] = runOperation(boxWithNmsLimit, list, { outputs: declaredOutputs });
    expect(valuesOf(chosen)).toEqual([zeroPoint + 48, zeroPoint + 16]);
    expect(valuesOf(boxes)).toEqual([...half, ...apart].map((value) => 8 * value));
    expect(versionOf(boxWithNmsLimit, list, { outputs: declaredOutputs })).toBe(version);
    const other = inOrder(inputs, { ...quantised, boxes: q16Asymm([3, 8], 0.25, 0, corners) });
    expect(() => runOperation(boxWithNmsLimit, other, { outputs: declaredOutputs })).toThrow(
      "the boxes have scale 0.25",
    );
  });

  it("refuses what breaks its rules", () => {
    for (const kernel of [-1, 3]) {
      expect(() => run({ kernel: i32Scalar(kernel) })).toThrow(`kernel ${kernel} is none of hard 0, linear 1`);
    }
    expect(() => run({ scores: f32([3, 1]), boxes: f32([3, 4]) })).toThrow("there are 1 classes where at least 2");
    expect(() => run({ boxes: f32([3, 9]) })).toThrow("the shape of the boxes");
    expect(() => run({ batches: i32([2]) })).toThrow("the shape of the batch indexes");
    const reversed = [...nowhere, ...half, ...nowhere, 1, 0, 0, 0, ...nowhere, ...apart];
    expect(() => run({ boxes: f32([3, 8], reversed) })).toThrow("box 3 ends before it begins: 1, 0, 0, 0");
    expect(run({ scores: f32([0, 2]), boxes: f32([0, 8]), batches: i32([0]) })).toEqual([[], [], [], []]);
  });

  it("takes float32 and float16 alone", () => {
    const types = ["TENSOR_FLOAT32", "TENSOR_FLOAT32", "TENSOR_INT32", "TENSOR_INT32"] as const;
    expectOneSignature(boxWithNmsLimit, inOrder(inputs), types);
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

  it("chooses boxes by their best class; what is not filled is 0", () => {
    expect(run()).toEqual([[0.875, 0.5, 0], [...whole, ...apart, ...nowhere], [0, 1, 0], [2]]);
  });

  it("gives labels as they are where the background is one", () => {
    expect(run({ isBackgroundInLabel: boolScalar(true) })[2]).toEqual([1, 2, 0]);
  });

  it("drops from the overlap threshold on", () => {
    const [scores, boxes, labels, counts] = run({ overlapThreshold: f32Scalar(0.5001) });
    expect([scores, labels, counts]).toEqual([[0.875, 0.75, 0.5], [0, 1, 1], [3]]);
    expect(boxes).toEqual([...whole, ...narrow, ...apart]);
  });

  it("gives several classes of a box, each with its score", () => {
    const [scores, boxes, labels, counts] = run({ mostClassesPerDetection: i32Scalar(2) });
    expect(scores).toEqual([0.875, 0.125, 0.5, 0.375, 0, 0]);
    expect(boxes.slice(0, 16)).toEqual([...whole, ...whole, ...apart, ...apart]);
    expect([labels, counts]).toEqual([[0, 1, 1, 0, 0, 0], [4]]);
  });

  it("in regular mode suppresses in every class, and gives the best of all", () => {
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

  it("decodes deltas by the scales, of batches apart, and ignores what stands behind four numbers", () => {
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
    for (const value of [0, -1]) expect(() => run({ [name]: f32Scalar(value) })).toThrow(`${name} is ${value} where`);
  });

  it.each(["overlapThreshold", "scoreThreshold"])("needs %s of at least 0", (name) => {
    expect(() => run({ [name]: f32Scalar(-0.5) })).toThrow(`${name} is -0.5 where a number ≥ 0 is needed`);
    expect(() => run({ [name]: f32Scalar(0) })).not.toThrow();
  });

  it("needs limits of at least 1, of the mode that it runs in", () => {
    const zero = i32Scalar(0);
    expect(() => run({ most: zero })).toThrow("most is 0 where a number > 0 is needed");
    expect(() => run({ mostClassesPerDetection: zero })).toThrow("classes per detection is 0");
    expect(() => run({ mostPerClass: zero })).not.toThrow();
    expect(() => run({ ...regular, mostPerClass: zero })).toThrow("the most per class or classes per detection is 0");
    expect(() => run({ ...regular, mostClassesPerDetection: zero })).not.toThrow();
  });

  it("refuses other shapes", () => {
    expect(() => run({ scores: f32([1, 3, 1]) })).toThrow("there are 1 classes where at least 2");
    expect(() => run({ deltas: f32([1, 3, 3]) })).toThrow("a box encoding has 3 numbers where 4 or more");
    expect(() => run({ deltas: f32([1, 2, 4]) })).toThrow("the shape of the deltas");
    expect(() => run({ anchors: f32([2, 4]) })).toThrow("the shape of the anchors");
    expect(run({ scores: f32([0, 3, 3]), deltas: f32([0, 3, 4]) })).toEqual([[], [], [], []]);
  });

  it("takes float32 and float16 alone", () => {
    const types = ["TENSOR_FLOAT32", "TENSOR_FLOAT32", "TENSOR_INT32", "TENSOR_INT32"] as const;
    expectOneSignature(detectionPostprocessing, inOrder(inputs), types);
    const floats = types.map((type) => declared(type));
    for (const type of ["TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM_SIGNED"] as const) {
      const list = inOrder(inputs, { scores: tensorOf(type, [1, 3, 3]) });
      expect(mismatchOf(detectionPostprocessing, list, { outputs: floats })).toContain(`input 0 (scores) is ${type}`);
    }
  });
});

describe("GENERATE_PROPOSALS", () => {
  // One anchor at two places beside each other: (0, 0, 10, 10) and (5, 0, 15, 10), which share a third.
  const inputs: Named = {
    scores: f32([1, 1, 2, 1], [0.5, 0.75]),
    deltas: f32([1, 1, 2, 4]),
    anchors: f32([1, 4], whole),
    imageSizes: f32([1, 2], [100, 100]),
    heightStride: f32Scalar(20),
    widthStride: f32Scalar(5),
    mostBefore: i32Scalar(-1),
    mostAfter: i32Scalar(-1),
    overlapThreshold: f32Scalar(0.5),
    leastSize: f32Scalar(1),
    nchw: boolScalar(false),
  };
  const outputs = [float, float, integer];
  const run = (changes: Named = {}) =>
    runOperation(generateProposals, inOrder(inputs, changes), { outputs }).map(valuesOf);
  const [left, right] = [whole, [5, 0, 15, 10]];

  it("gives regions by falling score", () => {
    expect(run()).toEqual([
      [0.75, 0.5],
      [...right, ...left],
      [0, 0],
    ]);
  });

  it("drops from the overlap threshold on", () => {
    expect(run({ overlapThreshold: f32Scalar(0.34) })[0]).toEqual([0.75, 0.5]);
    expect(run({ overlapThreshold: f32Scalar(0.33) })[0]).toEqual([0.75]);
    // An overlap of exactly 1/2 is dropped.
    const halves = { anchors: f32([2, 4], [...whole, ...half]), scores: f32([1, 1, 1, 2], [0.75, 0.5]) };
    const one = { ...halves, deltas: f32([1, 1, 1, 8]) };
    expect(run(one)[0]).toEqual([0.75]);
    expect(run({ ...one, overlapThreshold: f32Scalar(0.5001) })[0]).toEqual([0.75, 0.5]);
  });

  it("takes boxes greater than the least size only", () => {
    expect(run({ leastSize: f32Scalar(10) })).toEqual([[], [], []]);
    expect(run({ leastSize: f32Scalar(9.99) })[0]).toHaveLength(2);
    expect(run({ leastSize: f32Scalar(6), anchors: f32([1, 4], [0, 0, 10, 6]) })[0]).toEqual([]);
    expect(run({ leastSize: f32Scalar(6), anchors: f32([1, 4], [0, 0, 6, 10]) })[0]).toEqual([]);
  });

  it("takes boxes whose centre lies before the far borders only", () => {
    const sizeless = { leastSize: f32Scalar(-1), overlapThreshold: f32Scalar(1) };
    expect(run({ ...sizeless, imageSizes: f32([1, 2], [10, 5]) })).toEqual([[0.5], [0, 0, 5, 10], [0]]);
    expect(run({ ...sizeless, imageSizes: f32([1, 2], [10, 5.5]) })[1]).toEqual([5, 0, 5.5, 10, 0, 0, 5.5, 10]);
  });

  it("limits the boxes before and after suppression", () => {
    const column = {
      scores: f32([1, 3, 1, 1], [0.5, 0.75, 0.625]),
      deltas: f32([1, 3, 1, 4]),
    };
    expect(run(column)).toEqual([
      [0.75, 0.625, 0.5],
      [0, 20, 10, 30, 0, 40, 10, 50, 0, 0, 10, 10],
      [0, 0, 0],
    ]);
    for (const name of ["mostBefore", "mostAfter"]) {
      expect(run({ ...column, [name]: i32Scalar(2) })[0]).toEqual([0.75, 0.625]);
      for (const all of [0, 3, 4]) expect(run({ ...column, [name]: i32Scalar(all) })[0]).toHaveLength(3);
    }
    // The limit before suppression counts a box that is dropped then; the one after does not.
    const close = { ...column, heightStride: f32Scalar(4), overlapThreshold: f32Scalar(0.4) };
    expect(run({ ...close, mostBefore: i32Scalar(2) })[0]).toEqual([0.75]);
    expect(run({ ...close, mostAfter: i32Scalar(2), overlapThreshold: f32Scalar(0.5) })[0]).toEqual([0.75, 0.625]);
  });

  it("moves anchors by deltas and cuts them off, images apart", () => {
    const [scores, regions, batches] = run({
      scores: f32([2, 1, 1, 1], [0.5, 0.75]),
      deltas: f32([2, 1, 1, 4], [0.5, 0, 0, 0, 0, 1, Math.LN2, 0]),
      imageSizes: f32([2, 2], [8, 100, 100, 12]),
    });
    expect([scores, batches]).toEqual([
      [0.5, 0.75],
      [0, 1],
    ]);
    expectClose(regions, [5, 0, 15, 8, 0, 10, 12, 20]);
  });

  it("takes channels first", () => {
    const last = { anchors: f32([2, 4], [...left, ...apart]), scores: f32([1, 1, 2, 2], [0.125, 0.25, 0.5, 0.75]) };
    const moves = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16].map((value) => value / 32);
    const byPlace = run({ ...last, deltas: f32([1, 1, 2, 8], moves) });
    const planes = Array.from({ length: 8 }, (_, channel) => [moves[channel], moves[8 + channel]]).flat();
    const byChannel = run({
      ...last,
      scores: f32([1, 2, 1, 2], [0.125, 0.5, 0.25, 0.75]),
      deltas: f32([1, 8, 1, 2], planes),
      nchw: boolScalar(true),
    });
    expect(byChannel).toEqual(byPlace);
    expect(byPlace[0].length).toBeGreaterThan(1);
  });

  it.each([
    ["TENSOR_QUANT8_ASYMM", 100, "1.2"],
    ["TENSOR_QUANT8_ASYMM_SIGNED", -20, "1.3"],
  ] as const)("of %s", (type, zeroPoint, version) => {
    const quantised = {
      scores: tensorOf(type, [1, 1, 2, 1], [zeroPoint + 50, zeroPoint + 75], { scale: 0.01, zeroPoint }),
      deltas: tensorOf(
        type,
        [1, 1, 2, 4],
        [5, 0, 0, 0, 0, 0, 0, 0].map((value) => zeroPoint + value),
        {
          scale: 0.1,
          zeroPoint,
        },
      ),
      anchors: q16Symm([1, 4], 0.125, [0, 0, 80, 80]),
      imageSizes: q16Asymm([1, 2], 0.125, 0, [800, 96]),
      widthStride: f32Scalar(-5),
      overlapThreshold: f32Scalar(0.9),
    };
    const declaredOutputs = [
      declared(type, { scale: 0.01, zeroPoint }),
      declared("TENSOR_QUANT16_ASYMM", { scale: 0.125 }),
      integer,
    ];
    const list = inOrder(inputs, quantised);
    const results = runOperation(generateProposals, list, { outputs: declaredOutputs });
    // (5, 0, 15, 10) cut off at 12; (-5, 0, 5, 10) cut off at 0
    expect(results.map(valuesOf)).toEqual([
      [zeroPoint + 75, zeroPoint + 50],
      [0, 0, 40, 80, 40, 0, 96, 80],
      [0, 0],
    ]);
    expect(versionOf(generateProposals, list, { outputs: declaredOutputs })).toBe(version);
    const refused = (changes: Named) => () =>
      runOperation(generateProposals, inOrder(inputs, { ...quantised, ...changes }), { outputs: declaredOutputs });
    expect(refused({ anchors: q16Symm([1, 4], 0.25) })).toThrow("the anchors have scale 0.25");
    expect(refused({ imageSizes: q16Asymm([1, 2], 0.125, 3) })).toThrow(
      "the image sizes have scale 0.125 and zero point 3",
    );
  });

  it("refuses what does not fit together", () => {
    expect(() => run({ deltas: f32([1, 1, 2, 5]) })).toThrow("the shape of the deltas");
    expect(() => run({ anchors: f32([2, 4]) })).toThrow("the shape of the anchors");
    expect(() => run({ imageSizes: f32([2, 2]) })).toThrow("the shape of the image sizes");
    expect(() => run({ scores: f32([1, 2, 1]) })).toThrow("scores has rank 3");
    expect(() => run({ anchors: f32([1, 4], [1, 0, 0, 10]) })).toThrow("box 0 ends before it begins");
    expect(run({ scores: f32([1, 0, 2, 1]), deltas: f32([1, 0, 2, 4]) })).toEqual([[], [], []]);
  });

  it("takes float32 and float16 alone", () => {
    expectOneSignature(generateProposals, inOrder(inputs), ["TENSOR_FLOAT32", "TENSOR_FLOAT32", "TENSOR_INT32"]);
  });
});
