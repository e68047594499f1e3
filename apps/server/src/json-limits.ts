/**
 * Limits of JSON, counted in its bytes before it is parsed: a list, an object or a key costs a hundred times its bytes, and
 * parsing blocks all other requests.
 */
import { RequestError } from "./errors.ts";

/** Maximum bytes. Larger tensors belong behind the JSON. */
export const mostJson = 4 * 2 ** 20;

/** Maximum number of lists, objects and keys together: enough for nested lists of a picture of 256 x 256 x 3. */
export const mostParts = 80_000;

/** Maximum nesting of lists and objects: a tensor has 32 axes at most. */
export const mostDepth = 64;

const [quote, backslash, colon] = [0x22, 0x5c, 0x3a];

/** Bytes that open a list or an object are 1, those that close one 2; `{` and `[`, `}` and `]` differ by one bit. */
const kinds = new Uint8Array(256);
for (const byte of [0x5b, 0x7b]) kinds[byte] = 1;
for (const byte of [0x5d, 0x7d]) kinds[byte] = 2;
kinds[colon] = 3;
kinds[quote] = 4;

/** Throws a RequestError if JSON exceeds the limits. Invalid JSON may pass: its parser refuses it. */
export function checkJson(body: Uint8Array): void {
  if (body.length > mostJson) {
    throw tooLarge(
      `the JSON has ${body.length} bytes; ${mostJson} are the most: put tensors behind it (binary_data_size)`,
    );
  }
  let [parts, depth] = [0, 0];
  for (let place = 0; place < body.length; place++) {
    const kind = kinds[body[place] ?? 0];
    if (kind === 0) continue;
    if (kind === 4) {
      place = endOfText(body, place);
      continue;
    }
    if (kind === 2) {
      depth--;
      continue;
    }
    parts++;
    if (kind === 1) depth++;
    if (parts > mostParts) {
      throw tooLarge(
        `the JSON has more than ${mostParts} lists, objects and keys: give the elements of a tensor in one list`,
      );
    }
    if (depth > mostDepth) throw tooLarge(`the JSON has more than ${mostDepth} lists or objects inside each other`);
  }
}

/** Returns the position of the quote that ends a text. */
function endOfText(body: Uint8Array, start: number): number {
  let place = start + 1;
  while (place < body.length && body[place] !== quote) place += body[place] === backslash ? 2 : 1;
  return place;
}

function tooLarge(text: string): RequestError {
  return new RequestError("tooLarge", text);
}
