/**
 * STRIDED_SLICE with removed axes, held against a formula: of a removed axis the first element is taken, whatever end, stride and end mask
 * say.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  execute,
  expectValid,
  importLines,
  modelOf,
  oneOperator,
  type SubgraphGiven,
  type TensorGiven,
} from "../../_model.test-helper.ts";
import { list, product, upTo } from "../_shape-cases.test-helper.ts";
import { importTflite } from "../import.ts";

interface Axis {
  readonly extent: number;
  readonly begin: number;
  readonly end: number;
  readonly stride: number;
  readonly isRemoved: boolean;
  readonly beginsOpen: boolean;
  readonly endsOpen: boolean;
}

const axis: fc.Arbitrary<Axis> = fc.integer({ min: 1, max: 4 }).chain((extent) =>
  fc.record({
    extent: fc.constant(extent),
    begin: fc.integer({ min: -extent, max: extent - 1 }),
    end: fc.integer({ min: -9, max: 9 }),
    stride: fc.constantFrom(1, 2, -1, -2),
    isRemoved: fc.boolean(),
    beginsOpen: fc.boolean(),
    endsOpen: fc.boolean(),
  }),
);

/** The indexes of the elements that are taken along an axis. */
function takenOf({ extent, begin, end, stride, isRemoved, beginsOpen, endsOpen }: Axis): number[] {
  const [lowest, highest] = stride > 0 ? [0, extent] : [-1, extent - 1];
  const inside = (index: number) => Math.min(Math.max(index < 0 ? index + extent : index, lowest), highest);
  const first = beginsOpen ? (stride > 0 ? 0 : extent - 1) : inside(begin);
  if (isRemoved) return [first];
  const past = endsOpen ? (stride > 0 ? highest : lowest) : inside(end);
  const taken: number[] = [];
  for (let index = first; stride > 0 ? index < past : index > past; index += stride) taken.push(index);
  return taken;
}

function maskOf(axes: readonly Axis[], flag: "isRemoved" | "beginsOpen" | "endsOpen"): number {
  return axes.reduce((mask, each, place) => (each[flag] ? mask | (1 << place) : mask), 0);
}

/** The elements of a tensor of 0, 1, 2… at all combinations of indexes. */
function elementsAt(axes: readonly Axis[], indexes: readonly (readonly number[])[]): number[] {
  return axes.reduce<number[]>(
    (starts, { extent }, place) => starts.flatMap((start) => (indexes[place] ?? []).map((at) => start * extent + at)),
    [0],
  );
}

const types = ["FLOAT32", "INT8", "INT32", "INT64", "INT16", "BOOL"] as const;
const ways = ["constant", "computed"] as const;

function slicedModel(axes: readonly Axis[], shape: readonly number[], type: (typeof types)[number], way: string) {
  const give = (values: readonly number[]): TensorGiven =>
    way === "computed" ? { type: "INT32", shape: [values.length] } : list(...values);
  return oneOperator(
    "STRIDED_SLICE",
    {
      x: { type, shape: axes.map(({ extent }) => extent), ...(type === "INT8" && { scale: 0.5 }) },
      begin: give(axes.map(({ begin }) => begin)),
      end: give(axes.map(({ end }) => end)),
      strides: give(axes.map(({ stride }) => stride)),
    },
    { y: { type, shape, ...(type === "INT8" && { scale: 0.5 }) } },
    {
      beginMask: maskOf(axes, "beginsOpen"),
      endMask: maskOf(axes, "endsOpen"),
      shrinkAxisMask: maskOf(axes, "isRemoved"),
    },
  );
}

describe("STRIDED_SLICE with removed axes", () => {
  test("takes the first element of each, in every type, with constant and computed corners", async () => {
    // Of five axes the HAL has none: the extension slices them.
    const slice = fc.tuple(
      fc.array(axis, { minLength: 1, maxLength: 5 }),
      fc.constantFrom(...types),
      fc.constantFrom(...ways),
    );
    await fc.assert(
      fc.asyncProperty(slice, async ([axes, type, way]) => {
        const indexes = axes.map(takenOf);
        fc.pre(axes.some(({ isRemoved }) => isRemoved) && indexes.every(({ length }) => length > 0));
        const shape = indexes.flatMap(({ length }, place) => (axes[place]?.isRemoved ? [] : [length]));
        const imported = importTflite(slicedModel(axes, shape, type, way));
        if (way !== "computed") expectValid(imported);
        const elements = upTo(product(axes.map(({ extent }) => extent)));
        const whole = elements.map((element) => element % (type === "BOOL" ? 2 : 128));
        const corners = [axes.map(({ begin }) => begin), axes.map(({ end }) => end), axes.map(({ stride }) => stride)];
        const [result] = await execute(imported, way === "computed" ? [whole, ...corners] : [whole]);
        expect(result).toEqual(elementsAt(axes, indexes).map((at) => whole[at]));
      }),
      { numRuns: 60 },
    );
  });

  test("is an operation of the HAL if the corners are constants", () => {
    const last = { extent: 5, begin: -1, end: 0, stride: 1, isRemoved: true, beginsOpen: false, endsOpen: false };
    const whole = { ...last, extent: 2, begin: 0, end: 2, isRemoved: false };
    expect(importLines(slicedModel([whole, last], [2], "FLOAT32", "constant"))).toEqual([
      "STRIDED_SLICE(in0, INT32[2](0,-1), INT32[2](2,0), INT32[2](1,1), 0, 2, 2) -> out0",
    ]);
    expect(importLines(slicedModel([whole, { ...last, begin: 2, end: 9 }], [2], "FLOAT32", "constant"))).toEqual([
      "STRIDED_SLICE(in0, INT32[2](0,2), INT32[2](2,3), INT32[2](1,1), 0, 0, 2) -> out0",
    ]);
  });

  test("works in the body of a WHILE", async () => {
    const state: TensorGiven = { type: "FLOAT32", shape: [4] };
    const main: SubgraphGiven = {
      tensors: { x: state, y: state },
      operators: [
        { name: "WHILE", inputs: ["x"], outputs: ["y"], options: { condSubgraphIndex: 1, bodySubgraphIndex: 2 } },
      ],
      inputs: ["x"],
      outputs: ["y"],
    };
    const slice = (begin: number) => ({
      b: list(begin),
      e: list(0),
      s: list(1),
      one: { type: "FLOAT32", shape: [] } as const,
    });
    const taken = {
      name: "STRIDED_SLICE",
      inputs: ["x", "b", "e", "s"],
      outputs: ["one"],
      options: { shrinkAxisMask: 1 },
    };
    const condition: SubgraphGiven = {
      tensors: { x: state, ...slice(-1), limit: { shape: [], data: [20] }, goesOn: { type: "BOOL", shape: [] } },
      operators: [taken, { name: "LESS", inputs: ["one", "limit"], outputs: ["goesOn"] }],
      inputs: ["x"],
      outputs: ["goesOn"],
    };
    const body: SubgraphGiven = {
      tensors: { x: state, ...slice(-1), y: state },
      operators: [taken, { name: "ADD", inputs: ["x", "one"], outputs: ["y"] }],
      inputs: ["x"],
      outputs: ["y"],
    };
    const imported = importTflite(modelOf(main, condition, body));
    expectValid(imported);
    // 3 becomes 6, 12 and 24; what is added is 3, 6 and 12.
    expect(await execute(imported, [[0, 1, 2, 3]])).toEqual([[21, 22, 23, 24]]);
  });

  test("a new axis on a scalar is a RESHAPE", async () => {
    const model = oneOperator(
      "STRIDED_SLICE",
      { x: { type: "FLOAT32", shape: [] }, begin: list(0, 0), end: list(1, 1), strides: list(1, 1) },
      { y: { type: "FLOAT32", shape: [1, 1] } },
      { newAxisMask: 3 },
    );
    expect(importLines(model)).toEqual(["RESHAPE(in0, INT32[2](1,1)) -> out0"]);
    expect(await execute(importTflite(model), [[7]])).toEqual([[7]]);
  });
});
