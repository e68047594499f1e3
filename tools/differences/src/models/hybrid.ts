/** Layers of floats with weights of 8 and 4 bits, layers of integers with weights of 4 bits, and LSTM cells. Their names have a word behind that of the operator. */
import {
  count,
  type Draw,
  type Drawer,
  type DrawnInput,
  type DrawnModel,
  type DrawnType,
  FLOATS,
  giveInput,
  graphModel,
} from "./draw.ts";
import { layers } from "./layers.ts";

/** Constants of floats as integers with a scale, or one for each channel along `axis`. */
function quantise({ shape, data = [] }: DrawnInput, type: "INT8" | "INT4", axis?: number): DrawnInput {
  const most = type === "INT8" ? 127 : 7;
  const channels = axis === undefined ? 1 : (shape[axis] ?? 1);
  const inner = axis === undefined ? 1 : count(shape.slice(axis + 1));
  const channelOf = (place: number) => Math.floor(place / inner) % channels;
  const scale = Array.from({ length: channels }, (_, channel) => {
    const own = data.filter((__, place) => channelOf(place) === channel).map(Math.abs);
    return Math.fround(Math.max(...own, 1e-3) / most);
  });
  return {
    ...{ type, shape, scale, axis: axis ?? 0 },
    data: data.map((value, place) => Math.round(value / (scale[channelOf(place)] ?? 1))),
  };
}

/** Layers that may quantise their inputs with a zero point. */
const asymmetrical: readonly string[] = ["FULLY_CONNECTED", "SVDF", "RNN", "UNIDIRECTIONAL_SEQUENCE_RNN"];

/** A layer; a convolution with a bias, which its kernels for these weights want. */
function layerOf(random: Draw, operator: string, type: DrawnType): DrawnModel {
  for (;;) {
    const model = layers[operator]?.draw(random, type);
    if (model === undefined) throw new RangeError(`there is no layer ${operator}`);
    if (!operator.includes("CONV") || model.inputs[2] !== undefined) return model;
  }
}

/** A layer of floats whose constants at some places are integers. `axis`: of the channels, if weights have a scale for each. */
function hybrid(operator: string, type: "INT8" | "INT4", places: readonly number[], axis?: number): Drawer {
  return {
    types: FLOATS,
    draw(random) {
      const model = layerOf(random, operator, "FLOAT32");
      const isPerChannel = axis !== undefined && (operator !== "FULLY_CONNECTED" || random.bool());
      const inputs = model.inputs.map((input, place) =>
        input !== undefined && places.includes(place) ? quantise(input, type, isPerChannel ? axis : undefined) : input,
      );
      // The recent build quantises inputs with a zero point always, and the older one has no scales of channels and no 4 bits.
      const isRecent = operator === "FULLY_CONNECTED" && (isPerChannel || type === "INT4");
      const asymmetric = asymmetrical.includes(operator) ? { asymmetricQuantizeInputs: isRecent || random.bool() } : {};
      return { ...model, inputs, options: { ...model.options, ...asymmetric } };
    },
  };
}

/** A layer of INT8 whose weights have 4 bits. */
function narrow(operator: string, axis: number): Drawer {
  return {
    types: ["INT8"],
    draw(random, type) {
      const model = layerOf(random, operator, type);
      const [input, filter, ...others] = model.inputs;
      if (filter?.data === undefined) throw new RangeError(`${operator} has no weights`);
      const data = filter.data.map(() => random.int(-7, 7));
      const scale = [filter.scale ?? 1].flat().map((each) => each * 16);
      // The bias has the product of both scales.
      const rest = others.map((each) => each && { ...each, scale: [each.scale ?? 1].flat().map((one) => one * 16) });
      return { ...model, inputs: [input, { ...filter, type: "INT4", data, scale, axis }, ...rest] };
    },
  };
}

/** Constants of floats from -1 to 1. */
function floats(random: Draw, ...shape: readonly number[]): DrawnInput {
  return { type: "FLOAT32", shape, data: Array.from({ length: count(shape) }, () => 2 * random.next() - 1) };
}

const state = (...shape: readonly number[]): DrawnInput => ({ type: "FLOAT32", shape, isVariable: true });
const none = (length: number): undefined[] => Array.from({ length }, () => undefined);

/** The weights of a cell: of inputs, of the state, peepholes, biases and the projection, in the order of the operators. */
function cell(random: Draw, width: number, units: number) {
  const [isCoupled, hasPeepholes, isProjected] = [random.bool(), random.bool(), random.bool()];
  const results = isProjected ? random.int(1, units) : units;
  const gates = (...shape: readonly number[]) => [
    isCoupled ? undefined : floats(random, ...shape),
    ...Array.from({ length: 3 }, () => floats(random, ...shape)),
  ];
  const peepholes = hasPeepholes
    ? [isCoupled ? undefined : floats(random, units), floats(random, units), floats(random, units)]
    : none(3);
  const projection = isProjected
    ? [floats(random, results, units), random.bool() ? floats(random, results) : undefined]
    : none(2);
  return {
    inputs: [...gates(units, width), ...gates(units, results), ...peepholes, ...gates(units), ...projection],
    results,
    isCoupled,
  };
}

const clips = (random: Draw) => ({ cellClip: random.pick([0, 0.5]), projClip: random.pick([0, 0.4]) });

const lstm: Drawer = {
  types: FLOATS,
  draw(random) {
    const [batches, width, units] = [random.int(1, 2), random.int(1, 4), random.int(1, 3)];
    const { inputs, results, isCoupled } = cell(random, width, units);
    const norms = random.bool()
      ? [isCoupled ? undefined : floats(random, units), ...Array.from({ length: 3 }, () => floats(random, units))]
      : none(4);
    return {
      inputs: [
        giveInput(random, "FLOAT32", [batches, width]),
        ...inputs,
        state(batches, results),
        state(batches, units),
        ...norms,
      ],
      outputs: [{ type: "FLOAT32" }],
      options: { kernelType: "FULL", fusedActivationFunction: "TANH", ...clips(random) },
    };
  },
};

/** The LSTM of five inputs, whose states are inputs and outputs. */
const basicLstm: Drawer = {
  types: FLOATS,
  draw(random) {
    const [batches, width, units] = [random.int(1, 2), random.int(1, 4), random.int(1, 3)];
    const one: DrawnInput = { type: "FLOAT32", shape: [batches, units] };
    return graphModel({
      tensors: {
        ...{ x: { type: "FLOAT32", shape: [batches, width] }, before: one, held: { ...one, range: [-1, 1] } },
        ...{ w: floats(random, 4 * units, width + units), b: floats(random, 4 * units), y: one, kept: one },
        joined: { type: "FLOAT32", shape: [batches, width + units] },
        sums: { type: "FLOAT32", shape: [batches, 4 * units] },
      },
      operators: [
        {
          name: "LSTM",
          inputs: ["x", "before", "w", "b", "held"],
          outputs: ["y", "kept", "joined", "sums"],
          options: { kernelType: "BASIC", fusedActivationFunction: "TANH", cellClip: 0, projClip: 0 },
        },
      ],
      inputs: ["x", "before", "held"],
      outputs: ["y", "kept"],
    });
  },
};

const bothWays: Drawer = {
  types: FLOATS,
  draw(random) {
    const [times, width] = [random.int(1, 3), random.int(1, 3)];
    // With several batches TensorFlow Lite reads states outside of their tensors in one of the layouts.
    const [batches, timeMajor, mergeOutputs] = [1, random.bool(), random.bool()];
    const [forward, backward] = [cell(random, width, random.int(1, 3)), cell(random, width, random.int(1, 3))];
    const unitsOf = ({ inputs }: typeof forward) => inputs[1]?.shape[0] ?? 1;
    const states = [forward, backward].flatMap((own) => [state(batches, own.results), state(batches, unitsOf(own))]);
    return {
      inputs: [
        giveInput(random, "FLOAT32", timeMajor ? [times, batches, width] : [batches, times, width]),
        ...[...forward.inputs, ...backward.inputs, ...states, ...none(9)],
      ],
      outputs: Array.from({ length: mergeOutputs ? 1 : 2 }, () => ({ type: "FLOAT32" })),
      options: { fusedActivationFunction: "TANH", ...clips(random), timeMajor, mergeOutputs },
    };
  },
};

/** The weights of a cell as integers; its biases and peepholes stay floats. */
function hybridCell(drawer: Drawer): Drawer {
  return {
    types: FLOATS,
    draw(random) {
      const model = drawer.draw(random, "FLOAT32");
      const matrices = model.inputs.filter((input) => input?.data !== undefined && input.shape.length === 2);
      const inputs = model.inputs.map((input) =>
        input !== undefined && matrices.includes(input) ? quantise(input, "INT8") : input,
      );
      return { ...model, inputs, options: { ...model.options, asymmetricQuantizeInputs: random.bool() } };
    },
  };
}

/** A table of 4 bits whose rows begin with a byte: TensorFlow Lite reads others from the byte that they begin in. */
const wholeBytes: Drawer = {
  types: FLOATS,
  draw(random, type) {
    const [columns, ids] = [2 * random.int(1, 4), random.int(1, 4)];
    return {
      inputs: [{ type: "INT32", shape: [ids], range: [0, 3] }, quantise(floats(random, 4, columns), "INT4")],
      outputs: [{ type }],
    };
  },
};

/** A product of matrices whose second one is a constant of integers. */
const product: Drawer = {
  types: FLOATS,
  draw(random) {
    const model = layerOf(random, "BATCH_MATMUL", "FLOAT32");
    const [x, y] = model.inputs;
    if (x === undefined || y === undefined) throw new RangeError("BATCH_MATMUL has two inputs");
    // The recent build quantises inputs with a zero point always, and the older one reads other scales where batches are repeated.
    const isRecent = x.shape.slice(0, -2).some((extent, at) => extent !== y.shape[at]);
    const options = { ...model.options, asymmetricQuantizeInputs: isRecent || random.bool() };
    return { ...model, inputs: [x, quantise(floats(random, ...y.shape), "INT8")], options };
  },
};

/** Constants of 4 bits as floats, by an input. */
const unpacked: Drawer = {
  types: FLOATS,
  draw(random): DrawnModel {
    const shape = random.shape(1, 3, 4);
    const one: DrawnInput = { type: "FLOAT32", shape };
    return graphModel({
      tensors: { x: one, c: quantise(floats(random, ...shape), "INT4"), d: one, y: one },
      operators: [
        { name: "DEQUANTIZE", inputs: ["c"], outputs: ["d"] },
        { name: "MUL", inputs: ["d", "x"], outputs: ["y"], options: { fusedActivationFunction: "NONE" } },
      ],
      inputs: ["x"],
      outputs: ["y"],
    });
  },
};

export const hybrids: Readonly<Record<string, Drawer>> = {
  "BATCH_MATMUL hybrid": product,
  "BIDIRECTIONAL_SEQUENCE_LSTM float": bothWays,
  "CONV_2D hybrid": hybrid("CONV_2D", "INT8", [1], 0),
  "CONV_2D INT4": narrow("CONV_2D", 0),
  "CONV_2D hybrid INT4": hybrid("CONV_2D", "INT4", [1], 0),
  "DEPTHWISE_CONV_2D hybrid": hybrid("DEPTHWISE_CONV_2D", "INT8", [1], 3),
  "DEPTHWISE_CONV_2D INT4": narrow("DEPTHWISE_CONV_2D", 3),
  "DEQUANTIZE INT4": unpacked,
  "EMBEDDING_LOOKUP hybrid": hybrid("EMBEDDING_LOOKUP", "INT8", [1]),
  "EMBEDDING_LOOKUP hybrid INT4": wholeBytes,
  "FULLY_CONNECTED hybrid": hybrid("FULLY_CONNECTED", "INT8", [1], 0),
  "FULLY_CONNECTED hybrid INT4": hybrid("FULLY_CONNECTED", "INT4", [1], 0),
  "FULLY_CONNECTED INT4": narrow("FULLY_CONNECTED", 0),
  "LSTM basic": basicLstm,
  "LSTM float": lstm,
  "LSTM hybrid": hybridCell(lstm),
  "RNN hybrid": hybrid("RNN", "INT8", [1, 2]),
  "SVDF hybrid": hybrid("SVDF", "INT8", [1, 2]),
  "UNIDIRECTIONAL_SEQUENCE_LSTM hybrid": hybridCell({
    types: FLOATS,
    draw: (random) => layers.UNIDIRECTIONAL_SEQUENCE_LSTM?.draw(random, "FLOAT32") ?? lstm.draw(random, "FLOAT32"),
  }),
  "UNIDIRECTIONAL_SEQUENCE_RNN hybrid": hybrid("UNIDIRECTIONAL_SEQUENCE_RNN", "INT8", [1, 2]),
};
