/**
 * The quantised operators that are compared: for each, the types for which TensorFlow Lite has kernels, and variants with other
 * quantisations, shapes and options. Operators that only move elements have nothing to round and are left out, and so are cells of
 * recurrent networks, whose state a single execution does not show.
 */
import type { OptionValue } from "@nnhal/tflite";
import { convolutionCases } from "./convolution-cases.ts";
import { ranges } from "./elements.ts";
import type { TensorGiven, Variant } from "./model.ts";
import { type OperatorCase, type QuantisedType, type Real, tensor } from "./operator-case.ts";

const all = ["UINT8", "INT8", "INT16"] as const;
const bytes = ["UINT8", "INT8"] as const;
const signed = ["INT8", "INT16"] as const;

/** A tensor whose quantisation the operator fixes. `center`: the zero point of unsigned bytes. */
function fixQuantisation(type: QuantisedType, shape: readonly number[], scale: number, center: number): TensorGiven {
  if (type === "INT16") return { type, shape, scale: 1 / 32768, zeroPoint: 0 };
  return { type, shape, scale, zeroPoint: center + ranges[type][0] };
}

const list = (...data: readonly number[]): TensorGiven => ({ type: "INT32", shape: [data.length], data });
const row = [4096] as const;
const image = [1, 16, 16, 16] as const;
const plain: readonly Real[] = [
  [-3, 3],
  [-1, 5.3],
  [-6.1, 0.7],
];

type Options = Readonly<Record<string, OptionValue>>;

/** An operator of one tensor, for each pair of ranges of its input and its result. */
function unary(
  types: readonly QuantisedType[],
  pairs: readonly (readonly [Real, Real])[],
  options: Options = {},
): OperatorCase {
  return {
    types,
    variants: (type) =>
      pairs.map(([from, to]) => ({ inputs: [tensor(type, row, from)], output: tensor(type, row, to), options })),
  };
}

/** An operator whose result has a fixed quantisation. */
function toFixed(
  types: readonly QuantisedType[],
  scale: number,
  center: number,
  shape: readonly number[],
  options: Options = {},
): OperatorCase {
  return {
    types,
    variants: (type) =>
      plain.map((real) => ({
        inputs: [tensor(type, shape, real)],
        output: fixQuantisation(type, shape, scale, center),
        options,
      })),
  };
}

/** An operator of two tensors, with ranges of both and of the result; the second one is also broadcast. */
function binary(
  types: readonly QuantisedType[],
  triples: readonly (readonly [Real, Real, Real])[],
  options: Options = {},
): OperatorCase {
  return {
    types,
    variants: (type) =>
      triples.flatMap(([a, b, c]) =>
        [image, image.slice(3)].map((second) => ({
          inputs: [tensor(type, image, a), tensor(type, second, b)],
          output: tensor(type, image, c),
          options,
        })),
      ),
  };
}

/** Resizing from 9 x 7 pixels: to other sizes, in all modes. */
function makeResizeCase(modes: readonly Options[]): OperatorCase {
  return {
    types: all,
    variants: (type) =>
      modes.flatMap((options) =>
        [
          [18, 14],
          [13, 29],
          [5, 4],
        ].map(([height = 0, width = 0]): Variant => {
          const image = (...extents: readonly number[]) => tensor(type, [1, ...extents, 8], [-1, 5.3]);
          return { inputs: [image(9, 7), list(height, width)], output: image(height, width), options };
        }),
      ),
  };
}

const sums: readonly (readonly [Real, Real, Real])[] = [
  [
    [-1, 1],
    [-1, 1],
    [-2, 2],
  ],
  [
    [-1, 5.3],
    [-0.4, 0.3],
    [-1.2, 5.5],
  ],
  [
    [-2.2, 1.7],
    [-3, 0.1],
    [-4.4, 1.9],
  ],
];
const scaled: readonly (readonly [Real, Real, Real])[] = [
  [
    [-1, 1],
    [-1, 1],
    [-1, 1],
  ],
  [
    [-1, 5.3],
    [-0.4, 0.3],
    [-2, 1.6],
  ],
  [
    [-2.2, 1.7],
    [-3, 0.1],
    [-4, 6.5],
  ],
];
const converted: readonly (readonly [Real, Real])[] = [
  [
    [-3, 3],
    [-1, 5.3],
  ],
  [
    [-1, 5.3],
    [-4.1, 6],
  ],
  [
    [-1, 1],
    [-6, 6],
  ],
];

/** Reductions of an image along some axes. `range`: that of the results of elements within -1 to 5.3. */
function reduction(types: readonly QuantisedType[], range: (count: number) => Real): OperatorCase {
  return {
    types,
    variants: (type) =>
      [[1, 2], [3], [2, 3]].flatMap((axes) =>
        [false, true].map((keepDims): Variant => {
          const shape = [8, 7, 9, 10];
          const kept = keepDims ? shape.map((extent, axis) => (axes.includes(axis) ? 1 : extent)) : shape;
          const result = keepDims ? kept : shape.filter((_, axis) => !axes.includes(axis));
          const [least, greatest] = range(axes.reduce((product, axis) => product * (shape[axis] ?? 1), 1));
          // With another quantisation in half of the variants.
          const share = keepDims ? 1 : 0.9;
          return {
            inputs: [tensor(type, shape, [-1, 5.3]), list(...axes)],
            output: tensor(type, result, [share * least, share * greatest]),
            options: { keepDims },
          };
        }),
      ),
  };
}

function pool(types: readonly QuantisedType[]): OperatorCase {
  return {
    types,
    variants: (type) =>
      [2, 3].flatMap((size) =>
        ["SAME", "VALID"].map((padding): Variant => {
          const extent = padding === "SAME" ? 16 : 17 - size;
          const square = (side: number) => tensor(type, [1, side, side, 16], [-1, 5.3]);
          return {
            inputs: [square(16)],
            output: square(extent),
            options: { padding, strideW: 1, strideH: 1, filterWidth: size, filterHeight: size },
          };
        }),
      ),
  };
}

/** The same with an input whose elements are well above 0. */
function withPositive(place: number, { types, variants }: OperatorCase): OperatorCase {
  const raise = (given: TensorGiven): TensorGiven => ({
    ...given,
    range: [(given.zeroPoint ?? 0) + 8, given.type === "INT16" ? 32767 : (given.zeroPoint ?? 0) + 255],
  });
  return {
    types,
    variants: (type) =>
      variants(type).map((variant) => ({
        ...variant,
        inputs: variant.inputs.map((given, at) => (at === place ? raise(given) : given)),
      })),
  };
}

/** In alphabetical order. */
export const cases: Readonly<Record<string, OperatorCase>> = {
  ABS: unary(signed, [
    [
      [-3, 3],
      [0, 3],
    ],
    [
      [-1, 5.3],
      [-1, 6],
    ],
  ]),
  ADD: binary(all, sums),
  AVERAGE_POOL_2D: pool(all),
  ...convolutionCases,
  CONCATENATION: {
    types: ["UINT8"],
    variants: (type) =>
      plain.map(
        (real): Variant => ({
          inputs: [tensor(type, image, real), tensor(type, image, [-2, 4])],
          output: tensor(type, [1, 16, 16, 32], [-2, 4]),
          options: { axis: 3 },
        }),
      ),
  },
  DIV: withPositive(
    1,
    binary(
      ["UINT8"],
      [
        [
          [-1, 1],
          [0, 4],
          [-2, 2],
        ],
      ],
    ),
  ),
  ELU: unary(["INT8"], converted),
  EXP: unary(signed, [
    [
      [-3, 1],
      [0, 2.8],
    ],
  ]),
  GELU: unary(bytes, converted),
  HARD_SWISH: unary(bytes, converted),
  L2_NORMALIZATION: toFixed(bytes, 1 / 128, 128, [64, 64]),
  LEAKY_RELU: {
    types: all,
    variants: (type) => [0.1, 0.33, -0.5].flatMap((alpha) => unary(all, converted, { alpha }).variants(type)),
  },
  LOG: withPositive(
    0,
    unary(signed, [
      [
        [0, 8],
        [-2.5, 2.2],
      ],
    ]),
  ),
  LOGISTIC: toFixed(all, 1 / 256, 0, row),
  LOG_SOFTMAX: toFixed(bytes, 16 / 256, 255, [64, 64]),
  MAXIMUM: binary(all, [
    [
      [-3, 3],
      [-3, 3],
      [-3, 3],
    ],
  ]),
  MAX_POOL_2D: pool(all),
  MEAN: reduction(all, () => [-1, 5.3]),
  MINIMUM: binary(all, [
    [
      [-3, 3],
      [-3, 3],
      [-3, 3],
    ],
  ]),
  MUL: binary(all, scaled),
  NEG: unary(
    ["INT8"],
    [
      [
        [-3, 3],
        [-3, 3],
      ],
      [
        [-1, 5.3],
        [-5.3, 1],
      ],
    ],
  ),
  PRELU: {
    types: bytes,
    variants: (type) =>
      converted.map(
        ([from, to]): Variant => ({
          inputs: [tensor(type, image, from), { ...tensor(type, [1, 1, 16], [-0.6, 0.9]), data: spread(type) }],
          output: tensor(type, image, to),
        }),
      ),
  },
  QUANTIZE: unary(all, converted),
  RELU: unary(all, converted),
  RELU6: unary(bytes, converted),
  RELU_N1_TO_1: unary(bytes, converted),
  RESIZE_BILINEAR: makeResizeCase([{}, { alignCorners: true }, { halfPixelCenters: true }]),
  RESIZE_NEAREST_NEIGHBOR: makeResizeCase([{}, { alignCorners: true }]),
  RSQRT: withPositive(
    0,
    unary(signed, [
      [
        [0, 8],
        [0, 3],
      ],
    ]),
  ),
  SOFTMAX: toFixed(all, 1 / 256, 0, [64, 64], { beta: 1 }),
  SQRT: unary(
    ["INT8"],
    [
      [
        [0, 8],
        [0, 3],
      ],
    ],
  ),
  SQUARED_DIFFERENCE: binary(
    ["INT8"],
    [
      [
        [-1, 1],
        [-1, 1],
        [0, 4],
      ],
      [
        [-1, 5.3],
        [-0.4, 0.3],
        [0, 20],
      ],
    ],
  ),
  SUB: binary(all, sums),
  SUM: reduction(all, (count) => [-0.2 * count, 2.7 * count]),
  TANH: toFixed(all, 1 / 128, 128, row),
};

/** Sixteen elements over the range of a type. */
function spread(type: QuantisedType): number[] {
  const [least, greatest] = ranges[type];
  return Array.from({ length: 16 }, (_, place) => Math.round(least + ((greatest - least) * place) / 15));
}
