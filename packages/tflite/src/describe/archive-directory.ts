/** The end of a ZIP archive behind the FlatBuffer of a model, from which its directory is found. */

/** The sizes of the archive's records without their parts of variable length, and the numbers that they begin with. */
export const end = { size: 22, signature: 0x06054b50 };
export const entry = { size: 46, signature: 0x02014b50 };
export const local = { size: 30, signature: 0x04034b50 };
export const MOST_COMMENT = 0xffff;

/** Where the directory of an archive is, and how many files it lists. */
export interface Directory {
  readonly at: number;
  readonly count: number;
}

/** A packed file. */
export interface PackedFile {
  readonly name: string;
  /** Bytes of its content, by the archive's directory. */
  readonly size: number;
}

export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Where the record at the end of an archive is; undefined if there is none. Weights may look like one. */
export function findEnd(bytes: Uint8Array): number | undefined {
  const view = viewOf(bytes);
  const first = Math.max(0, bytes.length - end.size - MOST_COMMENT);
  for (let at = bytes.length - end.size; at >= first; at--) {
    if (view.getUint32(at, true) !== end.signature) continue;
    if (at + end.size + view.getUint16(at + 20, true) === bytes.length) return at;
  }
  return undefined;
}

/** The directory of the archive behind a model; undefined if there is none. */
export function findDirectory(bytes: Uint8Array): Directory | undefined {
  const at = findEnd(bytes);
  if (at === undefined) return undefined;
  const view = viewOf(bytes);
  const [count, directory] = [view.getUint16(at + 10, true), view.getUint32(at + 16, true)];
  const isThere = directory + entry.size <= at && view.getUint32(directory, true) === entry.signature;
  return isThere ? { at: directory, count } : undefined;
}
