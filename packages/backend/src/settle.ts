/**
 * The facts of an output, from shape inference and the model's declaration. HAL: a computed shape may only refine the declared
 * one. If an operation fixes its output's quantisation, a temporary gets it, and a graph output must have it.
 */

import { ensure, type OutputInfo, refineDimensions, type TensorInfo, tensorInfo } from "@nnhal/operations";
import { OperandLifeTime } from "@nnhal/types";
import type { OperandView } from "./graph.ts";

/** The facts of an output: `declared` by the model, with `known` extents (model and request), and `inferred`. */
export function settleOutput(declared: OperandView, known: readonly number[], inferred: OutputInfo): TensorInfo {
  const dimensions = refineDimensions(declared.index, known, inferred.dimensions);
  let { scale, zeroPoint } = declared;
  if (inferred.scale !== undefined && (inferred.scale !== scale || (inferred.zeroPoint ?? 0) !== zeroPoint)) {
    ensure(
      declared.lifetime !== OperandLifeTime.SUBGRAPH_OUTPUT,
      () =>
        `output operand ${declared.index}: expected scale ${inferred.scale} and zero point ${inferred.zeroPoint ?? 0}, ` +
        `got ${declared.scale} and ${declared.zeroPoint}`,
    );
    scale = inferred.scale;
    zeroPoint = inferred.zeroPoint ?? 0;
  }
  return tensorInfo(declared, dimensions, scale, zeroPoint);
}
