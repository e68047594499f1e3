/** Several requests as one: their tensors joined along the first axis, and divided again. */
import { arrayOf } from "./datatypes.ts";
import { type Content, countOf, isByteList, rowsOfStrings, type Tensor } from "./tensors.ts";

/** Returns the number of rows of a request's inputs; undefined if they do not agree, or have none. */
export function rowsOf(inputs: readonly Tensor[]): number | undefined {
  const [rows] = inputs[0]?.shape ?? [];
  return rows !== undefined && rows > 0 && inputs.every(({ shape }) => shape[0] === rows) ? rows : undefined;
}

/** Returns a key that is equal for requests that can be joined. */
export function batchKey(inputs: readonly Tensor[]): string {
  return inputs.map(({ shape }) => shape.slice(1).join()).join(";");
}

/**
 * Returns true if joined requests with the same key need at most about twice the memory: strings compute in rows that are as
 * wide as the longest of all.
 */
export function canJoin(requests: readonly (readonly Tensor[])[]): boolean {
  const [first = []] = requests;
  return first.every(({ datatype }, place) => {
    if (datatype !== "BYTES") return true;
    const rows = requests.map((inputs) => {
      const content = inputs[place]?.content ?? [];
      return isByteList(content) ? rowsOfStrings(content) : { count: 0, width: 0 };
    });
    const apart = rows.reduce((sum, { count, width }) => sum + count * width, 0);
    const count = rows.reduce((sum, each) => sum + each.count, 0);
    return count * Math.max(...rows.map(({ width }) => width)) <= 2 * apart + smallRows;
  });
}

/** Bytes of rows that are always joined. */
const smallRows = 2 ** 16;

/** Joins the inputs of requests with the same key, input by input. */
export function joinInputs(requests: readonly (readonly Tensor[])[]): readonly Tensor[] {
  const [first = []] = requests;
  if (requests.length === 1) return first;
  return first.map((tensor, place) => {
    const parts = requests.flatMap((inputs) => inputs[place] ?? []);
    const rows = parts.reduce((sum, { shape }) => sum + (shape[0] ?? 0), 0);
    return { ...tensor, shape: [rows, ...tensor.shape.slice(1)], content: joinedContent(tensor, parts) };
  });
}

function joinedContent({ datatype }: Tensor, parts: readonly Tensor[]): Content {
  if (datatype === "BYTES") return parts.flatMap(({ content }) => (isByteList(content) ? [...content] : []));
  const arrays = parts.flatMap(({ content }) => (isByteList(content) ? [] : content));
  const whole = new (arrayOf(datatype))(arrays.reduce((sum, { length }) => sum + length, 0));
  const bytes = new Uint8Array(whole.buffer);
  let place = 0;
  for (const { buffer, byteOffset, byteLength } of arrays) {
    bytes.set(new Uint8Array(buffer, byteOffset, byteLength), place);
    place += byteLength;
  }
  return whole;
}

/** Divides outputs by rows; undefined if the rows of an output differ from those of all requests. */
export function divideOutputs(
  outputs: readonly Tensor[],
  rows: readonly number[],
): readonly (readonly Tensor[])[] | undefined {
  const all = rows.reduce((sum, count) => sum + count, 0);
  if (outputs.some(({ shape }) => shape[0] !== all)) return undefined;
  let first = 0;
  return rows.map((count) => {
    const part = outputs.map((tensor): Tensor => {
      const rest = tensor.shape.slice(1);
      const [from, to] = [first * countOf(rest), (first + count) * countOf(rest)];
      return { ...tensor, shape: [count, ...rest], content: slice(tensor.content, from, to) };
    });
    first += count;
    return part;
  });
}

function slice(content: Content, from: number, to: number): Content {
  return isByteList(content) ? content.slice(from, to) : content.subarray(from, to);
}
