/**
 * Operations between values that do not fit each other: whatever value is there becomes one of a wanted type, quantisation and shape, so
 * that every operation can be chained to every other.
 */
import { createData, elementAt, elementCount, type Tensor, type TensorInfo } from "@nnhal/operations";
import type { OperandTypeName, OperationTypeName } from "@nnhal/types";
import { drawTensor, scalarTensor } from "../random/elements.ts";
import { addConstant, addOperation, isSameInfo, isSameShape, type Scope, valueAt } from "./scope.ts";

/** Types in which values can be reshaped. */
const reshaped: ReadonlySet<string> = new Set([
  "TENSOR_FLOAT32",
  "TENSOR_FLOAT16",
  "TENSOR_QUANT8_ASYMM",
  "TENSOR_QUANT8_ASYMM_SIGNED",
]);

/** Returns true if values of a type can be reshaped. */
export function isReshaped(type: TensorInfo["type"]): boolean {
  return reshaped.has(String(type));
}

/** Types that other values can be made into. */
const makeable: ReadonlySet<string> = new Set([...reshaped, "TENSOR_INT32", "TENSOR_BOOL8"]);

/**
 * Returns true if other values can be made into one of this type and quantisation: not into a bias, whose integers have a
 * scale.
 */
export function canMake({ type, scale }: TensorInfo): boolean {
  return makeable.has(String(type)) && (type !== "TENSOR_INT32" || scale === 0);
}

/**
 * Converts a value to the wanted one; undefined if there is no way from one to the other. Operations that were tried on the way
 * stay.
 */
export function adapt(scope: Scope, from: number, wanted: TensorInfo): number | undefined {
  const value = valueAt(scope, from);
  if (isSameInfo(value, wanted)) return from;
  if (value.data.length === 0 || elementCount(wanted.dimensions) === 0 || !canMake(wanted)) return undefined;
  if (isSameKind(value, wanted) && isReshaped(value.type)) return reshapeTo(scope, from, wanted.dimensions);
  const number = floatOf(scope, from);
  const fit = number === undefined ? undefined : reshapeTo(scope, number, wanted.dimensions);
  return fit === undefined ? undefined : fromFloat(scope, fit, wanted);
}

function isSameKind(a: TensorInfo, b: TensorInfo): boolean {
  return a.type === b.type && a.scale === b.scale && a.zeroPoint === b.zeroPoint;
}

/** Adds an operation with one result. */
function step(
  scope: Scope,
  type: OperationTypeName,
  inputs: readonly number[],
  output: Partial<TensorInfo> & Pick<TensorInfo, "type">,
): number | undefined {
  return addOperation(scope, type, inputs, [{ scale: 0, zeroPoint: 0, dimensions: [], ...output }])?.[0];
}

function floatOf(scope: Scope, from: number): number | undefined {
  const { type, dimensions } = valueAt(scope, from);
  const float = { type: "TENSOR_FLOAT32" } as const;
  switch (type) {
    case "TENSOR_FLOAT32":
      return from;
    case "TENSOR_FLOAT16":
    case "TENSOR_INT32":
      return step(scope, "CAST", [from], float);
    case "TENSOR_QUANT8_ASYMM":
      return step(scope, scope.random.chance(0.2) ? "CAST" : "DEQUANTIZE", [from], float);
    case "TENSOR_QUANT8_ASYMM_SIGNED":
    case "TENSOR_QUANT8_SYMM":
      return step(scope, "DEQUANTIZE", [from], float);
    case "TENSOR_BOOL8": {
      const choice = () => addConstant(scope, drawTensor("TENSOR_FLOAT32", { dimensions }, scope.random, "plain"));
      return step(scope, "SELECT", [from, choice(), choice()], float);
    }
    default:
      return undefined;
  }
}

function fromFloat(scope: Scope, from: number, { type, scale, zeroPoint }: TensorInfo): number | undefined {
  switch (type) {
    case "TENSOR_FLOAT32":
      return from;
    case "TENSOR_FLOAT16":
    case "TENSOR_INT32":
      return step(scope, "CAST", [from], { type });
    case "TENSOR_QUANT8_ASYMM":
    case "TENSOR_QUANT8_ASYMM_SIGNED":
      return step(scope, "QUANTIZE", [from], { type, scale, zeroPoint });
    case "TENSOR_BOOL8": {
      const limit = addConstant(scope, drawTensor("TENSOR_FLOAT32", { dimensions: [1] }, scope.random, "plain"));
      const comparison = scope.random.pick(["GREATER", "LESS", "GREATER_EQUAL", "LESS_EQUAL"] as const);
      return step(scope, comparison, [from, limit], { type });
    }
    default:
      return undefined;
  }
}

/** A tensor of small integers, as a constant. */
export function integers(scope: Scope, ...values: readonly number[]): number {
  const data = createData("TENSOR_INT32", values.length);
  data.set(values);
  return addConstant(scope, { type: "TENSOR_INT32", dimensions: [values.length], scale: 0, zeroPoint: 0, data });
}

/** A scalar, as a constant. */
export function scalar(scope: Scope, type: OperandTypeName, value: number): number {
  return addConstant(scope, scalarTensor(type, value));
}

/** Another shape: the same elements, the first ones, or all of them again and again. */
function reshapeTo(scope: Scope, from: number, dimensions: readonly number[]): number | undefined {
  const value = valueAt(scope, from);
  if (isSameShape(value.dimensions, dimensions)) return from;
  const direct = withinShape(scope, from, value, dimensions);
  if (direct !== undefined) return direct;
  const info = { type: value.type, scale: value.scale, zeroPoint: value.zeroPoint };
  const [held, wanted] = [value.data.length, elementCount(dimensions)];
  const reshape = (operand: number, ...shape: number[]) =>
    step(scope, "RESHAPE", [operand, integers(scope, ...shape)], info);
  if (held === wanted) return reshape(from, ...dimensions);
  let flat = value.dimensions.length === 1 ? from : reshape(from, held);
  if (flat !== undefined && held < wanted) {
    flat = step(scope, "TILE", [flat, integers(scope, Math.ceil(wanted / held))], info);
  }
  if (flat !== undefined && valueAt(scope, flat).data.length > wanted) {
    flat = step(scope, "SLICE", [flat, integers(scope, 0), integers(scope, wanted)], info);
  }
  if (flat === undefined || dimensions.length === 1) return flat;
  return reshape(flat, ...dimensions);
}

/** One operation, if the rank stays: a part of the tensor, or with a border. */
function withinShape(
  scope: Scope,
  from: number,
  { type, scale, zeroPoint, dimensions: own }: Tensor,
  dimensions: readonly number[],
): number | undefined {
  if (own.length !== dimensions.length || own.length > 4) return undefined;
  const info = { type, scale, zeroPoint };
  const more = dimensions.map((extent, axis) => extent - elementAt(own, axis));
  if (more.every((difference) => difference <= 0)) {
    const begin = more.map((difference) => scope.random.integer(0, -difference));
    return step(scope, "SLICE", [from, integers(scope, ...begin), integers(scope, ...dimensions)], info);
  }
  if (more.every((difference) => difference >= 0)) {
    const pads = more.flatMap((difference) => {
      const before = scope.random.integer(0, difference);
      return [before, difference - before];
    });
    const data = Int32Array.from(pads);
    const paddings = { type: "TENSOR_INT32", dimensions: [more.length, 2], scale: 0, zeroPoint: 0, data } as const;
    return step(scope, "PAD", [from, addConstant(scope, paddings)], info);
  }
  return undefined;
}
