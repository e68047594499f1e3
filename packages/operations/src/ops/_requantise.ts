/**
 * Requantisation: the same real values in another scale and zero point.
 */
import { roundHalfAway } from "../fixed-point.ts";
import { createData, isQuant8, type Tensor, type TensorData, type TensorInfo } from "../tensor.ts";
import { mapByTable } from "./_table.ts";

/**
 * The elements of a tensor as the target type would hold them: round((q − zeroPoint) · scale / target scale) + target
 * zeroPoint, clamped to the type. The tensor's own elements if no value changes. Pauses every few milliseconds.
 */
export function* requantise(tensor: Tensor, target: TensorInfo): Generator<void, TensorData> {
  const { data, scale, zeroPoint } = tensor;
  if (!isQuant8(tensor.type) || (scale === target.scale && zeroPoint === target.zeroPoint)) return data;
  const ratio = scale / target.scale;
  const result = createData(target.type, data.length);
  yield* mapByTable(tensor, { ...target, data: result }, (value) => roundHalfAway(value * ratio));
  return result;
}
