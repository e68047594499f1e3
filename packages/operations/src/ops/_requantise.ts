/**
 * Requantisation: the same real values in another scale and zero point.
 */
import { clamp, roundHalfAway } from "../fixed-point.ts";
import { createData, integerRange, isQuant8, type Tensor, type TensorData, type TensorInfo } from "../tensor.ts";

/**
 * The elements of a tensor as the target type would hold them: round((q − zeroPoint) · scale / target scale) + target
 * zeroPoint, clamped to the type. The tensor's own elements where nothing changes.
 */
export function requantise(tensor: Tensor, target: TensorInfo): TensorData {
  const { data, scale, zeroPoint } = tensor;
  if (!isQuant8(tensor.type) || (scale === target.scale && zeroPoint === target.zeroPoint)) return data;
  const [least, greatest] = integerRange(target.type);
  const ratio = scale / target.scale;
  const result = createData(target.type, data.length);
  for (let index = 0; index < data.length; index++) {
    result[index] = clamp(roundHalfAway((data[index] - zeroPoint) * ratio) + target.zeroPoint, least, greatest);
  }
  return result;
}
