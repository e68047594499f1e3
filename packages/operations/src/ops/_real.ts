/**
 * Real values of tensors: for operations that compute in real numbers whatever the type of their operands.
 */
import { clamp, roundHalfAway } from "../fixed-point.ts";
import type { Filled } from "../phases.ts";
import { integerRange, isFloat, type OutputTensor, type Tensor } from "../tensor.ts";

/** The real values of a tensor: (element − zeroPoint) · scale if it is quantised. */
export function realValues(tensor: Tensor): Filled<Float64Array> {
  const values = new Float64Array(tensor.data.length);
  const compute = (first: number, end: number) => readReal(tensor, values, first, end);
  return { data: values, phases: [{ units: values.length, compute }] };
}

/** Like `realValues`, for tensors that are always small. */
export function realValuesNow(tensor: Tensor): Float64Array {
  const values = new Float64Array(tensor.data.length);
  readReal(tensor, values, 0, values.length);
  return values;
}

function readReal({ type, data, scale, zeroPoint }: Tensor, values: Float64Array, start: number, end: number): void {
  if (isFloat(type)) for (let index = start; index < end; index++) values[index] = data[index];
  else for (let index = start; index < end; index++) values[index] = (data[index] - zeroPoint) * scale;
}

/**
 * Stores real values, quantised if the output is: to nearest, within its type. The first is stored at `start`, the
 * others `step` apart.
 */
export function storeReal(output: OutputTensor, values: ArrayLike<number>, start = 0, step = 1): void {
  const { type, data, scale, zeroPoint } = output;
  if (isFloat(type)) {
    for (let index = 0, at = start; index < values.length; index++, at += step) data[at] = values[index];
    return;
  }
  const [least, greatest] = integerRange(type);
  for (let index = 0, at = start; index < values.length; index++, at += step) {
    data[at] = clamp(roundHalfAway(values[index] / scale) + zeroPoint, least, greatest);
  }
}
