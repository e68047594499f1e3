/**
 * Lists of index vectors. Each vector names a slice of a tensor by its indexes along the first axes.
 */
import { ensure, OperationError } from "../fail.ts";
import { formatShape } from "../shape.ts";
import type { TensorData } from "../tensor.ts";

/** The number of axes that each list has an index for: the last extent of the lists' shape. Throws an OperationError if there are not as many. */
export function ensurePrefix(lists: readonly number[], dimensions: readonly number[]): number {
  const depth = lists[lists.length - 1];
  ensure(
    depth <= dimensions.length,
    () =>
      `the indices of shape ${formatShape(lists)} name ${depth} axes of ${formatShape(dimensions)}, which has ${dimensions.length}`,
  );
  return depth;
}

/**
 * The place of the first element of the slice of a list. `prefix`: the extents of the axes that a list has an index for; `inner`: the elements
 * of a slice. Throws an OperationError at an index outside its axis.
 */
export function sliceOffset(indices: TensorData, list: number, prefix: readonly number[], inner: number): number {
  let offset = 0;
  for (let axis = 0; axis < prefix.length; axis++) {
    const index = indices[list * prefix.length + axis];
    const extent = prefix[axis];
    if (!(index >= 0 && index < extent)) {
      throw new OperationError(`index ${index} of axis ${axis} in list ${list} is outside [0, ${extent})`);
    }
    offset = offset * extent + index;
  }
  return offset * inner;
}
