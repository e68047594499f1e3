/** Indexes of elements as code. Known numbers are computed in advance, so the code is as short as possible. */
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
  return by === 1 ? index : `Math.floor((${index} + 0.5) / ${by})`;
}

function indexOf(index: string | Index): Index {
  return typeof index === "string" ? { code: index, offset: 0 } : index;
}

/** An index as code. */
export function codeOf(index: string | Index): string {
  const { code, offset } = indexOf(index);
  if (offset === 0) return code;
  return code === "0" ? `${offset}` : `${code} + ${offset}`;
}

/** Σ stride · coordinate; known numbers are added now. */
export function indexAt(coordinates: readonly (string | Index)[], strides: readonly number[]): Index {
  const indexes = coordinates.map(indexOf);
  const code = ravel(
    indexes.map((index) => index.code),
    strides,
  );
  return {
    code: enclosed(code),
    offset: strides.reduce((sum, stride, axis) => sum + stride * indexes[axis].offset, 0),
  };
}

/** Whether code is a name or a number. */
export function isSimple(code: string): boolean {
  return /^[\w.]+$/.test(code);
}

/** Code that can be an operand of any operator. */
export function enclosed(code: string): string {
  if (isSimple(code)) return code;
  let depth = 0;
  const end = [...code].findIndex((sign) => {
    if (sign === "(") depth++;
    if (sign === ")") depth--;
    return depth === 0;
  });
  return end === code.length - 1 ? code : `(${code})`;
}

/** An index plus a number. */
export function plus(index: string, more: number): string {
  return more === 0 ? index : `${index} + ${more}`;
}

/** An index times a number. */
export function times(step: number, index: string): string {
  if (step === 1 || index === "0") return index;
  return `${step} * ${enclosed(index)}`;
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
    const term = Math.abs(stride) === 1 ? coordinate : `${Math.abs(stride)} * ${coordinate}`;
    if (stride < 0) index = `${index || "0"} - ${term}`;
    else index = index === "" ? term : `${index} + ${term}`;
  });
  return index || "0";
}

/** A number as code. gpu.js has no infinite numbers. */
export function literal(value: number): string {
  const most = 3.4028234663852886e38;
  const finite = Math.min(Math.max(value, -most), most);
  return finite < 0 || Object.is(finite, -0) ? `(${finite})` : `${finite}`;
}
