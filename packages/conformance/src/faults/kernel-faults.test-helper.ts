/**
 * The library of arithmetic faults. Each is of a kind that engines have had: an edge forgotten, two things exchanged, a number
 * dropped, a value kept too long.
 */
import { fromFloat16Bits, type Tensor, toFloat16Bits } from "@nnhal/operations";
import { roundingFaults, saturationFaults } from "./integer-faults.test-helper.ts";
import {
  faultOf,
  isTensor,
  type KernelFault,
  numberOf,
  tensorOf,
  withElements,
  withNumber,
  withTensor,
} from "./kernel-fault.test-helper.ts";

const scaled = (factor: number) => withElements((element) => element * factor, "floats");
const withoutZeroPoint = (tensor: Tensor): Tensor => ({ ...tensor, zeroPoint: 0 });
const zeros = (tensor: Tensor): Tensor => ({ ...tensor, data: tensor.data.slice().fill(tensor.zeroPoint) });
const reversed = (tensor: Tensor): Tensor => ({ ...tensor, data: tensor.data.slice().reverse() });
const half = (value: number) => fromFloat16Bits(toFloat16Bits(value));

/** The results of the last run, which the next one adds to. */
function stale() {
  let last = 0;
  return {
    after: withElements((element, index) => {
      const result = element + (index === 0 ? last : 0);
      if (index === 0) last = element;
      return result;
    }, "floats"),
  };
}

/** Results that move by a little with each run. */
function makeDrift() {
  let runs = 0;
  return { after: withElements((element, index) => (index === 0 ? element + runs++ / 1024 : element), "floats") };
}

/** State that one run leaves for the next, whatever that is given. */
function keepState(state: string, output: string) {
  return () => {
    let last: Tensor["data"] | undefined;
    return {
      before: withTensor(state, (tensor) =>
        last !== undefined && last.length === tensor.data.length ? { ...tensor, data: last } : tensor,
      ),
      after: (outputs: readonly Tensor[]) => {
        const made = outputs[output === "first" ? 0 : 1];
        if (made !== undefined) last = made.data.slice();
      },
    };
  };
}

export const kernelFaults: readonly KernelFault[] = [
  ...roundingFaults,
  ...saturationFaults,
  faultOf("SUB", "its operands are exchanged, so that the sign is wrong", {
    before: ({ left, right, ...args }) => ({ ...args, left: right, right: left }),
  }),
  faultOf("SUB", "infinities become the greatest numbers", {
    after: withElements((element) => Math.max(-3e38, Math.min(3e38, element)), "floats"),
  }),
  faultOf("ADD", "results are 0.01 % too large", { after: scaled(1.0001) }),
  faultOf("ADD", "the activation is ignored", { before: withNumber("activation", () => 0) }),
  faultOf("ADD", "quantised sums stop one step before the greatest value but two", {
    after: withElements(
      (element, _, { type }) => Math.min(element, type === "TENSOR_QUANT8_ASYMM" ? 252 : 124),
      "quantised",
    ),
  }),
  faultOf("ADD", "quantised sums beyond the greatest value start again at the least", {
    after: withElements(
      (element, _, { type }) => (element === (type === "TENSOR_QUANT8_ASYMM" ? 255 : 127) ? -1 : element),
      "quantised",
    ),
  }),
  faultOf("ADD", "the zero point of an operand is dropped", { before: withTensor("right", withoutZeroPoint) }),
  faultOf("ADD", "results move by a little with each run", makeDrift),
  faultOf("ADD", "an operand that broadcasts is read backwards", {
    before: (args) => {
      const [left, right] = [tensorOf(args.left), tensorOf(args.right)];
      return right.data.length < left.data.length ? { ...args, right: reversed(right) } : args;
    },
  }),
  faultOf("MUL", "results are 0.1 % too large", { after: scaled(1.001) }),
  faultOf("MUL", "the left operand is read as one number if it broadcasts", {
    before: (args) => {
      const [left, right] = [tensorOf(args.left), tensorOf(args.right)];
      const isSmaller = left.data.length < right.data.length;
      return isSmaller ? { ...args, left: { ...left, data: left.data.slice().fill(left.data[0] ?? 0) } } : args;
    },
  }),
  faultOf("MUL", "RELU1 is computed as RELU6", {
    before: withNumber("activation", (value) => (value === 2 ? 3 : value)),
  }),
  faultOf("DIV", "integers are rounded towards 0", {
    after: ([output], { left, right }) => {
      if (output?.type !== "TENSOR_INT32") return;
      const [a, b] = [tensorOf(left), tensorOf(right)];
      if (a.data.length !== output.data.length || b.data.length !== output.data.length) return;
      for (let index = 0; index < output.data.length; index++) {
        const [x = 0, y = 0] = [a.data[index], b.data[index]];
        if (y !== 0) output.data[index] = Math.trunc(x / y);
      }
    },
  }),
  faultOf("ABS", "NaN becomes 0", {
    after: withElements((element) => (Number.isNaN(element) ? 0 : element), "floats"),
  }),
  faultOf("NEG", "integers are negated as floats of 24 bits", {
    after: withElements((element, _, { type }) =>
      type === "TENSOR_INT32" ? Math.fround(element + 0.4 * Math.sign(element)) : element,
    ),
  }),
  faultOf("RESHAPE", "NaN becomes 0", {
    after: withElements((element) => (Number.isNaN(element) ? 0 : element), "floats"),
  }),
  faultOf("CONV_2D", "the image is shifted by a column", {
    before: withTensor("input", (tensor) => {
      const data = tensor.data.slice();
      const depth = tensor.dimensions[3] ?? 1;
      data.copyWithin(depth, 0);
      return { ...tensor, data };
    }),
  }),
  faultOf("CONV_2D", "one column of padding too many on the left", {
    before: withNumber("paddingLeft", (value) => value + 1),
  }),
  faultOf("CONV_2D", "one row of padding too few at the top", {
    before: withNumber("paddingTop", (value) => Math.max(0, value - 1)),
  }),
  faultOf("CONV_2D", "the dilation is ignored", { before: withNumber("dilationWidth", () => 1) }),
  faultOf("CONV_2D", "the strides are exchanged", {
    before: (args) => ({ ...args, strideWidth: args.strideHeight, strideHeight: args.strideWidth }),
  }),
  faultOf("CONV_2D", "the zero point of the image is dropped", { before: withTensor("input", withoutZeroPoint) }),
  faultOf("CONV_2D", "the zero point of the filter is dropped", { before: withTensor("filter", withoutZeroPoint) }),
  faultOf("CONV_2D", "every channel has the scale of the first", {
    before: withTensor("filter", (tensor) => {
      const { channelQuant } = tensor;
      if (channelQuant === undefined) return tensor;
      return {
        ...tensor,
        channelQuant: { ...channelQuant, scales: channelQuant.scales.map(() => channelQuant.scales[0] ?? 1) },
      };
    }),
  }),
  faultOf("CONV_2D", "results are 0.1 % too large", { after: scaled(1.001) }),
  faultOf("CONV_2D", "images as NCHW are read as NHWC", { before: (args) => ({ ...args, nchw: false }) }),
  faultOf("DEPTHWISE_CONV_2D", "one column of padding too few on the left", {
    before: withNumber("paddingLeft", (value) => Math.max(0, value - 1)),
  }),
  faultOf("DEPTHWISE_CONV_2D", "the filters are in the reverse order", { before: withTensor("filter", reversed) }),
  faultOf("GROUPED_CONV_2D", "the bias is dropped", { before: withTensor("bias", zeros) }),
  faultOf("TRANSPOSE_CONV_2D", "one row of padding too many at the top", {
    before: withNumber("paddingTop", (value) => value + 1),
  }),
  faultOf("FULLY_CONNECTED", "the bias is dropped", { before: withTensor("bias", zeros) }),
  faultOf("FULLY_CONNECTED", "results are computed in float16", { after: withElements(half, "floats") }),
  faultOf("AVERAGE_POOL_2D", "the padding counts as cells", {
    after: ([output], args) => {
      const padding = numberOf(args.paddingLeft) + numberOf(args.paddingTop);
      if (output === undefined || padding === 0 || output.scale !== 0 || output.data.length === 0) return;
      output.data[0] = (output.data[0] ?? 0) / 2;
    },
  }),
  faultOf("AVERAGE_POOL_2D", "averages are rounded down", {
    after: withElements((element, _, { type }) =>
      type === "TENSOR_FLOAT32" ? Math.floor(element * 64) / 64 : element,
    ),
  }),
  faultOf("MAX_POOL_2D", "the greatest element starts at 0", {
    after: withElements((element) => Math.max(0, element), "floats"),
  }),
  faultOf("L2_POOL_2D", "the root is not taken", { after: withElements((element) => element * element, "floats") }),
  faultOf("SOFTMAX", "beta is ignored", { before: withNumber("beta", () => 1) }),
  faultOf("SOFTMAX", "the axis is ignored", { before: withNumber("axis", () => -1) }),
  faultOf("LOG_SOFTMAX", "results are computed in float16", { after: withElements(half, "floats") }),
  faultOf("LOGISTIC", "results are off by 0.0001", { after: withElements((element) => element + 1e-4, "floats") }),
  faultOf("TANH", "results are computed in float16", { after: withElements(half, "floats") }),
  faultOf("TANH", "quantised results are off by two steps", {
    after: withElements((element) => Math.max(-126, element - 2), "quantised"),
  }),
  faultOf("EXP", "results are 0.01 % too small", { after: scaled(0.9999) }),
  faultOf("RSQRT", "only the first step of an iteration is done", { after: scaled(1.0005) }),
  faultOf("HARD_SWISH", "the division by 6 is one by 6.006", { after: scaled(6 / 6.006) }),
  faultOf("PRELU", "every channel has the slope of the first", {
    before: withTensor("alpha", (tensor) => ({ ...tensor, data: tensor.data.slice().fill(tensor.data[0] ?? 0) })),
  }),
  faultOf("RELU6", "the bound is 6.1", {
    after: withElements((element) => (element === 6 ? 6.1 : element), "floats"),
  }),
  faultOf("MEAN", "the first result of the last run is added", stale),
  faultOf("REDUCE_SUM", "the first result of the last run is added", stale),
  faultOf("REDUCE_MAX", "the greatest element starts at 0", {
    after: withElements((element) => Math.max(0, element), "floats"),
  }),
  faultOf("REDUCE_ANY", "it is computed as its opposite", { after: withElements((element) => 1 - element) }),
  faultOf("ARGMAX", "indexes count from 1", { after: withElements((element) => element + 1) }),
  faultOf("TOPK_V2", "the values are in the reverse order", { after: ([values]) => void values?.data.reverse() }),
  faultOf("TRANSPOSE", "the permutation is applied the other way round", {
    before: (args) => {
      if (!isTensor(args.permutation)) return args;
      const order = tensorOf(args.permutation);
      const data = order.data.slice();
      for (const [from, to] of [...order.data].entries()) data[to] = from;
      return { ...args, permutation: { ...order, data } };
    },
  }),
  faultOf("CONCATENATION", "the inputs are joined in the reverse order", {
    before: (args) => (Array.isArray(args.inputs) ? { ...args, inputs: [...args.inputs].reverse() } : args),
  }),
  faultOf("GATHER", "the first index is always taken", { before: withTensor("indices", zeros) }),
  faultOf("SLICE", "it begins at 0", { before: withTensor("begin", zeros) }),
  faultOf("STRIDED_SLICE", "the mask of the beginnings is ignored", { before: withNumber("beginMask", () => 0) }),
  faultOf("PAD_V2", "the padding is 0", { before: (args) => ({ ...args, value: 0 }) }),
  faultOf("PAD", "what the last run left is in the padding", () => {
    let last: number | undefined;
    return {
      after: ([output], { input }) => {
        if (output === undefined || output.data.length === tensorOf(input).data.length) return;
        if (last !== undefined) output.data[0] = last;
        last = output.data.at(-1);
      },
    };
  }),
  faultOf("DEPTH_TO_SPACE", "the channels of a block are in the reverse order", {
    before: withTensor("input", reversed),
  }),
  faultOf("CHANNEL_SHUFFLE", "groups and channels are exchanged", {
    before: (args) => {
      const { dimensions } = tensorOf(args.input);
      const axis = numberOf(args.axis) + (numberOf(args.axis) < 0 ? dimensions.length : 0);
      return { ...args, groups: (dimensions[axis] ?? 1) / Math.max(1, numberOf(args.groups)) };
    },
  }),
  faultOf("RESIZE_BILINEAR", "the corners are not aligned", { before: (args) => ({ ...args, alignCorners: false }) }),
  faultOf("RESIZE_NEAREST_NEIGHBOR", "the centers of pixels are at their corners", {
    before: (args) => ({ ...args, halfPixelCenters: false }),
  }),
  faultOf("SPACE_TO_BATCH_ND", "the paddings of both axes are exchanged", {
    before: withTensor("paddings", (tensor) => ({ ...tensor, data: tensor.data.slice().reverse() })),
  }),
  faultOf("SELECT", "the choice is the other one", {
    before: (args) => ({ ...args, whenTrue: args.whenFalse, whenFalse: args.whenTrue }),
  }),
  faultOf("NOT_EQUAL", "NaN is equal to everything", {
    after: ([output], { left }) => {
      const { data } = tensorOf(left);
      if (output?.data.length === data.length)
        data.forEach((element, index) => {
          if (Number.isNaN(element)) output.data[index] = 0;
        });
    },
  }),
  faultOf("CAST", "floats beyond 8 bits start again at 0", {
    after: ([output], { input }) => {
      const { type, data } = tensorOf(input);
      if (output?.type !== "TENSOR_QUANT8_ASYMM" || type !== "TENSOR_FLOAT32") return;
      data.forEach((element, index) => {
        output.data[index] = Math.trunc(element) & 255;
      });
    },
  }),
  faultOf("DEQUANTIZE", "the zero point is dropped", { before: withTensor("input", withoutZeroPoint) }),
  faultOf("L2_NORMALIZATION", "the axis is ignored", { before: withNumber("axis", () => -1) }),
  faultOf("LOCAL_RESPONSE_NORMALIZATION", "the axis is ignored", { before: withNumber("axis", () => -1) }),
  faultOf("INSTANCE_NORMALIZATION", "beta is dropped", { before: (args) => ({ ...args, beta: 0 }) }),
  faultOf("ROI_ALIGN", "the number of samples is ignored", { before: withNumber("widthSamples", () => 1) }),
  faultOf("HASHTABLE_LOOKUP", "what is missing counts as found", { after: ([, hits]) => void hits?.data.fill(1) }),
  faultOf("EMBEDDING_LOOKUP", "the first row is always taken", { before: withTensor("lookups", zeros) }),
  faultOf("RNN", "the state is forgotten", { before: withTensor("hiddenStateIn", zeros) }),
  faultOf("RNN", "the state of the last run is kept, whatever state is given", keepState("hiddenStateIn", "first")),
  faultOf("LSTM", "the state of the cell is forgotten", { before: withTensor("cellStateIn", zeros) }),
  faultOf("LSTM", "the cell is not clipped", { before: withNumber("cellClip", () => 0) }),
  faultOf("UNIDIRECTIONAL_SEQUENCE_RNN", "batches are taken for time steps", {
    before: (args) => ({ ...args, timeMajor: numberOf(args.timeMajor) === 0 ? 1 : 0 }),
  }),
  faultOf("SVDF", "the state of the last run is kept, whatever state is given", keepState("stateIn", "first")),
];

/** Faults that the default run does not find, and why. */
export const unfoundKernelFaults: readonly (KernelFault & { readonly why: string })[] = [
  {
    ...faultOf("QUANTIZE", "halves are rounded down", {
      after: withElements((element) => element, "quantised"),
      before: withTensor("input", (tensor) => ({ ...tensor, data: tensor.data.map((element) => element - 1e-6) })),
    }),
    why: "the HAL does not say how halves are rounded, so a result may be one step off",
  },
  {
    ...faultOf("FULLY_CONNECTED", "float16 results are 0.1 % too large", {
      after: withElements((element, _, { type }) => (type === "TENSOR_FLOAT16" ? element * 1.001 : element)),
    }),
    why: "the HAL allows 0.5 % in float16, and sums may be computed in it",
  },
];
