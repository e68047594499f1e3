/** Layers: convolutions, matrix products, pooling, recurrent cells; and operators on tables, segments and windows. */
import {
  alike,
  count,
  type Draw,
  type Drawer,
  type DrawnInput,
  type DrawnType,
  FLOATS,
  giveInput,
  isQuantised,
  list,
  QUANTISED,
  result,
  scalar,
  WHOLE,
} from "./draw.ts";

const fused = ["NONE", "NONE", "RELU", "RELU6", "RELU_N1_TO_1"] as const;
const schemes = ["SAME", "VALID"] as const;

/** Constant weights of a layer. Those of 8 signed bits may have a scale for each channel along `axis`. */
function weights(random: Draw, input: DrawnType, shape: readonly number[], axis: number | undefined): DrawnInput {
  const size = count(shape);
  if (!isQuantised(input)) {
    return { type: "FLOAT32", shape, data: Array.from({ length: size }, () => 2 * random.next() - 1) };
  }
  if (input === "UINT8")
    return { type: "UINT8", shape, data: random.ints(size, 0, 255), scale: 2 / 255, zeroPoint: 121 };
  const channels = axis === undefined || random.bool() ? 1 : (shape[axis] ?? 1);
  const scale = Array.from({ length: channels }, () => (0.4 + random.next()) / 127);
  return { type: "INT8", shape, data: random.ints(size, -127, 127), scale, axis: axis ?? 0 };
}

/** A bias, or none. */
function bias(random: Draw, input: DrawnInput, filter: DrawnInput, units: number): DrawnInput | undefined {
  if (random.next() < 0.2) return undefined;
  if (!isQuantised(input.type)) {
    return { type: "FLOAT32", shape: [units], data: Array.from({ length: units }, () => 2 * random.next() - 1) };
  }
  const scales = [filter.scale ?? 1].flat().map((scale) => Math.fround(scale) * Math.fround(Number(input.scale)));
  const data = Array.from({ length: units }, (_, unit) =>
    Math.round((2 * random.next() - 1) / (scales[unit % scales.length] ?? 1)),
  );
  return { type: input.type === "INT16" ? "INT64" : "INT32", shape: [units], data, scale: scales };
}

/** The real numbers that a layer's results reach. */
const reachOf = (depth: number) => 2 * Math.sqrt(depth);

function strides(random: Draw) {
  const dilation = random.next() < 0.3 ? 2 : 1;
  return {
    ...{
      padding: random.pick(schemes),
      strideW: dilation > 1 ? 1 : random.int(1, 2),
      strideH: dilation > 1 ? 1 : random.int(1, 2),
    },
    ...{ dilationWFactor: dilation, dilationHFactor: dilation },
  };
}

const conv2d: Drawer = {
  types: [...FLOATS, ...QUANTISED],
  draw(random, type) {
    const groups = random.next() < 0.2 ? 2 : 1;
    const inner = random.int(1, 4);
    const units = groups * random.int(1, 4);
    const size = [random.int(1, 3), random.int(1, 3)];
    const input = giveInput(random, type, [random.int(1, 2), random.int(6, 9), random.int(6, 9), inner * groups]);
    const filter = weights(random, type, [units, ...size, inner], 0);
    return {
      inputs: [input, filter, bias(random, input, filter, units)],
      outputs: [result(random, type, reachOf(inner * count(size)))],
      options: { ...strides(random), fusedActivationFunction: type === "INT16" ? "NONE" : random.pick(fused) },
    };
  },
};

const depthwise: Drawer = {
  types: [...FLOATS, ...QUANTISED],
  draw(random, type) {
    const channels = random.int(1, 4);
    const depthMultiplier = random.int(1, 2);
    const units = channels * depthMultiplier;
    const size = [random.int(1, 3), random.int(1, 3)];
    const input = giveInput(random, type, [random.int(1, 2), random.int(6, 9), random.int(6, 9), channels]);
    const filter = weights(random, type, [1, ...size, units], 3);
    const stride = strides(random);
    return {
      inputs: [input, filter, bias(random, input, filter, units)],
      outputs: [result(random, type, reachOf(count(size)))],
      // Strides of both directions are equal, as XNNPACK and most kernels want them.
      options: {
        ...stride,
        strideW: stride.strideH,
        depthMultiplier,
        fusedActivationFunction: type === "INT16" ? "NONE" : random.pick(fused),
      },
    };
  },
};

const fullyConnected: Drawer = {
  types: [...FLOATS, ...QUANTISED],
  draw(random, type) {
    const depth = random.int(1, 12);
    const units = random.int(1, 6);
    const keepNumDims = random.bool();
    const input = giveInput(random, type, [...random.shape(1, 2, 3), depth]);
    const filter = weights(random, type, [units, depth], 0);
    return {
      inputs: [input, filter, bias(random, input, filter, units)],
      outputs: [result(random, type, reachOf(depth))],
      options: { keepNumDims, fusedActivationFunction: type === "INT16" ? "NONE" : random.pick(fused) },
    };
  },
};

const transposeConv: Drawer = {
  types: [...FLOATS, ...QUANTISED],
  draw(random, type) {
    const padding = random.pick(schemes);
    const [height, width, depth, units] = [random.int(1, 5), random.int(1, 5), random.int(1, 4), random.int(1, 4)];
    const size = [random.int(1, 3), random.int(1, 3)];
    const stride = [random.int(1, 2), random.int(1, 2)];
    const extent = (at: number, from: number) =>
      padding === "SAME"
        ? from * (stride[at] ?? 1)
        : (from - 1) * (stride[at] ?? 1) + Math.max(size[at] ?? 1, stride[at] ?? 1);
    const input = giveInput(random, type, [1, height, width, depth]);
    const filter = weights(random, type, [units, ...size, depth], 0);
    const added = bias(random, input, filter, units);
    return {
      inputs: [
        list(1, extent(0, height), extent(1, width), units),
        filter,
        input,
        ...(added === undefined ? [] : [added]),
      ],
      outputs: [result(random, type, reachOf(depth * count(size)))],
      options: { padding, strideH: stride[0] ?? 1, strideW: stride[1] ?? 1 },
    };
  },
};

const conv3d: Drawer = {
  types: FLOATS,
  draw(random) {
    const [depth, units] = [random.int(1, 3), random.int(1, 3)];
    const size = [random.int(1, 2), random.int(1, 3), random.int(1, 2)];
    const input = giveInput(random, "FLOAT32", [1, random.int(2, 4), random.int(3, 5), random.int(2, 5), depth]);
    const filter = weights(random, "FLOAT32", [...size, depth, units], undefined);
    return {
      inputs: [input, filter, bias(random, input, filter, units)],
      outputs: [{ type: "FLOAT32" }],
      options: {
        ...{
          padding: random.pick(schemes),
          strideD: random.int(1, 2),
          strideW: random.int(1, 2),
          strideH: random.int(1, 2),
        },
        ...{ dilationDFactor: 1, dilationWFactor: 1, dilationHFactor: 1, fusedActivationFunction: random.pick(fused) },
      },
    };
  },
};

const conv3dTranspose: Drawer = {
  types: FLOATS,
  draw(random) {
    const [depth, units, stride] = [random.int(1, 3), random.int(1, 3), random.int(1, 2)];
    const size = [2, random.int(2, 3), 2];
    const padding = random.pick(schemes);
    const extents = [random.int(1, 3), random.int(1, 3), random.int(1, 3)];
    const out = extents.map((extent, at) =>
      padding === "SAME" ? extent * stride : (extent - 1) * stride + (size[at] ?? 1),
    );
    const filter = weights(random, "FLOAT32", [...size, units, depth], undefined);
    return {
      inputs: [list(1, ...out, units), filter, giveInput(random, "FLOAT32", [1, ...extents, depth])],
      outputs: [{ type: "FLOAT32" }],
      options: {
        padding,
        strideD: stride,
        strideW: stride,
        strideH: stride,
        dilationDFactor: 1,
        dilationWFactor: 1,
        dilationHFactor: 1,
      },
    };
  },
};

const batchMatMul: Drawer = {
  types: [...FLOATS, "INT8", "INT16"],
  draw(random, type) {
    const [adjX, adjY] = [random.bool(), random.bool()];
    const [rows, inner, columns] = [random.int(1, 4), random.int(1, 5), random.int(1, 4)];
    const batches = random.shape(0, 2, 3);
    const x = giveInput(random, type, [...batches, ...(adjX ? [inner, rows] : [rows, inner])]);
    const y = giveInput(random, type, [
      ...batches.map((extent) => (random.bool() ? extent : 1)),
      ...(adjY ? [columns, inner] : [inner, columns]),
    ]);
    return { inputs: [x, y], outputs: [result(random, type, 4 * reachOf(inner) * 2)], options: { adjX, adjY } };
  },
};

function pool(types: readonly DrawnType[]): Drawer {
  return {
    types,
    draw(random, type) {
      const input = giveInput(random, type, [random.int(1, 2), random.int(3, 7), random.int(3, 7), random.int(1, 3)]);
      return {
        inputs: [input],
        outputs: [alike(input)],
        options: {
          ...{ padding: random.pick(schemes), strideW: random.int(1, 2), strideH: random.int(1, 2) },
          ...{
            filterWidth: random.int(1, 3),
            filterHeight: random.int(1, 3),
            fusedActivationFunction: random.pick(fused),
          },
        },
      };
    },
  };
}

function segments(): Drawer {
  return {
    types: [...FLOATS, "INT32"],
    draw(random, type) {
      const input = giveInput(random, type, random.shape(1, 3));
      const rows = input.shape[0] ?? 1;
      const ids: DrawnInput = { type: "INT32", shape: [rows], data: random.ints(rows, 0, 3) };
      return { inputs: [input, ids, scalar(4)], outputs: [{ type }] };
    },
  };
}

/** Numbers of segments, which begin with 0 and leave none out. */
function drawAscending(random: Draw, rows: number): number[] {
  let segment = 0;
  return Array.from({ length: rows }, (_, row) => {
    if (row > 0 && random.bool()) segment++;
    return segment;
  });
}

/** Constants of floats from -1 to 1. */
function floats(random: Draw, ...shape: readonly number[]): DrawnInput {
  return { type: "FLOAT32", shape, data: Array.from({ length: count(shape) }, () => 2 * random.next() - 1) };
}

const state = (...shape: readonly number[]): DrawnInput => ({ type: "FLOAT32", shape, isVariable: true });

export const layers: Readonly<Record<string, Drawer>> = {
  AVERAGE_POOL_2D: pool([...FLOATS, ...QUANTISED]),
  BATCH_MATMUL: batchMatMul,
  BIDIRECTIONAL_SEQUENCE_RNN: {
    types: FLOATS,
    draw(random) {
      const [batches, times, width, units] = [random.int(1, 2), random.int(1, 3), random.int(1, 3), random.int(1, 3)];
      const [timeMajor, mergeOutputs] = [random.bool(), random.bool()];
      const cell = () => [
        floats(random, units, width),
        floats(random, units, units),
        floats(random, units),
        state(batches, units),
      ];
      const inputs = [
        giveInput(random, "FLOAT32", timeMajor ? [times, batches, width] : [batches, times, width]),
        ...cell(),
        ...cell(),
      ];
      return {
        inputs: [...inputs, undefined, undefined, undefined],
        outputs: Array.from({ length: mergeOutputs ? 1 : 2 }, () => ({ type: "FLOAT32" })),
        options: { timeMajor, mergeOutputs, fusedActivationFunction: random.pick(["TANH", "RELU"]) },
      };
    },
  },
  BUCKETIZE: {
    types: [...FLOATS, ...WHOLE],
    draw: (random, type) => ({
      inputs: [giveInput(random, type, random.shape(1, 3), [-9, 9])],
      outputs: [{ type: "INT32" }],
      options: { boundaries: [-5, -1.5, 0, 2, 7] },
    }),
  },
  CONV_2D: conv2d,
  CONV_3D: conv3d,
  CONV_3D_TRANSPOSE: conv3dTranspose,
  DEPTHWISE_CONV_2D: depthwise,
  DILATE: {
    types: [...FLOATS, ...WHOLE, "INT8", "UINT8"],
    draw(random, type) {
      const shape = random.shape(1, 3, 3);
      return {
        inputs: [{ type, shape }, list(...shape.map(() => random.int(1, 3))), scalar(random.int(0, 9), type)],
        outputs: [{ type }],
      };
    },
  },
  EMBEDDING_LOOKUP: {
    types: FLOATS,
    draw(random, type) {
      const table = floats(random, 4, ...random.shape(1, 2, 3));
      return {
        inputs: [
          { type: "INT32", shape: [random.int(1, 4)], range: [0, 3] },
          { ...table, type },
        ],
        outputs: [{ type }],
      };
    },
  },
  EMBEDDING_LOOKUP_SPARSE: {
    types: FLOATS,
    draw(random) {
      const table = floats(random, 4, 2);
      const ids: DrawnInput = { type: "INT32", shape: [3], data: random.ints(3, 0, 3) };
      return {
        inputs: [
          ids,
          { type: "INT32", shape: [3, 2], data: [0, 0, 0, 1, 1, 0] },
          list(2, 2),
          { type: "FLOAT32", shape: [3], data: [1, 0.5, 2] },
          table,
        ],
        outputs: [{ type: "FLOAT32" }],
        options: { combiner: random.pick(["SUM", "MEAN", "SQRTN"]) },
      };
    },
  },
  FULLY_CONNECTED: fullyConnected,
  HASHTABLE_LOOKUP: {
    types: FLOATS,
    draw(random) {
      const keys = [1, 3, 4, 8];
      return {
        inputs: [{ type: "INT32", shape: [3], range: [0, 9] }, list(...keys), floats(random, keys.length, 2)],
        outputs: [{ type: "FLOAT32" }, { type: "UINT8" }],
      };
    },
  },
  L2_POOL_2D: pool(FLOATS),
  LOCAL_RESPONSE_NORMALIZATION: {
    types: FLOATS,
    draw: (random) => ({
      inputs: [giveInput(random, "FLOAT32", [1, random.int(1, 3), random.int(1, 3), random.int(1, 6)])],
      outputs: [{ type: "FLOAT32" }],
      options: {
        radius: random.int(1, 3),
        bias: 1 + random.next(),
        alpha: random.next(),
        beta: random.pick([0.5, 0.75, 1]),
      },
    }),
  },
  MAX_POOL_2D: pool([...FLOATS, ...QUANTISED]),
  NON_MAX_SUPPRESSION_V4: suppression(false),
  NON_MAX_SUPPRESSION_V5: suppression(true),
  REDUCE_WINDOW: {
    types: [...FLOATS, ...WHOLE, "BOOL"],
    draw(random, type) {
      const shape = random.shape(1, 3);
      const wide = (most: number): DrawnInput => ({
        type: "INT64",
        shape: [shape.length],
        data: shape.map((extent) => random.int(1, Math.min(most, extent))),
      });
      const one: DrawnInput = { type: "INT64", shape: [shape.length], data: shape.map(() => 1) };
      const reduceFunction = type === "BOOL" ? random.int(2, 6) : random.int(1, 4);
      return {
        inputs: [
          { type, shape, ...(type !== "BOOL" && { range: [-3, 3] as const }) },
          scalar(type === "BOOL" ? random.int(0, 1) : random.int(0, 2), type),
          wide(3),
          wide(2),
          one,
        ],
        outputs: [{ type }],
        options: { reduceFunction },
      };
    },
  },
  RNN: {
    types: FLOATS,
    draw(random) {
      const [batches, width, units] = [random.int(1, 2), random.int(1, 4), random.int(1, 3)];
      return {
        inputs: [
          giveInput(random, "FLOAT32", [batches, width]),
          floats(random, units, width),
          floats(random, units, units),
          floats(random, units),
          state(batches, units),
        ],
        outputs: [{ type: "FLOAT32" }],
        options: { fusedActivationFunction: random.pick(["TANH", "RELU", "NONE"]) },
      };
    },
  },
  SEGMENT_SUM: {
    types: [...FLOATS, "INT32"],
    draw(random, type) {
      const input = giveInput(random, type, random.shape(1, 3));
      const rows = input.shape[0] ?? 1;
      const ids: DrawnInput = {
        type: "INT32",
        shape: [rows],
        data: drawAscending(random, rows),
      };
      return { inputs: [input, ids], outputs: [{ type }], isCopied: true };
    },
  },
  SVDF: {
    types: FLOATS,
    draw(random) {
      const [batches, width, units, rank, memory] = [
        random.int(1, 2),
        random.int(1, 4),
        random.int(1, 3),
        random.int(1, 2),
        random.int(1, 4),
      ];
      return {
        inputs: [
          giveInput(random, "FLOAT32", [batches, width]),
          floats(random, units * rank, width),
          floats(random, units * rank, memory),
          floats(random, units),
          state(batches, units * rank * memory),
        ],
        outputs: [{ type: "FLOAT32" }],
        options: { rank, fusedActivationFunction: random.pick(["NONE", "RELU"]) },
      };
    },
  },
  TRANSPOSE_CONV: transposeConv,
  UNIDIRECTIONAL_SEQUENCE_LSTM: {
    types: FLOATS,
    draw(random) {
      const timeMajor = random.bool();
      const [batches, times, width, units] = [random.int(1, 2), random.int(1, 3), random.int(1, 3), random.int(1, 3)];
      const isCoupled = random.bool();
      const gate = (...shape: readonly number[]) => [
        isCoupled ? undefined : floats(random, ...shape),
        ...Array.from({ length: 3 }, () => floats(random, ...shape)),
      ];
      const none = (length: number) => Array.from({ length }, () => undefined);
      return {
        inputs: [
          giveInput(random, "FLOAT32", timeMajor ? [times, batches, width] : [batches, times, width]),
          ...gate(units, width),
          ...gate(units, units),
          ...none(3),
          ...gate(units),
          ...none(2),
          state(batches, units),
          state(batches, units),
          ...none(4),
        ],
        outputs: [{ type: "FLOAT32" }],
        options: { timeMajor, fusedActivationFunction: "TANH", cellClip: random.pick([0, 0.5]), projClip: 0 },
      };
    },
  },
  UNIDIRECTIONAL_SEQUENCE_RNN: {
    types: FLOATS,
    draw(random) {
      const timeMajor = random.bool();
      const [batches, times, width, units] = [random.int(1, 2), random.int(1, 3), random.int(1, 3), random.int(1, 3)];
      return {
        inputs: [
          giveInput(random, "FLOAT32", timeMajor ? [times, batches, width] : [batches, times, width]),
          floats(random, units, width),
          floats(random, units, units),
          floats(random, units),
          state(batches, units),
        ],
        outputs: [{ type: "FLOAT32" }],
        options: { timeMajor, fusedActivationFunction: random.pick(["TANH", "RELU"]) },
      };
    },
  },
  UNSORTED_SEGMENT_MAX: segments(),
  UNSORTED_SEGMENT_MIN: segments(),
  UNSORTED_SEGMENT_PROD: segments(),
  UNSORTED_SEGMENT_SUM: segments(),
};

function suppression(isSoft: boolean): Drawer {
  return {
    types: FLOATS,
    draw(random) {
      const boxes = random.int(2, 6);
      const data = Array.from({ length: boxes }, () => {
        const [top, left] = [random.next(), random.next()];
        return [top, left, top + 0.5, left + 0.5];
      }).flat();
      const scores = random.order(boxes).map((place) => (place + 1) / boxes);
      return {
        inputs: [
          { type: "FLOAT32", shape: [boxes, 4], data },
          { type: "FLOAT32", shape: [boxes], data: scores },
          scalar(random.int(1, boxes)),
          scalar(0.4, "FLOAT32"),
          scalar(0.2, "FLOAT32"),
          ...(isSoft ? [scalar(random.pick([0, 0.5]), "FLOAT32")] : []),
        ],
        outputs: [{ type: "INT32" }, ...(isSoft ? [{ type: "FLOAT32" } as const] : []), { type: "INT32" }],
      };
    },
  };
}
