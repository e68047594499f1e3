import { elementAt } from "@nnhal/operations";
import { withFiles } from "@nnhal/test-kit/packed-files";
import { describe, expect, test } from "vitest";
import { oneOperator } from "../_model.test-helper.ts";
import { TfliteError } from "../error.ts";
import { readTflite } from "../read.ts";
import { writeTflite } from "../write.ts";
import { packedFiles, readPackedFile } from "./packed-files.ts";

const plain = writeTflite(oneOperator("ABS", { x: { shape: [2] } }, { y: { shape: [2] } }));
const text = "cat\ndog\n".repeat(1000);
const packed = withFiles(plain, {
  "labels.txt": new TextEncoder().encode(text),
  "stored.bin": Uint8Array.of(1, 2, 3),
});

/** The file with bytes of its end changed; `at` counts from the end. */
function change(at: number, ...values: readonly number[]): Uint8Array {
  const bytes = packed.slice();
  bytes.set(values, bytes.length + at);
  return bytes;
}

/** Where the entry of a file is in the directory. */
function entryOf(bytes: Uint8Array, place: number): number {
  const view = new DataView(bytes.buffer);
  let at = view.getUint32(bytes.length - 6, true);
  for (let i = 0; i < place; i++) at += 46 + view.getUint16(at + 28, true);
  return at;
}

/** The file with a number of 32 bits in an entry changed. */
function withEntry(place: number, offset: number, value: number): Uint8Array {
  const bytes = packed.slice();
  new DataView(bytes.buffer).setUint32(entryOf(bytes, place) + offset, value, true);
  return bytes;
}

describe("packed files", () => {
  test("are listed and read, compressed or stored", () => {
    expect(packedFiles(packed)).toEqual([
      { name: "labels.txt", size: text.length },
      { name: "stored.bin", size: 3 },
    ]);
    expect(new TextDecoder().decode(readPackedFile(packed, "labels.txt"))).toBe(text);
    expect(readPackedFile(packed, "stored.bin")).toEqual(Uint8Array.of(1, 2, 3));
    expect(readPackedFile(packed, "other")).toBeUndefined();
  });

  test("do not disturb the model", () => {
    expect(readTflite(packed)).toEqual(readTflite(plain));
  });

  test("a file without an archive has none", () => {
    expect(packedFiles(plain)).toEqual([]);
    expect(packedFiles(new Uint8Array(0))).toEqual([]);
    expect(readPackedFile(plain, "labels.txt")).toBeUndefined();
  });

  test.each([
    ["with a byte behind it", Uint8Array.of(...packed, 0)],
    ["whose directory is elsewhere", change(-6, 0, 0, 0, 0)],
    ["whose directory lies behind its end", change(-6, 0xff, 0xff, 0xff, 0xff)],
  ])("what looks like an archive %s is none", (_what, bytes) => {
    expect(packedFiles(bytes)).toEqual([]);
  });

  test.each([
    ["more files than 1000", change(-12, 0xe9, 0x03), "there are 1001, more than 1000"],
    ["more files than there are", change(-12, 3, 0), "packed files[2]: its entry at"],
    ["an entry that is none", withEntry(1, 0, 7), "packed files[1]: there is no entry at"],
    ["an entry behind the end", withEntry(1, 28, 0xffff), "packed files[1]: its name lies outside the file"],
    ["an entry that is too long", withEntry(0, 28, 0xffff_000a), "packed files[1]: its entry at"],
  ])("a directory with %s is refused", (_what, bytes, message) => {
    expect(() => packedFiles(bytes)).toThrow(TfliteError);
    expect(() => packedFiles(bytes)).toThrow(message);
  });

  test.each([
    ["has more bytes than it says", 24, text.length - 1, "its content is more than the 7999 bytes that it should be"],
    ["has fewer bytes than it says", 24, text.length + 1, "its content has 8000 bytes, not 8001"],
    ["is too large", 24, 2 ** 26 + 1, "67108865 bytes are more than the most, 67108864"],
    ["is cut", 20, 10, "its content"],
    ["is compressed in another way", 10, 12, "compression method 12 is not supported"],
    ["is not where the directory says", 42, 5, "there is no file at 5"],
    ["lies behind the end", 42, 0xffff_fff0, "there is no file at 4294967280"],
    ["reaches behind the end", 20, 0xffff_fff0, "its content lies outside the file"],
  ])("a file that %s is refused", (_what, offset, value, message) => {
    const read = () => readPackedFile(withEntry(0, offset, value), "labels.txt");
    expect(read).toThrow(TfliteError);
    expect(read).toThrow(`packed files: "labels.txt": `);
    expect(read).toThrow(message);
  });

  test("has at most the bytes that its reader wants", () => {
    expect(readPackedFile(packed, "labels.txt", { most: text.length })).toHaveLength(text.length);
    expect(() => readPackedFile(packed, "labels.txt", { most: text.length - 1 })).toThrow(
      `packed files: "labels.txt": ${text.length} bytes are more than the most, ${text.length - 1}`,
    );
    const zeros = withFiles(plain, { zeros: new Uint8Array(2 ** 26 + 1) });
    expect(() => readPackedFile(zeros, "zeros", { most: 2 ** 27 })).toThrow("are more than the most, 67108864");
  });

  test("a small file that becomes a large one is refused before it is unpacked", () => {
    const bomb = withFiles(plain, { bomb: new Uint8Array(2 ** 25) });
    expect(bomb.length).toBeLessThan(2 ** 16 + plain.length);
    const view = new DataView(bomb.buffer);
    view.setUint32(entryOf(bomb, 0) + 24, 100, true);
    expect(() => readPackedFile(bomb, "bomb")).toThrow("its content is more than the 100 bytes that it should be");
  });

  test("any byte changed gives files or a TfliteError", () => {
    const from = entryOf(packed, 0) - 200;
    for (let at = Math.max(plain.length, from); at < packed.length; at++) {
      for (const value of [0, 0x7f, 0x80, 0xff]) {
        const bytes = packed.slice();
        bytes[at] = value;
        try {
          for (const { name } of packedFiles(bytes)) readPackedFile(bytes, name);
        } catch (error) {
          expect(error).toBeInstanceOf(TfliteError);
        }
      }
    }
    expect(elementAt(packedFiles(packed), 0).name).toBe("labels.txt");
  });
});
