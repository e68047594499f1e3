import { describe, expect, it } from "vitest";
import {
  boolScalar,
  declareOutput,
  expectClose,
  f32,
  f32Scalar,
  i32Scalar,
  inOrder,
  type Named,
  q16Asymm,
  q16Symm,
  runOperation,
  tensorOf,
  valuesOf,
  versionOf,
} from "./_run.test-helper.ts";
import { expectFloatSignature } from "./_signature.test-helper.ts";
import { generateProposals } from "./generate-proposals.ts";

const float = declareOutput("TENSOR_FLOAT32");
const integer = declareOutput("TENSOR_INT32");

/** Overlap of the first two: 1/2. The third stands apart. */
const [whole, half, apart] = [
  [0, 0, 10, 10],
  [0, 0, 10, 5],
  [20, 20, 30, 30],
];

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

  it("returns regions by falling score", () => {
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
      declareOutput(type, { scale: 0.01, zeroPoint }),
      declareOutput("TENSOR_QUANT16_ASYMM", { scale: 0.125 }),
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
    const refuse = (changes: Named) => () =>
      runOperation(generateProposals, inOrder(inputs, { ...quantised, ...changes }), { outputs: declaredOutputs });
    expect(refuse({ anchors: q16Symm([1, 4], 0.25) })).toThrow(
      "the anchors: expected scale 0.125 and zero point 0, got 0.25 and 0",
    );
    expect(refuse({ imageSizes: q16Asymm([1, 2], 0.125, 3) })).toThrow(
      "the image sizes: expected scale 0.125 and zero point 0, got 0.125 and 3",
    );
  });

  it("refuses operands that do not fit together", () => {
    expect(() => run({ deltas: f32([1, 1, 2, 5]) })).toThrow("the shape of the deltas");
    expect(() => run({ anchors: f32([2, 4]) })).toThrow("the shape of the anchors");
    expect(() => run({ imageSizes: f32([2, 2]) })).toThrow("the shape of the image sizes");
    expect(() => run({ scores: f32([1, 2, 1]) })).toThrow("scores: expected rank 4, got 3");
    expect(() => run({ anchors: f32([1, 4], [1, 0, 0, 10]) })).toThrow("box 0 ends before it begins");
    expect(run({ scores: f32([1, 0, 2, 1]), deltas: f32([1, 0, 2, 4]) })).toEqual([[], [], []]);
  });

  it("takes float32 and float16 alone", () => {
    expectFloatSignature(generateProposals, inOrder(inputs), ["TENSOR_FLOAT32", "TENSOR_FLOAT32", "TENSOR_INT32"]);
  });
});
