/**
 * What an output finally is: shape inference and the model's declaration taken together (HAL: a computed shape may only
 * refine what is known; quantisation that an operation fixes overrides a temporary's and must be a graph output's).
 */

import { ensure, formatShape, type OutputInfo, type TensorInfo } from "@nnhal/operations";
import { OperandLifeTime } from "@nnhal/types";
import type { OperandView } from "./graph.ts";

/** Most elements that one operand may have (HAL: sizes are 32-bit). */
const MOST_ELEMENTS = 2 ** 32 - 1;

/** The facts of an output: `declared` by the model, with `known` extents (model and request), and `inferred`. */
export function settleOutput(declared: OperandView, known: readonly number[], inferred: OutputInfo): TensorInfo {
  const dimensions = refineDimensions(declared.index, known, inferred.dimensions);
  let { scale, zeroPoint } = declared;
  if (inferred.scale !== undefined && (inferred.scale !== scale || (inferred.zeroPoint ?? 0) !== zeroPoint)) {
    ensure(
      declared.lifetime !== OperandLifeTime.SUBGRAPH_OUTPUT,
      () =>
        `output operand ${declared.index} has scale ${declared.scale} and zero point ${declared.zeroPoint} where ` +
        `${inferred.scale} and ${inferred.zeroPoint ?? 0} are needed`,
    );
    scale = inferred.scale;
    zeroPoint = inferred.zeroPoint ?? 0;
  }
  const { type, channelQuant } = declared;
  return { type, dimensions, scale, zeroPoint, ...(channelQuant && { channelQuant }) };
}

/** The actual shape of an operand, refused where it contradicts what is known of it or is too large. */
export function refineDimensions(
  index: number,
  known: readonly number[],
  actual: readonly number[],
): readonly number[] {
  const agrees =
    known.length === 0 ||
    (known.length === actual.length && known.every((extent, axis) => extent === 0 || extent === actual[axis]));
  ensure(
    agrees,
    () => `operand ${index} is declared as ${formatShape(known)}, but the result has shape ${formatShape(actual)}`,
  );
  let count = 1;
  for (const extent of actual) {
    ensure(Number.isInteger(extent) && extent >= 0, () => `operand ${index} would have shape ${formatShape(actual)}`);
    count *= extent;
  }
  ensure(count <= MOST_ELEMENTS, () => `operand ${index} would have ${count} elements, more than 2^32 - 1`);
  return actual;
}
