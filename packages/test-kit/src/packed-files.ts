/** FlatBuffers, and files that are packed with a .tflite file, as TFLite Metadata have them. */
import { deflateRawSync } from "node:zlib";

/** A field of a table: a byte, a text, a table, or a list of tables. */
export type Field = undefined | { readonly byte: number } | string | Table | readonly Table[];

/** A table of a FlatBuffer: its fields in their order. */
export interface Table {
  readonly fields: readonly Field[];
}

/** A FlatBuffer, in which every value lies on a multiple of 4. */
export function flatbuffer(root: Table, identifier: string): Uint8Array {
  const bytes: number[] = [];
  const word = (value: number) => [value & 0xff, (value >> 8) & 0xff, (value >> 16) & 0xff, value >>> 24];
  const refer = (slot: number, value: string | Table | readonly Table[]) => {
    while (bytes.length % 4 !== 0) bytes.push(0);
    const at = bytes.length;
    if (typeof value === "string") {
      const text = new TextEncoder().encode(value);
      bytes.push(...word(text.length), ...text, 0);
      bytes.splice(slot, 4, ...word(at - slot));
    } else if ("fields" in value) {
      const { fields } = value;
      const vtable = 4 + 2 * fields.length + (fields.length % 2) * 2;
      const places = fields.map((field, place) => (field === undefined ? 0 : 4 + 4 * place));
      bytes.push(
        ...[4 + 2 * fields.length, 4 + 4 * fields.length, ...places].flatMap((each) => word(each).slice(0, 2)),
      );
      while (bytes.length < at + vtable) bytes.push(0);
      bytes.splice(slot, 4, ...word(at + vtable - slot));
      bytes.push(...word(vtable));
      const first = bytes.length;
      for (const field of fields) bytes.push(...word(typeof field === "object" && "byte" in field ? field.byte : 0));
      for (const [place, field] of fields.entries())
        if (field !== undefined && !(typeof field === "object" && "byte" in field)) refer(first + 4 * place, field);
    } else {
      bytes.splice(slot, 4, ...word(at - slot));
      bytes.push(...word(value.length), ...value.flatMap(() => word(0)));
      for (const [place, each] of value.entries()) refer(at + 4 + 4 * place, each);
    }
  };
  bytes.push(...word(0), ...new TextEncoder().encode(identifier));
  refer(0, root);
  return Uint8Array.from(bytes);
}

/** A packed file, the size that its archive states if that is not true, and whether it is never compressed. */
export interface PackedFile {
  readonly content: Uint8Array;
  readonly claimedSize?: number;
  readonly isStored?: true;
}

/** A file with others packed behind it, as a zip archive; those that become smaller are compressed. */
export function withFiles(file: Uint8Array, files: Readonly<Record<string, Uint8Array | PackedFile>>): Uint8Array {
  const parts: Uint8Array[] = [file];
  const entries: Uint8Array[] = [];
  let at = file.length;
  for (const [name, given] of Object.entries(files)) {
    const {
      content,
      claimedSize = content.length,
      isStored,
    }: PackedFile = "content" in given ? given : { content: given };
    const deflated = deflateRawSync(content);
    const isSmaller = isStored !== true && deflated.length < content.length;
    const data = isSmaller ? deflated : content;
    const text = new TextEncoder().encode(name);
    // The checksum is left out: no reader of models asks for it.
    const said = numbers([20, 2], [0, 2], [isSmaller ? 8 : 0, 2], [0, 4], [0, 4], [data.length, 4], [claimedSize, 4]);
    const names = numbers([text.length, 2], [0, 2]);
    const local = [numbers([0x04034b50, 4]), said, names, text, data];
    entries.push(
      numbers([0x02014b50, 4], [20, 2]),
      said,
      names,
      numbers([0, 2], [0, 2], [0, 2], [0, 4], [at, 4]),
      text,
    );
    parts.push(...local);
    at += sizeOf(local);
  }
  const count = Object.keys(files).length;
  const end = numbers([0x06054b50, 4], [0, 2], [0, 2], [count, 2], [count, 2], [sizeOf(entries), 4], [at, 4], [0, 2]);
  return new Uint8Array(Buffer.concat([...parts, ...entries, end]));
}

function sizeOf(parts: readonly Uint8Array[]): number {
  return parts.reduce((sum, { length }) => sum + length, 0);
}

/** Integers of some bytes each, little-endian. */
function numbers(...values: readonly (readonly [value: number, bytes: number])[]): Uint8Array {
  return Uint8Array.from(
    values.flatMap(([value, bytes]) => Array.from({ length: bytes }, (_, i) => Math.floor(value / 256 ** i) % 256)),
  );
}
