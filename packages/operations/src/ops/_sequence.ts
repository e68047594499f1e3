/**
 * Sequences [time, batch, …] or [batch, time, …].
 */

/** Extents of a sequence, and the offset of the vector of a time and batch. */
export interface Sequence {
  readonly times: number;
  readonly batches: number;
  readonly size: number;
  offset(time: number, batch: number): number;
}

/** The sequence of vectors of `size` elements that a tensor of the shape [times, batches, …] or the like holds. */
export function sequenceOf(dimensions: readonly number[], timeMajor: boolean, size = dimensions[2]): Sequence {
  const [times, batches] = timeMajor ? dimensions : [dimensions[1], dimensions[0]];
  return {
    times,
    batches,
    size,
    offset: (time, batch) => size * (timeMajor ? time * batches + batch : batch * times + time),
  };
}

/** The shape of a sequence like another, with vectors of another size. */
export function sequenceShape(dimensions: readonly number[], size: number): number[] {
  return [dimensions[0], dimensions[1], size];
}
