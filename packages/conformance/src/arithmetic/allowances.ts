/**
 * The allowances of results against the reference's: each operation has its kind of arithmetic, from which the
 * allowance for one example follows: from its types, its elements, and the number of terms that it sums. docs/conformance.md
 * explains it.
 */
import { type Arithmetic, arithmeticIn, floatPrecision as precision, type Terms } from "@nnhal/diff";
import { elementAt, elementCount, isFloat, type Operation, type OutputTensor, type Tensor } from "@nnhal/operations";
import type { RandomOperation } from "../random/draw.ts";
import type { Allowance } from "../vectors/example.ts";

/** Operations that only copy elements, whichever these are. */
const copying: ReadonlySet<string> = new Set([
  "BATCH_TO_SPACE_ND",
  "CHANNEL_SHUFFLE",
  "CONCATENATION",
  "DEPTH_TO_SPACE",
  "EMBEDDING_LOOKUP",
  "EXPAND_DIMS",
  "GATHER",
  "HASHTABLE_LOOKUP",
  "MIRROR_PAD",
  "PACK",
  "PAD",
  "PAD_V2",
  "RESHAPE",
  "REVERSE",
  "SELECT",
  "SLICE",
  "SPACE_TO_BATCH_ND",
  "SPACE_TO_DEPTH",
  "SPLIT",
  "SQUEEZE",
  "STRIDED_SLICE",
  "TILE",
  "TRANSPOSE",
]);

/** Operations whose results from NaN and infinities IEEE 754 fixes, if no activation follows. */
const fixedByIeee: ReadonlySet<string> = new Set([
  "ABS",
  "ADD",
  "EQUAL",
  "GREATER",
  "GREATER_EQUAL",
  "LESS",
  "LESS_EQUAL",
  "MUL",
  "NEG",
  "NOT_EQUAL",
  "SUB",
]);

/** Operations whose results are each a function of one element of each operand; the results for NaN and infinities are open. */
const elementwise: ReadonlySet<string> = new Set([
  "DIV",
  "ELU",
  "EXP",
  "FLOOR",
  "HARD_SWISH",
  "LOG",
  "LOGISTIC",
  "MAXIMUM",
  "MINIMUM",
  "POW",
  "RELU",
  "RELU1",
  "RELU6",
  "RSQRT",
  "SIN",
  "SQRT",
  "TANH",
]);

/**
 * Returns true if operands of an operation may hold NaN and infinities: the HAL does not define their effect on the other
 * elements of a sum.
 */
export function takesUnusual({ name }: Operation): boolean {
  return copying.has(name) || fixedByIeee.has(name) || elementwise.has(name);
}

/** Returns true if the results for NaN and infinities are fixed. */
export function hasFixedUnusual({ inputs, signature }: RandomOperation): boolean {
  const { name } = signature.operation;
  const activation = inputs[signature.inputs.findIndex((param) => param.name === "activation")];
  return copying.has(name) || (fixedByIeee.has(name) && (activation?.data[0] ?? 0) === 0);
}

/** The HAL's own allowances by the class of type. */
const ofHal = {
  float32: { absolute: 1e-5, relative: 5 * 2 ** -23 },
  float16: { absolute: 5 * 2 ** -10, relative: 5 * 2 ** -10 },
  step: { absolute: 1, relative: 0 },
} as const;

const none: Allowance = { absolute: 0, relative: 0 };

/** The allowance for an output of an example. */
export function allowanceFor(drawn: RandomOperation, output: OutputTensor): Allowance {
  const allowance = boundOf(arithmeticIn(drawn.signature.operation), drawn, output);
  const hasUnusual = isFloat(output.type) && !output.data.every(Number.isFinite);
  return hasUnusual && !hasFixedUnusual(drawn) ? { ...allowance, anyUnusual: true } : allowance;
}

function boundOf(arithmetic: Arithmetic | undefined, drawn: RandomOperation, { type, scale }: OutputTensor): Allowance {
  if (type !== "TENSOR_FLOAT32" && type !== "TENSOR_FLOAT16") {
    if (arithmetic?.kind !== "moved") return scale > 0 ? ofHal.step : arithmetic === undefined ? ofHal.step : none;
    return arithmetic.rescales && scale > 0 ? ofHal.step : none;
  }
  const { unit, least } = precision[type];
  const standard = type === "TENSOR_FLOAT32" ? ofHal.float32 : ofHal.float16;
  switch (arithmetic?.kind) {
    case undefined: {
      if (drawn.signature.operation.name !== "SVDF" || type === "TENSOR_FLOAT16") return standard;
      const { count, sum } = termsOfSvdf(drawn);
      return { ...standard, absolute: Math.max(standard.absolute, (count + 2) * (unit / 2) * sum) };
    }
    case "moved":
      return none;
    case "rounded":
      return { absolute: least, relative: arithmetic.roundings * unit };
    case "recurrent": {
      // Batches and steps are the first two extents, in either order.
      const steps = Math.max(...(drawn.inputs[0]?.dimensions.slice(0, 2) ?? []), 1);
      return { absolute: steps * standard.absolute, relative: steps * standard.relative };
    }
    case "summed": {
      if (type === "TENSOR_FLOAT16") return standard;
      const { count, greatest } = termsOf(arithmetic.terms, drawn);
      return { absolute: (count + 2) * (unit / 2) * count * greatest, relative: unit };
    }
  }
}

/** Returns the number of terms of a sum, its bias included, and the greatest finite magnitude of one. */
function termsOf(terms: Terms, { inputs, signature }: RandomOperation): { count: number; greatest: number } {
  const [image, filter] = inputs;
  if (image === undefined) return { count: 1, greatest: 0 };
  const named = (name: string) => inputs[signature.inputs.findIndex((param) => param.name === name)];
  const of = greatestOf(image);
  switch (terms) {
    case "filter": {
      if (filter === undefined) return { count: 1, greatest: of };
      const bias = greatestOf(inputs[2]);
      return { count: elementCount(filter.dimensions) + 1, greatest: Math.max(of * greatestOf(filter), bias) };
    }
    case "window": {
      const extent = (name: string) => elementAt([...(named(name)?.data ?? [1])], 0);
      return { count: extent("filterWidth") * extent("filterHeight"), greatest: of };
    }
    case "reduced":
      return { count: elementCount(image.dimensions), greatest: of };
    default:
      return { count: terms, greatest: of };
  }
}

/** Returns the number of terms of an output of SVDF, those of the feature in it included, and the greatest sum of their magnitudes. */
function termsOfSvdf({ inputs, signature }: RandomOperation): { count: number; sum: number } {
  const named = (name: string) => inputs[signature.inputs.findIndex((param) => param.name === name)];
  const sizeAt = (name: string, place: number) => {
    const element = Math.abs(named(name)?.data[place] ?? 0);
    return Number.isFinite(element) ? element : 0;
  };
  const [batches = 0, features = 0] = named("input")?.dimensions ?? [];
  const [filters = 0, memory = 0] = named("timeWeights")?.dimensions ?? [];
  const rank = elementAt([...(named("rank")?.data ?? [1])], 0);
  let greatest = 0;
  for (let place = 0; place < batches * (filters / rank); place++) {
    const [batch, unit] = [Math.floor(place / (filters / rank)), place % (filters / rank)];
    let sum = sizeAt("bias", unit);
    for (let filter = unit * rank; filter < (unit + 1) * rank; filter++) {
      let newest = 0;
      for (let feature = 0; feature < features; feature++) {
        newest += sizeAt("input", batch * features + feature) * sizeAt("featureWeights", filter * features + feature);
      }
      for (let time = 0; time < memory; time++) {
        const isNewest = time === memory - 1;
        const state = isNewest ? newest : sizeAt("stateIn", (batch * filters + filter) * memory + time + 1);
        sum += state * sizeAt("timeWeights", filter * memory + time);
      }
    }
    greatest = Math.max(greatest, sum);
  }
  return { count: features + rank * memory + 1, sum: greatest };
}

function greatestOf(tensor: Tensor | undefined): number {
  let greatest = 0;
  for (const element of tensor?.data ?? []) {
    if (Number.isFinite(element)) greatest = Math.max(greatest, Math.abs(element));
  }
  return greatest;
}
