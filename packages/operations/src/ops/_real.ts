/**
 * Real values of tensors: for operations that compute in real numbers whatever the type of their operands.
 */
import { clamp, roundHalfAway } from "../fixed-point.ts";
import { integerRange, isFloat, type OutputTensor, type Tensor } from "../tensor.ts";

/** The real values of a tensor: (element − zeroPoint) · scale where it is quantised. */
export function realValues({ type, data, scale, zeroPoint }: Tensor): Float64Array {
  if (isFloat(type)) return Float64Array.from(data);
  const values = new Float64Array(data.length);
  for (let index = 0; index < data.length; index++) values[index] = (data[index] - zeroPoint) * scale;
  return values;
}

/**
 * Stores real values, quantised where the output is: to nearest, within its type. The first is stored at `start`, the
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
