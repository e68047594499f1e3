/**
 * Ranges of bytes that lie outside of a FlatBuffer.
 */

/** Bytes of a file from a place on. */
export interface TfliteOutside {
  /** The name of the group, which is a file of its own; absent: the file of the model. */
  readonly group?: string;
  /** The place of the first byte in that file. */
  readonly offset: number;
  readonly bytes: Uint8Array;
}

/** A range of bytes of a file. */
export interface TfliteRange extends Omit<TfliteOutside, "bytes"> {
  /** Above 0. */
  readonly length: number;
}

/** The ranges of a model that must be read before it can be imported. */
export interface TfliteNeeds {
  /** Number of bytes that the FlatBuffer takes from the start of the file, as far as is known. If that is more than there are, read so many, and ask again. */
  readonly start: number;
  /** The ranges that are needed besides, by group and offset, none of which overlap; empty if more of the start is needed. */
  readonly ranges: readonly TfliteRange[];
}

/** Access to a file. */
export interface ReadingOptions {
  /** Bytes that lie outside of the file, or behind the part of it that is given: what `tfliteNeeds` lists. They are not copied. Default: none. */
  readonly outside?: readonly TfliteOutside[];
}
