/**
 * Messages between the page and the program that serves it: JSON, with arrays of bytes behind it. They carry what a worker's messages carry:
 * plain values, byte arrays, maps, undefined and numbers that JSON lacks.
 */

/** Key of an object that stands for a value that JSON lacks. */
const MARK = "$nnhal";

/** Writes a value. Throws a TypeError for one that is not plain, such as a function. */
export function encodeMessage(value: unknown): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = [];
  const plain = (each: unknown): unknown => {
    if (each === undefined) return { [MARK]: "undefined" };
    if (typeof each === "number" && !Number.isFinite(each)) return { [MARK]: "number", text: String(each) };
    if (typeof each === "bigint") return { [MARK]: "bigint", text: String(each) };
    if (typeof each === "function" || typeof each === "symbol") throw new TypeError(`a message has no ${typeof each}`);
    if (typeof each !== "object" || each === null) return each;
    if (each instanceof Uint8Array) return { [MARK]: "bytes", place: parts.push(each) - 1 };
    if (each instanceof Map) return { [MARK]: "map", entries: [...each].map(plain) };
    if (Array.isArray(each)) return each.map(plain);
    const entries = Object.entries(each).filter(([, item]) => item !== undefined);
    return Object.fromEntries(entries.map(([key, item]) => [key, plain(item)]));
  };
  const json = new TextEncoder().encode(
    JSON.stringify({ value: plain(value), lengths: parts.map(({ length }) => length) }),
  );
  const total = parts.reduce((sum, { length }) => sum + length, 4 + json.length);
  const message = new Uint8Array(total);
  new DataView(message.buffer).setUint32(0, json.length);
  message.set(json, 4);
  let at = 4 + json.length;
  for (const part of parts) {
    message.set(part, at);
    at += part.length;
  }
  return message;
}

/** Reads a message. Throws a RangeError for bytes that are none. */
export function decodeMessage(message: Uint8Array): unknown {
  const view = new DataView(message.buffer, message.byteOffset, message.byteLength);
  if (message.length < 4 || view.getUint32(0) > message.length - 4) throw new RangeError("a message is cut off");
  const end = 4 + view.getUint32(0);
  const { value, lengths } = headOf(new TextDecoder().decode(message.subarray(4, end)));
  const parts: Uint8Array[] = [];
  let at = end;
  for (const length of lengths) {
    if (!Number.isInteger(length) || length < 0 || at + length > message.length)
      throw new RangeError("a message is cut off");
    parts.push(message.slice(at, at + length));
    at += length;
  }
  const whole = (each: unknown): unknown => {
    if (typeof each !== "object" || each === null) return each;
    if (Array.isArray(each)) return each.map(whole);
    const record: Readonly<Record<string, unknown>> = { ...each };
    if (!Object.hasOwn(record, MARK)) {
      return Object.fromEntries(Object.entries(record).map(([key, item]) => [key, whole(item)]));
    }
    const { [MARK]: kind, text, place, entries } = record;
    if (kind === "undefined") return undefined;
    if (kind === "number") return Number(text);
    if (kind === "bigint") return BigInt(String(text));
    const part = parts[Number(place)];
    if (kind === "bytes" && part !== undefined) return part;
    if (kind === "map" && Array.isArray(entries)) return new Map(entries.map((entry) => pairOf(whole(entry))));
    throw new RangeError(`a message has a value of the unknown kind ${String(kind)}`);
  };
  return whole(value);
}

function headOf(text: string): { readonly value: unknown; readonly lengths: readonly number[] } {
  let head: unknown;
  try {
    head = JSON.parse(text);
  } catch (cause) {
    throw new RangeError("a message does not begin with JSON", { cause });
  }
  if (
    typeof head === "object" &&
    head !== null &&
    "value" in head &&
    "lengths" in head &&
    Array.isArray(head.lengths)
  ) {
    return { value: head.value, lengths: head.lengths };
  }
  throw new RangeError("a message has no value");
}

function pairOf(entry: unknown): readonly [unknown, unknown] {
  if (!Array.isArray(entry) || entry.length !== 2) throw new RangeError("an entry of a map is not a pair");
  return [entry[0], entry[1]];
}

/** Frames of a stream: the length of each message before it. */
export function frame(message: Uint8Array): Uint8Array<ArrayBuffer> {
  const framed = new Uint8Array(4 + message.length);
  new DataView(framed.buffer).setUint32(0, message.length);
  framed.set(message, 4);
  return framed;
}

/** Cuts a stream into its messages. */
export async function* messagesIn(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let rest = new Uint8Array(0);
  for await (const chunk of stream) {
    const all = new Uint8Array(rest.length + chunk.length);
    all.set(rest);
    all.set(chunk, rest.length);
    rest = all;
    while (rest.length >= 4) {
      const length = new DataView(rest.buffer, rest.byteOffset).getUint32(0);
      if (rest.length < 4 + length) break;
      yield rest.slice(4, 4 + length);
      rest = rest.slice(4 + length);
    }
  }
}
