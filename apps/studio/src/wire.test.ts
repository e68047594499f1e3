import { describe, expect, it } from "vitest";
import { decodeMessage, encodeMessage, frame, messagesIn } from "./wire.ts";

const again = (value: unknown) => decodeMessage(encodeMessage(value));

describe("a message", () => {
  it.each([
    ["plain values", { a: [1, "two", null, true, { b: [] }] }],
    ["bytes, also none", { values: [{ bytes: Uint8Array.of(1, 2, 255), shape: [3] }, { bytes: new Uint8Array(0) }] }],
    ["undefined in a list", [undefined, 1]],
    ["numbers that JSON lacks", [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]],
    ["a bigint", 2n ** 60n],
    [
      "a map",
      new Map<number, unknown>([
        [0, { bytes: Uint8Array.of(7) }],
        [1, undefined],
      ]),
    ],
    ["texts that look like code", { text: '</script>"\u2028', $other: 1 }],
  ])("carries %s", (_, value) => {
    expect(again(value)).toEqual(value);
  });

  it("leaves out properties that are undefined", () => {
    expect(again({ a: undefined, b: 1 })).toEqual({ b: 1 });
  });

  it("carries no functions", () => {
    expect(() => encodeMessage({ run: () => {} })).toThrow(new TypeError("a message has no function"));
  });

  it("is refused if it is cut anywhere, or is something else", () => {
    const message = encodeMessage({ bytes: Uint8Array.of(1, 2, 3) });
    for (let length = 0; length < message.length; length++) {
      expect(() => decodeMessage(message.subarray(0, length)), `${length} bytes`).toThrow(RangeError);
    }
    const other = (json: string) => {
      const text = new TextEncoder().encode(json);
      return frame(text);
    };
    expect(() => decodeMessage(other("{"))).toThrow("a message does not begin with JSON");
    expect(() => decodeMessage(other("[]"))).toThrow("a message has no value");
    expect(() => decodeMessage(other('{"value":1,"lengths":[-1]}'))).toThrow("a message is cut off");
    expect(() => decodeMessage(other('{"value":{"$nnhal":"other"},"lengths":[]}'))).toThrow("unknown kind other");
    expect(() => decodeMessage(other('{"value":{"$nnhal":"bytes","place":0},"lengths":[]}'))).toThrow(
      "unknown kind bytes",
    );
    expect(() => decodeMessage(other('{"value":{"$nnhal":"map","entries":[1]},"lengths":[]}'))).toThrow(
      "is not a pair",
    );
  });
});

describe("a stream", () => {
  it("is cut into its messages, wherever its chunks end", async () => {
    const all = [frame(encodeMessage("one")), frame(encodeMessage(new Uint8Array(9))), frame(encodeMessage([]))];
    const bytes = all.flatMap((each) => [...each]);
    for (const size of [1, 3, 7, bytes.length]) {
      async function* chunks() {
        for (let at = 0; at < bytes.length; at += size) yield Uint8Array.from(bytes.slice(at, at + size));
      }
      const found: unknown[] = [];
      for await (const message of messagesIn(chunks())) found.push(decodeMessage(message));
      expect(found, `chunks of ${size}`).toEqual(["one", new Uint8Array(9), []]);
    }
  });
});
