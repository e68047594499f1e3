/**
 * Codecs of values as data: the codec of a structure is composed of those of its fields, so that writing and reading
 * share one description. Any bytes are read or refused; a refusal names the field and the byte.
 */
import { type ByteReader, type ByteWriter, byteReader, toBytes, UnreadableBytes, Unwritable } from "./bytes.ts";

/** Writes values of a type and reads them. `Value` is exact: what is read has the fields that were written. */
export interface Codec<Value> {
  /** Minimum number of bytes of a value, at least 1. */
  readonly least: number;
  write(value: Value, to: ByteWriter): void;
  read(from: ByteReader): Value;
}

/** The type of the values of a codec. */
export type ValueOf<Of> = Of extends Codec<infer Value> ? Value : never;

export const uint8: Codec<number> = { least: 1, write: (value, to) => to.uint8(value), read: (from) => from.uint8() };
export const uint32: Codec<number> = {
  least: 4,
  write: (value, to) => to.uint32(value),
  read: (from) => from.uint32(),
};
export const int32: Codec<number> = { least: 4, write: (value, to) => to.int32(value), read: (from) => from.int32() };
export const uint64: Codec<bigint> = {
  least: 8,
  write: (value, to) => to.uint64(value),
  read: (from) => from.uint64(),
};
/** Any number. */
export const float64: Codec<number> = {
  least: 8,
  write: (value, to) => to.float64(value),
  read: (from) => from.float64(),
};
/** Bytes, read as a view. */
export const bytes: Codec<Uint8Array> = {
  least: 4,
  write: (value, to) => to.bytes(value),
  read: (from) => from.bytes(),
};
export const text: Codec<string> = { least: 4, write: (value, to) => to.text(value), read: (from) => from.text() };

/** One of two values: byte 0 or 1. */
export const flag: Codec<boolean> = {
  least: 1,
  write(value, to) {
    if (typeof value !== "boolean") throw new Unwritable(`${typeof value} instead of a boolean`);
    to.uint8(value ? 1 : 0);
  },
  read(from) {
    const value = from.uint8();
    if (value > 1) throw new UnreadableBytes(`expected 0 or 1, got ${value}`);
    return value === 1;
  },
};

/** A list: the number of items, then the items. */
export function list<Item>(item: Codec<Item>): Codec<readonly Item[]> {
  return {
    least: 4,
    write(items, to) {
      if (!Array.isArray(items)) throw new Unwritable(`${typeof items} instead of an array`);
      const { length } = items;
      to.uint32(length);
      let index = 0;
      try {
        for (; index < length; index++) item.write(items[index], to);
      } catch (error) {
        throw writingFailed(`[${index}]`, error);
      }
    },
    read(from) {
      const count = from.count(item.least);
      const items: Item[] = [];
      let start = from.at;
      try {
        for (let index = 0; index < count; index++) {
          start = from.at;
          items.push(item.read(from));
        }
      } catch (error) {
        throw readingFailed(`[${items.length}]`, start, error);
      }
      return items;
    },
  };
}

/** The codecs of a structure's fields. */
export type FieldCodecs<Value> = { readonly [Name in keyof Value]-?: Codec<Value[Name]> };

/** A structure: its fields in the order of the description. */
export function struct<Value extends object>(fields: FieldCodecs<Value>): Codec<Value> {
  type Name = keyof Value & string;
  type Field = Codec<Value[Name]>;
  // Object.keys and Object.values lose which codec belongs to which field; each is used for its own field only.
  const names = Object.keys(fields) as Name[];
  const codecs = Object.values(fields) as Field[];
  return {
    least: Math.max(
      1,
      codecs.reduce((sum, { least }) => sum + least, 0),
    ),
    write(value, to) {
      if (typeof value !== "object" || value === null) throw new Unwritable(`${String(value)} instead of an object`);
      let index = 0;
      try {
        for (; index < codecs.length; index++) {
          // `names` and `codecs` are of one length.
          (codecs[index] as Field).write(value[names[index] as Name], to);
        }
      } catch (error) {
        throw writingFailed(`.${names[index]}`, error);
      }
    },
    read(from) {
      const value: Partial<Value> = {};
      let index = 0;
      let start = from.at;
      try {
        for (; index < codecs.length; index++) {
          start = from.at;
          value[names[index] as Name] = (codecs[index] as Field).read(from);
        }
      } catch (error) {
        throw readingFailed(`.${names[index]}`, start, error);
      }
      // All fields of the description have been read.
      return value as Value;
    },
  };
}

/** A value that may be undefined: a flag, then the value. */
export function optional<Value>(present: Codec<Value>): Codec<Value | undefined> {
  return maybe(present, undefined);
}

/** A value that may be null: a flag, then the value. */
export function nullable<Value>(present: Codec<Value>): Codec<Value | null> {
  return maybe(present, null);
}

function maybe<Value, Absent>(present: Codec<Value>, absent: Absent): Codec<Value | Absent> {
  const isAbsent = (value: Value | Absent): value is Absent => value === absent;
  return {
    least: 1,
    write(value, to) {
      flag.write(!isAbsent(value), to);
      if (!isAbsent(value)) present.write(value, to);
    },
    read: (from) => (flag.read(from) ? present.read(from) : absent),
  };
}

/** One of several structures, told apart by their field `kind`: its index among the cases, then the other fields. */
export function union<Value extends { readonly kind: string }>(
  cases: {
    readonly [Kind in Value["kind"]]: Codec<Omit<Extract<Value, { readonly kind: Kind }>, "kind">>;
  },
): Codec<Value> {
  // As in `struct`, each codec is used for its own kind only.
  const entries = Object.entries(cases) as [Value["kind"], Codec<object>][];
  return {
    least: 1,
    write(value, to) {
      const index = entries.findIndex(([kind]) => kind === value?.kind);
      const [, content] = entries[index] ?? [];
      if (content === undefined) throw new Unwritable(`the kind ${String(value?.kind)} is not known`);
      to.uint8(index);
      content.write(value, to);
    },
    read(from) {
      const index = from.uint8();
      const [kind, content] = entries[index] ?? [];
      if (content === undefined) throw new UnreadableBytes(`the kind ${index} is not known`);
      return { kind, ...content.read(from) } as Value;
    },
  };
}

/** No fields: nothing is written. Only for a case of a union. */
export const empty: Codec<object> = { least: 0, write: () => {}, read: () => ({}) };

/** A value that is converted before it is written and after it is read. `decode` may throw UnreadableBytes. */
export function mapCodec<Value, Written>(
  written: Codec<Written>,
  encode: (value: Value) => Written,
  decode: (written: Written) => Value,
): Codec<Value> {
  return {
    least: written.least,
    write: (value, to) => written.write(encode(value), to),
    read: (from) => decode(written.read(from)),
  };
}

/** A value as bytes. Throws Unwritable, with the path of the field, for a value that they cannot hold. */
export function encode<Value>(codec: Codec<Value>, value: Value): Uint8Array<ArrayBuffer> {
  return toBytes((to) => codec.write(value, to));
}

/** The value of some bytes, which must not change meanwhile. Throws UnreadableBytes, with the path of the field. */
export function decode<Value>(codec: Codec<Value>, from: Uint8Array): Value {
  return readLast(codec, byteReader(from));
}

/** Reads a value behind which nothing may follow. Throws as `decode`. */
export function readLast<Value>(codec: Codec<Value>, from: ByteReader): Value {
  const start = from.at;
  let value: Value;
  try {
    value = codec.read(from);
  } catch (error) {
    throw readingFailed("", start, error);
  }
  from.end();
  return value;
}

/** An error of reading a field with the field's name, and the byte where it begins. */
function readingFailed(field: string, start: number, error: unknown): unknown {
  if (!(error instanceof UnreadableBytes)) return error;
  return new UnreadableBytes(locateProblem(field, error.message, start));
}

/** An error of writing a field, with the field's name. */
function writingFailed(field: string, error: unknown): unknown {
  if (!(error instanceof Unwritable)) return error;
  return new Unwritable(`${field}${join(error.message)}`);
}

/** Returns "byte 4: .operands[0].type: …". The innermost field adds the byte, the outer ones only their names. */
function locateProblem(field: string, message: string, start: number): string {
  const [, place, rest] = /^(byte \d+: )(.*)$/s.exec(message) ?? [];
  return place === undefined ? `byte ${start}: ${field}: ${message}` : `${place}${field}${rest}`;
}

function join(message: string): string {
  return message.startsWith(".") || message.startsWith("[") ? message : `: ${message}`;
}
