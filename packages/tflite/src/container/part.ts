/** A container, its parts, and how both are known. */

/** A file of which ranges are read. */
export interface TfliteContainer {
  /** Bytes of the file. */
  readonly size: number;
  /** The bytes of a range, which lies in the file. They must not change. */
  read(from: number, length: number): Promise<Uint8Array>;
}

/** A part of a container. */
export interface TflitePart {
  /** The path in the archive, or what the file calls the model; unlike that of any other part. */
  readonly name: string;
  /** `model`, `weights`, `file` and others: see docs/tflite.md. Only models can be imported. */
  readonly type: string;
  /** Bytes of its content. */
  readonly size: number;
  /** Where its bytes begin in the container; absent if they lie in an archive that is compressed itself. */
  readonly offset?: number;
  /** Bytes that it takes in the container; absent if it is not compressed. */
  readonly packedSize?: number;
  /** Its content. Rejects with a TfliteError if that is broken. */
  read(): Promise<Uint8Array>;
}

/** Returns true if a file that begins so can be a container: a zip archive or a `.litertlm` file. */
export function mayHaveParts(start: Uint8Array): boolean {
  const text = String.fromCharCode(...start.subarray(0, 8));
  return text.startsWith("PK\x03\x04") || text === "LITERTLM";
}
