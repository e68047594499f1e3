/**
 * A .tflite network of floats written directly in tfjs, as one would by hand: bias and activation fused into convolutions, weights laid
 * out for tfjs once, each intermediate tensor returned to the engine after its last use.
 */
import { elementAt } from "@nnhal/operations";
import type { TfliteModel, TfliteOperator, TfliteTensor } from "@nnhal/tflite";
import * as tf from "@tensorflow/tfjs-core";
import { CannotRun } from "./contestant.ts";

/** Runs the network: from the bytes of each input to the values of each output. */
export type TfjsNetwork = (inputs: readonly Uint8Array[]) => readonly tf.TypedArray[];

/** Function of an operator over the tensors that are not constants. */
type Compute = (given: readonly tf.Tensor[]) => tf.Tensor;

/** An operator made ready: what it reads and writes, and what is not read after it. */
interface Step {
  readonly reads: readonly number[];
  readonly writes: number;
  readonly compute: Compute;
  readonly frees: readonly number[];
}

/** Values that a row of the table below may use. */
interface Given {
  readonly inputs: readonly number[];
  readonly options: TfliteOperator["options"];
  /** Extents of the output. */
  readonly shape: number[];
  readonly strides: [number, number];
  readonly dilations: [number, number];
  readonly pad: "same" | "valid";
  readonly activation: Activation;
  /** The constant input at a place, as a tensor that is kept. Throws a CannotRun if it is not a constant. */
  constant(place: number, arrange?: (tensor: tf.Tensor) => tf.Tensor): tf.Tensor;
  hasInput(place: number): boolean;
  isConstant(place: number): boolean;
  /** The whole numbers of the constant input at a place. */
  integers(place: number): number[];
}

type Activation = "linear" | "relu" | "relu6";

/** Builds the network; weights become tfjs tensors once. Throws a CannotRun that names the operation that tfjs cannot express. */
export function tfjsNetwork({ subgraphs }: TfliteModel): TfjsNetwork {
  const { tensors, operators, inputs, outputs } = elementAt(subgraphs, 0);
  const isRead = (index: number) => index >= 0 && elementAt(tensors, index).data === undefined;
  const lastUse = new Map<number, number>();
  for (const [place, operator] of operators.entries()) {
    for (const index of operator.inputs) lastUse.set(index, place);
  }
  const steps = operators.map((operator, place): Step => {
    const reads = operator.inputs.filter(isRead);
    return {
      reads,
      writes: elementAt(operator.outputs, 0),
      compute: computeOf(operator, tensors),
      frees: [...new Set(reads)].filter((index) => lastUse.get(index) === place && !outputs.includes(index)),
    };
  });
  return (given) => {
    const values = new Map<number, tf.Tensor>();
    for (let place = 0; place < inputs.length; place++) {
      const index = elementAt(inputs, place);
      const bytes = elementAt(given, place);
      const data = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
      values.set(index, tf.tensor(data, [...elementAt(tensors, index).shape]));
    }
    const tensorOf = (index: number) => {
      const value = values.get(index);
      if (value === undefined) throw new Error(`the network reads the tensor ${index} before an operator wrote it`);
      return value;
    };
    for (const { reads, writes, compute, frees } of steps) {
      values.set(
        writes,
        tf.tidy(() => compute(reads.map(tensorOf))),
      );
      for (const index of frees) tensorOf(index).dispose();
    }
    return outputs.map((index) => {
      const data = tensorOf(index).dataSync();
      tensorOf(index).dispose();
      return data;
    });
  };
}

function computeOf(operator: TfliteOperator, tensors: readonly TfliteTensor[]): Compute {
  const { name, options, inputs, outputs } = operator;
  const row = rows[name];
  if (row === undefined) throw new CannotRun(`the graph in tfjs has no ${name}`);
  const tensorAt = (place: number) => elementAt(tensors, elementAt(inputs, place));
  const readsOther = inputs.some((index) => index >= 0 && !isFloatOrConstant(elementAt(tensors, index)));
  const output = elementAt(tensors, elementAt(outputs, 0));
  if (readsOther || output.type !== "FLOAT32" || outputs.length !== 1) {
    throw new CannotRun(`the graph in tfjs has ${name} on FLOAT32 only, and here it is on ${output.type}`);
  }
  const constantAt = (place: number) => {
    const { data, type, shape } = tensorAt(place);
    if (data === undefined) throw new CannotRun(`the graph in tfjs has ${name} with a constant input ${place} only`);
    const bytes = data.slice().buffer;
    if (type === "INT32") return { values: new Int32Array(bytes), shape: [...shape] };
    if (type !== "FLOAT32") throw new CannotRun(`the graph in tfjs has ${name} on FLOAT32 only, and here on ${type}`);
    return { values: new Float32Array(bytes), shape: [...shape] };
  };
  if (!hasConstantsAnywhere.has(name) && tensorAt(0).data !== undefined) {
    throw new CannotRun(
      `the graph in tfjs has ${name} of a tensor that is computed only, and here it is of a constant`,
    );
  }
  const number = (key: string, otherwise: number) => Number(options[key] ?? otherwise);
  return row({
    inputs,
    options,
    shape: [...output.shape],
    strides: [number("strideH", 1), number("strideW", 1)],
    dilations: [number("dilationHFactor", 1), number("dilationWFactor", 1)],
    pad: options.padding === "SAME" ? "same" : "valid",
    activation: activationOf(operator),
    constant(place, arrange = (tensor) => tensor) {
      const { values, shape } = constantAt(place);
      return tf.keep(tf.tidy(() => arrange(tf.tensor(values, shape))));
    },
    hasInput: (place) => (inputs[place] ?? -1) >= 0,
    isConstant: (place) => tensorAt(place).data !== undefined,
    integers: (place) => [...constantAt(place).values],
  });
}

function isFloatOrConstant({ type, data }: TfliteTensor): boolean {
  return type === "FLOAT32" || data !== undefined;
}

function activationOf({ name, options }: TfliteOperator): Activation {
  const activation = options.fusedActivationFunction ?? "NONE";
  switch (activation) {
    case "NONE":
      return "linear";
    case "RELU":
      return "relu";
    case "RELU6":
      return "relu6";
    default:
      throw new CannotRun(`the graph in tfjs has no ${name} with the activation ${activation}`);
  }
}

/** tfjs's types say how many dimensions a tensor has; the file's shapes are checked by tfjs itself. */
const four = (tensor: tf.Tensor) => tensor as tf.Tensor4D;
const first = (given: readonly tf.Tensor[]) => elementAt(given, 0);

const biasOf = ({ hasInput, constant }: Given) => (hasInput(2) ? { bias: constant(2) } : {});

/** An elementwise operation of two inputs, one of which may be a constant, and its activation. */
const binary =
  (operation: (a: tf.Tensor, b: tf.Tensor) => tf.Tensor) =>
  (given: Given): Compute => {
    const { activation } = given;
    const apply = { linear: (x: tf.Tensor) => x, relu: tf.relu<tf.Tensor>, relu6: tf.relu6<tf.Tensor> }[activation];
    const [left, right] = [0, 1].map((place) => (given.isConstant(place) ? given.constant(place) : undefined));
    return (values) => apply(operation(left ?? first(values), right ?? elementAt(values, values.length - 1)));
  };

const unary = (operation: (x: tf.Tensor) => tf.Tensor) => (): Compute => (values) => operation(first(values));

/** Operators whose inputs may be constants at any place. */
const hasConstantsAnywhere: ReadonlySet<string> = new Set(["ADD", "SUB", "MUL", "DIV", "MAXIMUM", "MINIMUM"]);

const windowOf = ({ options }: Given): [number, number] => [Number(options.filterHeight), Number(options.filterWidth)];

const rows: Readonly<Record<string, (given: Given) => Compute>> = {
  CONV_2D(given) {
    const filter = four(given.constant(1, (weights) => tf.transpose(weights, [1, 2, 3, 0])));
    const { strides, pad, activation, dilations } = given;
    const fixed = { filter, ...biasOf(given), strides, pad, activation, dilations };
    return (values) => tf.fused.conv2d({ x: four(first(values)), ...fixed });
  },
  DEPTHWISE_CONV_2D(given) {
    const multiplier = Number(given.options.depthMultiplier ?? 1);
    const filter = four(
      given.constant(1, (weights) => {
        const [, height = 1, width = 1, channels = 1] = weights.shape;
        return tf.reshape(weights, [height, width, channels / multiplier, multiplier]);
      }),
    );
    const { strides, pad, activation, dilations } = given;
    const fixed = { filter, ...biasOf(given), strides, pad, activation, dilations };
    return (values) => tf.fused.depthwiseConv2d({ x: four(first(values)), ...fixed });
  },
  FULLY_CONNECTED(given) {
    const weights = given.constant(1);
    const { activation, shape } = given;
    const fixed = { b: weights as tf.Tensor2D, transposeB: true, activation, ...biasOf(given) };
    const size = elementAt(weights.shape, 1);
    return (values) => tf.reshape(tf.fused.matMul({ a: tf.reshape(first(values), [-1, size]), ...fixed }), shape);
  },
  AVERAGE_POOL_2D(given) {
    if (given.activation !== "linear")
      throw new CannotRun("the graph in tfjs has no AVERAGE_POOL_2D with an activation");
    return (values) => tf.avgPool(four(first(values)), windowOf(given), given.strides, given.pad);
  },
  MAX_POOL_2D(given) {
    if (given.activation !== "linear") throw new CannotRun("the graph in tfjs has no MAX_POOL_2D with an activation");
    return (values) => tf.maxPool(four(first(values)), windowOf(given), given.strides, given.pad);
  },
  ADD: binary(tf.add),
  SUB: binary(tf.sub),
  MUL: binary(tf.mul),
  DIV: binary(tf.div),
  MAXIMUM: binary(tf.maximum),
  MINIMUM: binary(tf.minimum),
  RELU: unary(tf.relu),
  RELU6: unary(tf.relu6),
  LOGISTIC: unary(tf.sigmoid),
  TANH: unary(tf.tanh),
  ABS: unary(tf.abs),
  EXP: unary(tf.exp),
  SQRT: unary(tf.sqrt),
  RSQRT: unary(tf.rsqrt),
  NEG: unary(tf.neg),
  RESHAPE:
    ({ shape }) =>
    (values) =>
      tf.reshape(first(values), shape),
  SQUEEZE:
    ({ shape }) =>
    (values) =>
      tf.reshape(first(values), shape),
  EXPAND_DIMS:
    ({ shape }) =>
    (values) =>
      tf.reshape(first(values), shape),
  SOFTMAX({ options }) {
    const beta = Number(options.beta ?? 1);
    return (values) => tf.softmax(beta === 1 ? first(values) : tf.mul(first(values), beta));
  },
  CONCATENATION({ options, activation, inputs, isConstant }) {
    if (inputs.some((_, place) => isConstant(place)))
      throw new CannotRun("the graph in tfjs has no CONCATENATION of constants");
    if (activation !== "linear") throw new CannotRun("the graph in tfjs has no CONCATENATION with an activation");
    return (values) => tf.concat([...values], Number(options.axis ?? 0));
  },
  MEAN({ integers, options }) {
    const axes = integers(1);
    return (values) => tf.mean(first(values), axes, options.keepDims === true);
  },
  PAD({ integers }) {
    const flat = integers(1);
    const paddings = Array.from({ length: flat.length / 2 }, (_, place): [number, number] => [
      elementAt(flat, 2 * place),
      elementAt(flat, 2 * place + 1),
    ]);
    return (values) => tf.pad(first(values), paddings);
  },
  TRANSPOSE({ integers }) {
    const order = integers(1);
    return (values) => tf.transpose(first(values), order);
  },
  RESIZE_BILINEAR({ integers, options }) {
    const [height = 1, width = 1] = integers(1);
    const [corners, centres] = [options.alignCorners === true, options.halfPixelCenters === true];
    return (values) => tf.image.resizeBilinear(four(first(values)), [height, width], corners, centres);
  },
};
