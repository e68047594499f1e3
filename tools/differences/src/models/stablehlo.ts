/** Operators of StableHLO with windows and bodies, and control flow. */
import { type Drawer, type DrawnBody, type DrawnInput, type DrawnType, FLOATS, scalar, WHOLE } from "./draw.ts";

const TYPES = [...FLOATS, ...WHOLE] as const;

const combined: readonly string[] = ["STABLEHLO_ADD", "STABLEHLO_MULTIPLY", "STABLEHLO_MAXIMUM", "STABLEHLO_MINIMUM"];

/** A body of two scalars. */
function pairBody(operator: string, type: DrawnType): DrawnBody {
  const one: DrawnInput = { type, shape: [] };
  return { operator, inputs: [one, one], output: one };
}

export const stablehlo: Readonly<Record<string, Drawer>> = {
  STABLEHLO_CASE: {
    types: TYPES,
    draw(random, type) {
      const shape = random.shape(1, 3);
      const one: DrawnInput = { type, shape };
      const bodies = ["ADD", "MUL", "MAXIMUM"].map(
        (operator): DrawnBody => ({ operator, inputs: [one, one], output: one }),
      );
      return {
        inputs: [{ type: "INT32", shape: [1], range: [-1, 4] }, one, one],
        outputs: [{ type }],
        options: { branchSubgraphIndices: [1, 2, 3] },
        bodies,
      };
    },
  },
  STABLEHLO_COMPOSITE: {
    types: TYPES,
    draw(random, type) {
      const one: DrawnInput = { type, shape: random.shape(1, 3) };
      const body: DrawnBody = { operator: random.pick(["ADD", "SUB", "MUL"]), inputs: [one, one], output: one };
      return {
        inputs: [one, one],
        outputs: [{ type }],
        options: { name: "pair", decompositionSubgraphIndex: 1 },
        bodies: [body],
      };
    },
  },
  STABLEHLO_GATHER: {
    types: TYPES,
    draw(random, type) {
      const shape = random.shape(2, 3);
      const places = random.int(1, 4);
      const sizes = [1, ...shape.slice(1).map((extent) => random.int(1, extent))];
      const indices: DrawnInput = { type: random.pick(WHOLE), shape: [places, 1], range: [-2, (shape[0] ?? 1) + 1] };
      return {
        inputs: [{ type, shape }, indices],
        outputs: [{ type }],
        options: {
          ...{ offsetDims: sizes.slice(1).map((_, at) => at + 1), collapsedSliceDims: [0], startIndexMap: [0] },
          ...{ indexVectorDim: 1, sliceSizes: sizes },
        },
      };
    },
  },
  STABLEHLO_PAD: {
    types: [...TYPES, "INT8", "BOOL"],
    draw(random, type) {
      const shape = random.shape(1, 3, 4);
      const each = (least: number, most: number) => shape.map(() => random.int(least, most));
      return {
        inputs: [{ type, shape }, scalar(1, type)],
        outputs: [{ type }],
        options: { edgePaddingLow: each(0, 2), edgePaddingHigh: each(0, 2), interiorPadding: each(0, 2) },
      };
    },
  },
  STABLEHLO_REDUCE_WINDOW: {
    types: [...TYPES, "INT8"],
    draw(random, type) {
      const shape = random.shape(1, 3);
      const each = (least: number, most: number) => shape.map(() => random.int(least, most));
      return {
        inputs: [{ type, shape, range: [-3, 3] }, scalar(random.int(0, 2), type)],
        outputs: [{ type }],
        options: {
          ...{ windowDimensions: shape.map((extent) => random.int(1, Math.min(3, extent))), windowStrides: each(1, 2) },
          ...{
            baseDilations: each(1, 2),
            windowDilations: each(1, 1),
            padding: [...each(0, 1), ...each(0, 1)],
            bodySubgraphIndex: 1,
          },
        },
        bodies: [pairBody(random.pick(combined), type)],
      };
    },
  },
  STABLEHLO_SCATTER: {
    types: TYPES,
    draw(random, type) {
      const shape = random.shape(2, 2);
      const places = random.int(1, 4);
      const data = random.ints(places, 0, (shape[0] ?? 1) - 1);
      return {
        inputs: [
          { type, shape },
          { type: random.pick(WHOLE), shape: [places, 1], data },
          { type, shape: [places, ...shape.slice(1)] },
        ],
        outputs: [{ type }],
        options: {
          ...{ updateWindowDims: [1], insertedWindowDims: [0], scatterDimsToOperandDims: [0], indexVectorDim: 1 },
          updateComputationSubgraphIndex: 1,
        },
        bodies: [pairBody(random.pick(combined), type)],
      };
    },
  },
  IF: {
    types: TYPES,
    draw(random, type) {
      const one: DrawnInput = { type, shape: random.shape(1, 3) };
      const bodies = ["ADD", "MUL"].map((operator): DrawnBody => ({ operator, inputs: [one, one], output: one }));
      return {
        inputs: [{ type: "BOOL", shape: [1] }, one, one],
        outputs: [{ type }],
        options: { thenSubgraphIndex: 1, elseSubgraphIndex: 2 },
        bodies,
      };
    },
  },
};
