/**
 * The mutants that can be valid models, because an operation accepts the change: a reviewed list; each row has a reason. It is
 * independent, so that the kit does not judge a driver by definitions that the driver uses too.
 */
import type { OperandTypeName, Operation, OperationTypeName } from "@nnhal/types";
import { operationNameOf, type Use } from "./site.ts";

/** One side of an operation's operands, and which of them. */
interface Place {
  readonly operations: readonly OperationTypeName[];
  readonly side: "inputs" | "outputs";
  /** Selects positions, by the number of operands on that side. Default: all positions. */
  readonly at?: (position: number, count: number) => boolean;
  readonly reason: string;
}

/** An operand that an operation accepts in several types that can stand for one another. */
interface TypeExemption extends Place {
  readonly types: readonly OperandTypeName[];
}

const floats = ["TENSOR_FLOAT16", "TENSOR_FLOAT32"] as const;
const unsignedOrSigned = ["TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM_SIGNED"] as const;
const numeric = [...floats, "TENSOR_INT32", ...unsignedOrSigned] as const;
const allTensors = [
  ...numeric,
  "TENSOR_BOOL8",
  "TENSOR_QUANT8_SYMM",
  "TENSOR_QUANT8_SYMM_PER_CHANNEL",
  "TENSOR_QUANT16_ASYMM",
  "TENSOR_QUANT16_SYMM",
] as const;

const first = (position: number) => position === 0;
const second = (position: number) => position === 1;
/** The last operand, where there is a certain number of them. */
const lastOf =
  (...counts: readonly number[]) =>
  (position: number, count: number) =>
    counts.includes(count) && position === count - 1;

const cast = { operations: ["CAST"], types: numeric, reason: "CAST converts between these types" } as const;
const twoMeanings = "with this number of inputs, the type of this one tells implicit from explicit padding";

const typeExemptions: readonly TypeExemption[] = [
  {
    operations: ["LSH_PROJECTION"],
    side: "inputs",
    at: second,
    types: allTensors,
    reason: "LSH_PROJECTION hashes the bytes of any tensor",
  },
  {
    operations: ["ARGMAX", "ARGMIN"],
    side: "inputs",
    at: first,
    types: numeric,
    reason: "ARGMAX and ARGMIN give indexes of a tensor of any of these types",
  },
  { ...cast, side: "inputs" },
  { ...cast, side: "outputs" },
  { operations: ["QUANTIZE"], side: "inputs", types: floats, reason: "QUANTIZE takes both float types" },
  { operations: ["QUANTIZE"], side: "outputs", types: unsignedOrSigned, reason: "QUANTIZE gives both quantised types" },
  {
    operations: ["RANDOM_MULTINOMIAL"],
    side: "inputs",
    at: first,
    types: floats,
    reason: "RANDOM_MULTINOMIAL takes both float types",
  },
  {
    operations: ["DEQUANTIZE"],
    side: "inputs",
    types: [...unsignedOrSigned, "TENSOR_QUANT8_SYMM", "TENSOR_QUANT8_SYMM_PER_CHANNEL"],
    reason: "DEQUANTIZE takes these quantised types",
  },
  { operations: ["DEQUANTIZE"], side: "outputs", types: floats, reason: "DEQUANTIZE gives both float types" },
  {
    operations: ["CONV_2D", "DEPTHWISE_CONV_2D", "GROUPED_CONV_2D", "TRANSPOSE_CONV_2D"],
    side: "inputs",
    at: second,
    types: [...unsignedOrSigned, "TENSOR_QUANT8_SYMM_PER_CHANNEL"],
    reason: "a quantised convolution takes a filter with one scale, or with one for each channel",
  },
  {
    operations: ["CONV_2D"],
    side: "inputs",
    at: (position, count) => position === 7 && count === 10,
    types: ["INT32", "BOOL"],
    reason: twoMeanings,
  },
  {
    operations: ["DEPTHWISE_CONV_2D"],
    side: "inputs",
    at: (position, count) => position === 8 && count === 11,
    types: ["INT32", "BOOL"],
    reason: twoMeanings,
  },
  {
    operations: ["AXIS_ALIGNED_BBOX_TRANSFORM"],
    side: "inputs",
    at: second,
    types: unsignedOrSigned,
    reason: "AXIS_ALIGNED_BBOX_TRANSFORM takes both quantised types beside quantised regions",
  },
  { operations: ["RANK"], side: "inputs", types: allTensors, reason: "RANK takes a tensor of any type" },
];

const unused = "no operation uses the operand";
const notTheHals = "what an extension's operation takes is its own affair";

/** Why an operand may be of another type; undefined if it must not. Every use of it has to allow it. */
export function typeExemption(
  uses: readonly Use[],
  from: OperandTypeName | undefined,
  to: OperandTypeName,
): string | undefined {
  return exemptionOf(uses, (use) => {
    const row = typeExemptions.find(({ types, ...place }) => matches(place, use) && types.includes(to));
    return from !== undefined && row?.types.includes(from) ? row.reason : undefined;
  });
}

const layout = "the layout is optional";
const axis = "the axis is optional";

/** Operands that may be missing. */
const removalExemptions: readonly Place[] = [
  {
    operations: ["CONCATENATION"],
    side: "inputs",
    at: (position, count) => count > 2 && position < count - 1,
    reason: "CONCATENATION takes any number of tensors",
  },
  {
    operations: ["CONV_2D", "AVERAGE_POOL_2D", "MAX_POOL_2D", "L2_POOL_2D"],
    side: "inputs",
    at: lastOf(8, 11),
    reason: layout,
  },
  { operations: ["DEPTHWISE_CONV_2D"], side: "inputs", at: lastOf(9, 12), reason: layout },
  {
    operations: ["SPACE_TO_DEPTH", "DEPTH_TO_SPACE", "BATCH_TO_SPACE_ND"],
    side: "inputs",
    at: lastOf(3),
    reason: layout,
  },
  { operations: ["SPACE_TO_BATCH_ND"], side: "inputs", at: lastOf(4), reason: layout },
  {
    operations: ["RESIZE_BILINEAR"],
    side: "inputs",
    at: (position) => position >= 3,
    reason: "the last three booleans are optional, and whichever is missing, the others move up",
  },
  {
    operations: ["RESIZE_NEAREST_NEIGHBOR"],
    side: "inputs",
    at: (position, count) => count >= 5 && position >= 3,
    reason: "the last two booleans are optional, and whichever is missing, the others move up",
  },
  { operations: ["L2_NORMALIZATION"], side: "inputs", at: lastOf(2), reason: axis },
  { operations: ["LOCAL_RESPONSE_NORMALIZATION"], side: "inputs", at: lastOf(6), reason: axis },
  { operations: ["SOFTMAX"], side: "inputs", at: lastOf(3), reason: axis },
  {
    operations: ["UNIDIRECTIONAL_SEQUENCE_RNN"],
    side: "outputs",
    at: (_position, count) => count === 2,
    reason: "the state that the operation gives is optional",
  },
  {
    operations: ["BIDIRECTIONAL_SEQUENCE_LSTM", "BIDIRECTIONAL_SEQUENCE_RNN"],
    side: "outputs",
    reason: "how many outputs the operation has is told by an operand, which may be known to the execution alone",
  },
  {
    operations: ["SPLIT"],
    side: "outputs",
    reason: "how many outputs SPLIT has is the value of an operand, which may be known to the execution alone",
  },
  {
    operations: ["WHILE"],
    side: "outputs",
    at: (_position, count) => count > 1,
    reason: "WHILE may keep to itself what its body gives",
  },
];

/** Why an operation may lack one of its operands; undefined if it must not. */
export function removalExemption(use: Use): string | undefined {
  return exemptionOf([use], (one) => removalExemptions.find((row) => matches(row, one))?.reason);
}

/** Why a subgraph may lack an operand and all its uses; undefined if it must not. */
export function operandRemovalExemption(uses: readonly Use[]): string | undefined {
  return exemptionOf(uses, (use) => removalExemptions.find((row) => matches(row, use))?.reason);
}

/** Operations that take an INT32 as one more input, and the number of inputs with which they do. */
const additionExemptions: Readonly<Partial<Record<OperationTypeName, number>>> = {
  L2_NORMALIZATION: 1,
  LOCAL_RESPONSE_NORMALIZATION: 5,
  SOFTMAX: 2,
};

/** Why an operation may have one more input, an INT32; undefined if it must not. */
export function additionExemption(operation: Operation): string | undefined {
  const name = operationNameOf(operation);
  if (name === undefined) return notTheHals;
  return additionExemptions[name] === operation.inputs.length ? axis : undefined;
}

function matches({ operations, side, at = () => true }: Omit<Place, "reason">, use: Use): boolean {
  const name = operationNameOf(use.operation);
  if (name === undefined || side !== use.side || !operations.includes(name)) return false;
  return at(use.position, use.operation[side].length);
}

/** The reason of the first use, where every use has one. */
function exemptionOf(uses: readonly Use[], find: (use: Use) => string | undefined): string | undefined {
  if (uses.length === 0) return unused;
  const reasons = uses.map((use) => (operationNameOf(use.operation) === undefined ? notTheHals : find(use)));
  return reasons.includes(undefined) ? undefined : reasons[0];
}
