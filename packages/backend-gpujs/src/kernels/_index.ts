/**
 * Indexes of elements as code. Known numbers are computed in advance, so the code is as short as possible. All code that a function of
 * this package returns for an expression is an operand: a name, a number, a call, an element of a list, or in brackets. What it is put
 * into can therefore not change its meaning.
 */
import { GREATEST_FLOAT } from "@nnhal/backend/float32";
import { extentProduct } from "@nnhal/operations";

/** An index: code, and a number that is added to it. Indexes with the same code share its computation. */
export interface Index {
  readonly code: string;
  readonly offset: number;
}

/** See `Writer.quotient`. */
export type Quotient = (index: string, by: number) => string;

/** The coordinates in a shape of an index, as code. */
export function unravel(index: string, dimensions: readonly number[], quotient: Quotient): string[] {
  const axes = dimensions.flatMap((extent, axis) => (extent > 1 ? [axis] : []));
  const result = dimensions.map(() => "0");
  axes.forEach((axis, place) => {
    const inner = extentProduct(dimensions, axis + 1);
    const whole = quotient(index, inner);
    result[axis] =
      place === 0 ? whole : `(${whole} - ${dimensions[axis]} * ${quotient(index, inner * dimensions[axis])})`;
  });
  return result;
}

/** The whole part of the quotient of a whole number and an extent. Half is added because GPUs divide inexactly. */
export function quotientOf(index: string, by: number): string {
  return by === 1 ? enclose(index) : `Math.floor((${enclose(index)} + 0.5) / ${by})`;
}

function indexOf(index: string | Index): Index {
  return typeof index === "string" ? { code: index, offset: 0 } : index;
}

/** An index as code. */
export function codeOf(index: string | Index): string {
  const { code, offset } = indexOf(index);
  return code === "0" ? literal(offset) : plus(code, offset);
}

/** Σ stride · coordinate; known numbers are added now. */
export function indexAt(coordinates: readonly (string | Index)[], strides: readonly number[]): Index {
  const indexes = coordinates.map(indexOf);
  return {
    code: ravel(
      indexes.map((index) => index.code),
      strides,
    ),
    offset: strides.reduce((sum, stride, axis) => sum + stride * indexes[axis].offset, 0),
  };
}

/** Returns whether code is a name or a number. */
export function isSimple(code: string): boolean {
  return /^[\w.]+$/.test(code);
}

/** The code as an operand, with brackets if it needs them. */
export function enclose(code: string): string {
  return isOperand(code) ? code : `(${code})`;
}

/**
 * Returns whether code keeps its meaning next to any operator: a name or a number, or a group in brackets, with calls
 * and indexes after it.
 */
function isOperand(code: string): boolean {
  const name = /^[\w.]*/.exec(code)?.[0] ?? "";
  let depth = 0;
  for (const sign of code.slice(name.length)) {
    const isOpening = sign === "(" || sign === "[";
    if (depth === 0 && !isOpening) return false;
    if (isOpening) depth++;
    if (sign === ")" || sign === "]") depth--;
  }
  return code !== "" && depth === 0;
}

/** An index plus a number. */
export function plus(index: string, more: number): string {
  return more === 0 ? enclose(index) : `(${enclose(index)} + ${literal(more)})`;
}

/** An index times a number. */
export function times(step: number, index: string): string {
  if (step === 1 || index === "0") return enclose(index);
  return `(${step} * ${enclose(index)})`;
}

/**
 * offset + Σ stride · coordinate, without terms that are 0. A result of one element may have a coordinate without a stride. OpenGL treats a
 * negative factor as a float, which is not a valid index.
 */
export function ravel(coordinates: readonly string[], strides: readonly number[], offset = 0): string {
  let index = offset === 0 ? "" : `${offset}`;
  strides.forEach((stride, axis) => {
    const coordinate = coordinates[axis];
    if (stride === 0 || coordinate === "0") return;
    const term = Math.abs(stride) === 1 ? enclose(coordinate) : `${Math.abs(stride)} * ${enclose(coordinate)}`;
    if (stride < 0) index = `${index || "0"} - ${term}`;
    else index = index === "" ? term : `${index} + ${term}`;
  });
  return enclose(index || "0");
}

/** A number as code. gpu.js has no infinite numbers. */
export function literal(value: number): string {
  const finite = Math.min(Math.max(value, -GREATEST_FLOAT), GREATEST_FLOAT);
  return finite < 0 || Object.is(finite, -0) ? `(${finite})` : `${finite}`;
}
