/**
 * Requantisation: the same real values in another scale and zero point.
 */
import { roundHalfAway } from "../fixed-point.ts";
import type { Filled } from "../phases.ts";
import { createData, isQuant8, type Tensor, type TensorData, type TensorInfo } from "../tensor.ts";
import { mapByTable } from "./_table.ts";

/**
 * The elements of a tensor as the target type would hold them: round((q − zeroPoint) · scale / target scale) + target
 * zeroPoint, clamped to the type. The tensor's own elements if no value changes.
 */
export function requantise(tensor: Tensor, target: TensorInfo): Filled<TensorData> {
  const { data, scale, zeroPoint } = tensor;
  if (!isQuant8(tensor.type) || (scale === target.scale && zeroPoint === target.zeroPoint)) {
    return { data, phases: [] };
  }
  const ratio = scale / target.scale;
  const result = { ...target, data: createData(target.type, data.length) };
  return { data: result.data, phases: [mapByTable(tensor, result, (value) => roundHalfAway(value * ratio))] };
}
