/**
 * The input and output tensors of each operator that can be imported: one table, and the check of an operator against it.
 */
import { ensure, listText, type Place } from "../error.ts";
import type { TfliteOperator } from "../model.ts";

/**
 * Inputs and outputs in order, by name. A name that ends in `?` may be omitted, one that ends in `*` stands for any number
 * of tensors, and one that ends in `+` for at least one.
 */
type Tensors = readonly [inputs: string, outputs: string];

const unary: Tensors = ["input", "output"];
const binary: Tensors = ["left right", "output"];
const same: Tensors = ["lhs rhs", "output"];
const reduction: Tensors = ["input axes", "output"];
const layer: Tensors = ["input filter bias?", "output"];
const padding: Tensors = ["input paddings", "output"];
const resizing: Tensors = ["input size", "output"];

const gates = (from: string) =>
  `${from}_to_input_weights? ${from}_to_forget_weights ${from}_to_cell_weights ${from}_to_output_weights`;
/** The weights and biases of one LSTM cell. */
const cell = [
  gates("input"),
  gates("recurrent"),
  "cell_to_input_weights? cell_to_forget_weights? cell_to_output_weights?",
  "input_bias? forget_bias cell_bias output_bias projection_weights? projection_bias?",
].join(" ");
const lstm: Tensors = [
  `input ${cell} hidden_state cell_state input_norm? forget_norm? cell_norm? output_norm?`,
  "output",
];
const addPrefix = (prefix: string, names: string) => names.replace(/\S+/g, (name) => `${prefix}_${name}`);
const auxiliary = ["input", "forget", "cell", "output"].map((gate) => `auxiliary_to_${gate}_weights?`).join(" ");
const rnnCell = "weights recurrent_weights bias hidden_state";

const table = {
  ABS: unary,
  ADD: binary,
  ADD_N: ["values+", "output"],
  ARG_MAX: ["input axis", "output"],
  ARG_MIN: ["input axis", "output"],
  ASSIGN_VARIABLE: ["resource value", ""],
  AVERAGE_POOL_2D: unary,
  BATCH_MATMUL: ["x y", "output"],
  BATCH_TO_SPACE_ND: ["input block crops", "output"],
  BIDIRECTIONAL_SEQUENCE_LSTM: [
    [
      `input ${addPrefix("forward", cell)} ${addPrefix("backward", cell)}`,
      "forward_hidden_state forward_cell_state backward_hidden_state backward_cell_state auxiliary_input?",
      `${addPrefix("forward", auxiliary)} ${addPrefix("backward", auxiliary)}`,
    ].join(" "),
    "forward_output backward_output?",
  ],
  BIDIRECTIONAL_SEQUENCE_RNN: [
    [
      `input ${addPrefix("forward", rnnCell)} ${addPrefix("backward", rnnCell)}`,
      "auxiliary_input? forward_auxiliary_weights? backward_auxiliary_weights?",
    ].join(" "),
    "forward_output backward_output?",
  ],
  CALL: ["values*", "results*"],
  CALL_ONCE: ["values*", "results*"],
  CAST: unary,
  CEIL: unary,
  CONCATENATION: ["values+", "output"],
  CONV_2D: layer,
  DEPTH_TO_SPACE: unary,
  DEPTHWISE_CONV_2D: layer,
  DEQUANTIZE: unary,
  DIV: binary,
  DENSIFY: unary,
  ELU: unary,
  EMBEDDING_LOOKUP: ["indexes table", "output"],
  EQUAL: binary,
  EXP: unary,
  EXPAND_DIMS: ["input axis", "output"],
  FILL: ["shape value", "output"],
  FLOOR: unary,
  FLOOR_DIV: binary,
  FLOOR_MOD: binary,
  FULLY_CONNECTED: layer,
  GATHER: ["input indexes", "output"],
  GREATER: binary,
  GREATER_EQUAL: binary,
  HARD_SWISH: unary,
  HASHTABLE: ["", "resource"],
  HASHTABLE_FIND: ["resource keys default tensors*", "values"],
  HASHTABLE_IMPORT: ["resource keys values tensors*", "results*"],
  HASHTABLE_LOOKUP: ["lookups keys values", "output hits"],
  HASHTABLE_SIZE: ["resource tensors*", "size"],
  IF: ["condition values*", "results*"],
  L2_NORMALIZATION: unary,
  L2_POOL_2D: unary,
  LEAKY_RELU: unary,
  LESS: binary,
  LESS_EQUAL: binary,
  LOCAL_RESPONSE_NORMALIZATION: unary,
  LOG: unary,
  LOG_SOFTMAX: unary,
  LOGICAL_AND: binary,
  LOGICAL_NOT: unary,
  LOGICAL_OR: binary,
  LOGISTIC: unary,
  LSH_PROJECTION: ["hash input weights?", "output"],
  LSTM: lstm,
  MAX_POOL_2D: unary,
  MAXIMUM: binary,
  MEAN: reduction,
  MINIMUM: binary,
  MIRROR_PAD: padding,
  MUL: binary,
  NEG: unary,
  NOT_EQUAL: binary,
  PACK: ["values+", "output"],
  PAD: padding,
  PADV2: ["input paddings value", "output"],
  POW: binary,
  PRELU: ["input slope", "output"],
  QUANTIZE: unary,
  RANK: unary,
  READ_VARIABLE: ["resource", "value"],
  REDUCE_ALL: reduction,
  REDUCE_ANY: reduction,
  REDUCE_MAX: reduction,
  REDUCE_MIN: reduction,
  REDUCE_PROD: reduction,
  RELU: unary,
  RELU_0_TO_1: unary,
  RELU6: unary,
  RELU_N1_TO_1: unary,
  RESHAPE: ["input shape?", "output"],
  RESIZE_BILINEAR: resizing,
  RESIZE_NEAREST_NEIGHBOR: resizing,
  REVERSE_V2: ["input axis", "output"],
  RNN: [`input ${rnnCell}`, "output"],
  RSQRT: unary,
  SELECT: ["condition first second", "output"],
  SELECT_V2: ["condition first second", "output"],
  SHAPE: unary,
  SIN: unary,
  SLICE: ["input begin size", "output"],
  SOFTMAX: unary,
  SPACE_TO_BATCH_ND: ["input block paddings", "output"],
  SPACE_TO_DEPTH: unary,
  SPLIT: ["axis input", "parts+"],
  SPLIT_V: ["input sizes axis", "parts+"],
  SQRT: unary,
  SQUARE: unary,
  SQUARED_DIFFERENCE: binary,
  SQUEEZE: unary,
  STRIDED_SLICE: ["input begin end strides", "output"],
  STABLEHLO_ADD: same,
  STABLEHLO_AND: same,
  STABLEHLO_CASE: ["branch values*", "results*"],
  STABLEHLO_COMPOSITE: ["values*", "results*"],
  STABLEHLO_GATHER: ["operand start_indices", "output"],
  STABLEHLO_MAXIMUM: same,
  STABLEHLO_MINIMUM: same,
  STABLEHLO_MULTIPLY: same,
  STABLEHLO_PAD: ["operand padding_value", "output"],
  STABLEHLO_REDUCE_WINDOW: ["operand init_value", "output"],
  STABLEHLO_RNG_BIT_GENERATOR: ["initial_state", "output_state output"],
  STABLEHLO_SCATTER: ["operand scatter_indices updates", "output"],
  STABLEHLO_SHIFT_LEFT: same,
  SUB: binary,
  SUM: reduction,
  SVDF: ["input feature_weights time_weights bias? state", "output"],
  TANH: unary,
  TILE: ["input multiples", "output"],
  TOPK_V2: ["input k", "values indexes"],
  TRANSPOSE: ["input permutation", "output"],
  TRANSPOSE_CONV: ["output_shape filter input bias?", "output"],
  UNIDIRECTIONAL_SEQUENCE_LSTM: lstm,
  UNIDIRECTIONAL_SEQUENCE_RNN: [`input ${rnnCell}`, "output"],
  UNPACK: ["input", "parts+"],
  VAR_HANDLE: ["", "resource"],
  WHILE: ["values*", "results*"],
} satisfies Readonly<Record<string, Tensors>>;

/** An operator whose tensors are known: one that can be imported. */
export type ImportedOperatorName = keyof typeof table;

/** One list of tensors: the inputs or the outputs of an operator. */
interface Side {
  /** Names of the single tensors. */
  readonly names: readonly string[];
  readonly isOptional: readonly boolean[];
  /** The name of the tensors that follow these, of which there may be any number. */
  readonly rest: string | undefined;
  /** Least number of tensors. */
  readonly least: number;
  /** As a message shows it. */
  readonly text: string;
}

function parse(text: string): Side {
  const words = text === "" ? [] : text.split(" ");
  const last = words.at(-1) ?? "";
  const rest = /[*+]$/.test(last) ? last.slice(0, -1) : undefined;
  const single = rest === undefined ? words : words.slice(0, -1);
  const isOptional = single.map((word) => word.endsWith("?"));
  return {
    names: single.map((word) => word.replace("?", "")),
    isOptional,
    rest,
    least: last.endsWith("+") ? single.length + 1 : isOptional.lastIndexOf(false) + 1,
    text: words.join(", "),
  };
}

const sides: ReadonlyMap<string, readonly [inputs: Side, outputs: Side]> = new Map(
  Object.entries<Tensors>(table).map(([name, [inputs, outputs]]) => [name, [parse(inputs), parse(outputs)]]),
);

/** The tensors of an LSTM with the basic kernel. */
const basicLstm = [
  parse("input last_output weights bias last_state"),
  parse("output state concatenated? activations?"),
] as const;

/** True if an operator is an LSTM with the basic kernel, which has other tensors. */
export function isBasicLstm({ name, options }: TfliteOperator): boolean {
  return name === "LSTM" && options["kernelType"] === "BASIC";
}

function checkSide(
  operator: TfliteOperator,
  what: "input" | "output",
  list: readonly number[],
  { names, isOptional, rest, least, text }: Side,
  at: Place,
): void {
  for (let place = 0; place < Math.max(least, list.length); place++) {
    const name = names[place] ?? rest;
    ensure(
      name !== undefined,
      at,
      () => `has ${list.length} ${what}s, and ${operator.name} has at most ${names.length}: ${text}`,
    );
    const isNeeded = !isOptional[place];
    const tensor = list[place];
    ensure(
      !isNeeded || (tensor !== undefined && tensor >= 0),
      at,
      () =>
        `${what} ${place} (${name}) is ${tensor === undefined ? "missing" : "omitted"}; it has ${what}s ${listText(list)}, and the ${what}s of ${operator.name} are ${text}`,
    );
  }
}

/**
 * Refuses an operator with a tensor too many, or without one that it needs. Afterwards every input and output that the
 * table does not mark as optional is there. An operator that is not in the table is left alone.
 */
export function checkOperatorTensors(operator: TfliteOperator, at: Place): void {
  const known = isBasicLstm(operator) ? basicLstm : sides.get(operator.name);
  if (known === undefined) return;
  const [inputs, outputs] = known;
  checkSide(operator, "input", operator.inputs, inputs, at);
  checkSide(operator, "output", operator.outputs, outputs, at);
}
