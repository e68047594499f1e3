/** Kernels with state from unit to unit: the same results unit by unit as at once, and pauses within what may be long. */

import { describe, expect, it } from "vitest";
import type { AnyOperandType } from "../operand-type.ts";
import type { AnyArgs } from "../params.ts";
import { phasesOf, runInSteps } from "../phases.ts";
import { createData, elementCount } from "../tensor.ts";
import { tfliteOperations } from "../tflite-operations.gen.ts";
import { tfliteTypes } from "../tflite-types.ts";

/** Numbers in no order, below 1. */
const noise = (index: number) => Math.abs(Math.sin(12.9898 * (index + 1)));

function tensor(type: AnyOperandType, dimensions: readonly number[], make: (index: number) => number) {
  const data = createData(type, elementCount(dimensions));
  for (let index = 0; index < data.length; index++) data[index] = make(index);
  return { type, dimensions, scale: 0, zeroPoint: 0, data };
}
const floats = (dimensions: readonly number[], make = noise) => tensor("TENSOR_FLOAT32", dimensions, make);
const ints = (dimensions: readonly number[], make: (index: number) => number) =>
  tensor("TENSOR_INT32", dimensions, make);

/** Boxes of a side of 1, near each other. */
const boxes = (count: number) => floats([count, 4], (at) => 5 * noise(at >> 2) + (at % 4 < 2 ? 0 : 1));
const boxesToChoose = (count: number) => ({
  boxes: boxes(count),
  scores: floats([count]),
  maxOutputSize: ints([1], () => count),
  iouThreshold: floats([1], () => 0.4),
  scoreThreshold: floats([1], () => 0.1),
});
const boxesToDetect = (count: number) => ({
  boxEncodings: floats([1, count, 4], () => 0),
  classPredictions: floats([1, count, 4]),
  anchors: floats([count, 4], (at) => 0.2 + 3 * noise(at)),
  ...{ maxDetections: 20, maxClassesPerDetection: 2, detectionsPerClass: 50, numClasses: 3 },
  ...{ nmsScoreThreshold: 0.1, nmsIouThreshold: 0.4, yScale: 1, xScale: 1, hScale: 1, wScale: 1 },
});
const INT32 = "TENSOR_INT32";
const { TENSOR_COMPLEX64 } = tfliteTypes;

/** An operation, with few and many elements. */
interface Case {
  readonly name: string;
  readonly few: number;
  readonly many: number;
  readonly argsOf: (size: number) => AnyArgs;
  /** The types of outputs that are not TENSOR_FLOAT32. */
  readonly types?: Readonly<Record<string, AnyOperandType>>;
  /** Of quantised outputs. */
  readonly scale?: number;
}

const selected = { selectedIndices: INT32, numSelected: INT32 } as const;
const cases: readonly Case[] = [
  { name: "NON_MAX_SUPPRESSION_V4", few: 30, many: 20_000, argsOf: boxesToChoose, types: selected },
  {
    name: "NON_MAX_SUPPRESSION_V5",
    few: 30,
    many: 5000,
    argsOf: (size) => ({ ...boxesToChoose(size), sigma: floats([1], () => 0.5) }),
    types: selected,
  },
  ...[true, false].map((useRegularNms) => ({
    name: "DETECTION_POSTPROCESS",
    few: 30,
    many: 20_000,
    argsOf: (size: number) => ({ ...boxesToDetect(size), useRegularNms }),
  })),
  {
    name: "UNIQUE",
    few: 40,
    many: 100_000,
    argsOf: (size) => ({ input: ints([size], (at) => 20 * noise(at)), idxOutType: 2 }),
    types: { values: INT32, indices: INT32 },
  },
  {
    name: "EMBEDDING_LOOKUP_SPARSE",
    few: 12,
    many: 20_000,
    argsOf: (size) => ({
      ids: ints([size], (at) => at % 5),
      indices: ints([size, 2], (at) => (at % 2 === 0 ? (at >> 3) % 3 : 0)),
      denseShape: ints([2], () => 3),
      weights: floats([size]),
      values: floats([5, 8]),
      combiner: 1,
    }),
  },
  {
    name: "RFFT2D",
    few: 5,
    many: 2000,
    argsOf: (size) => ({ input: floats([size, 5, 7]), fftLength: ints([2], (at) => 8 >> at) }),
    types: { output: TENSOR_COMPLEX64 },
  },
  {
    name: "AudioSpectrogram",
    few: 60,
    many: 1 << 18,
    argsOf: (size) => ({
      ...{ input: floats([size, 2]), window_size: size >> 1, stride: size >> 2, magnitude_squared: true },
    }),
  },
  ...[
    ["SOFTMAX", "TENSOR_QUANT16_SYMM", 2 ** -15] as const,
    ["LOG_SOFTMAX", "TENSOR_QUANT8_ASYMM_SIGNED", 0.1] as const,
  ].map(([name, type, scale]) => ({
    name,
    few: 20,
    many: 100_000,
    argsOf: (size: number) => ({
      input: { ...tensor(type, [size], (at) => 100 * noise(at)), scale: 0.1 },
      beta: 1,
      axis: 0,
    }),
    types: { output: type },
    scale,
  })),
  {
    name: "ARGMAX",
    few: 20,
    many: 1_000_000,
    argsOf: (size) => ({ input: floats([size]), axis: ints([], () => 0) }),
    types: { output: INT32 },
  },
  {
    name: "TRANSPOSE",
    few: 3,
    many: 300,
    argsOf: (size) => ({
      input: tensor(TENSOR_COMPLEX64, [size, size], noise),
      permutation: ints([2], (at) => 1 - at),
    }),
    types: { output: TENSOR_COMPLEX64 },
  },
];

describe.each(cases)("$name", ({ name, few, many, argsOf, types = {}, scale = 0 }) => {
  function begin(size: number) {
    const operation = tfliteOperations.find((each) => each.name === name);
    const args = argsOf(size);
    const infos = Object.entries(operation?.infer?.(args, {}) ?? {});
    const outputs = Object.fromEntries(
      infos.map(([output, info]) => {
        if (info === undefined || !("dimensions" in info)) throw new TypeError(`expected one tensor for ${output}`);
        return [output, { ...tensor(types[output] ?? "TENSOR_FLOAT32", info.dimensions, () => 0), scale }];
      }),
    );
    return { outputs, work: operation?.reference?.(args, outputs, { random: Math.random }) };
  }

  it("has the same results unit by unit as at once", () => {
    const whole = begin(few);
    for (const phase of phasesOf(whole.work)) phase.compute(0, phase.units);
    const parts = begin(few);
    for (const phase of phasesOf(parts.work)) {
      if (phase.inTurn) for (let unit = 0; unit < phase.units; unit++) phase.compute(unit, unit + 1);
      else for (let unit = phase.units; unit-- > 0; ) phase.compute(unit, unit + 1);
    }
    expect(parts.outputs).toEqual(whole.outputs);
    const written = Object.values(whole.outputs).flatMap(({ data }): (number | bigint)[] =>
      Array.from<number | bigint>(data),
    );
    expect(written.some((element) => element !== 0)).toBe(true);
  });

  it("pauses, if there is much to do", () => {
    const steps = runInSteps(begin(many).work);
    let pauses = 0;
    while (!steps.next().done) pauses++;
    expect(pauses).toBeGreaterThan(3);
  });
});
