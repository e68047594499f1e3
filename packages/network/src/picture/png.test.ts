import { crc32, inflateSync } from "node:zlib";
import { elementAt } from "@nnhal/operations";
import fc from "fast-check";
import { PNG } from "pngjs";
import { describe, expect, it } from "vitest";
import { onWhite } from "./picture.ts";
import { pngChunk, pngFile } from "./png.test-helper.ts";
import { readPng as read } from "./png.ts";

const readPng = (bytes: Uint8Array) =>
  read(bytes, {
    inflate: (packed, maxOutputLength) => inflateSync(packed, { maxOutputLength }),
    crc32: (data) => crc32(data),
  });

const samplesOf: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };
const forms = [0, 2, 3, 4, 6].flatMap((kind) =>
  [1, 2, 4, 8, 16]
    .filter((depth) => kind === 0 || (kind === 3 ? depth <= 8 : depth >= 8))
    .map((depth) => ({ kind, depth })),
);

/** Bytes that follow from a seed. */
function noise(count: number, seed: number): Uint8Array {
  let state = seed;
  return Uint8Array.from({ length: count }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) | 0;
    return state >>> 16;
  });
}

/** A transparent colour, or the alpha of half of the colours of a palette. */
function clearOf({ kind, depth }: { readonly kind: number; readonly depth: number }, seed: number): Uint8Array {
  if (kind === 3) return noise((2 ** depth) >> 1, seed);
  const samples = [...noise(samplesOf[kind] ?? 0, seed)];
  return Uint8Array.from(
    samples.flatMap((sample) => [depth === 16 ? sample : 0, sample & (2 ** Math.min(8, depth) - 1)]),
  );
}

/** The rows of a picture or a pass, each with a filter. */
function rowsOf(width: number, height: number, bits: number, seed: number): Uint8Array[] {
  if (width === 0) return [];
  return Array.from({ length: height }, (_, y) => {
    const row = noise(1 + Math.ceil((width * bits) / 8), seed + y);
    row[0] = elementAt(row, 0) % 5;
    return row;
  });
}

/** Columns and rows of each pass: first ones, and steps. */
const passes = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const;

function file(form: { readonly kind: number; readonly depth: number }, width: number, height: number, seed: number) {
  const { kind, depth } = form;
  const bits = depth * (samplesOf[kind] ?? 0);
  const interlace = seed % 2;
  const count = (extent: number, first: number, step: number) => Math.max(0, Math.ceil((extent - first) / step));
  const rows =
    interlace === 0
      ? rowsOf(width, height, bits, seed)
      : passes.flatMap(([left, top, across, down], pass) =>
          rowsOf(count(width, left, across), count(height, top, down), bits, seed + 100 * pass),
        );
  const palette = kind === 3 ? [pngChunk("PLTE", noise(3 * 2 ** depth, seed))] : [];
  const transparency = kind > 3 || seed % 3 === 0 ? [] : [pngChunk("tRNS", clearOf(form, seed))];
  return pngFile({ width, height, ...form }, Buffer.concat(rows), { interlace, chunks: [...palette, ...transparency] });
}

describe("readPng", () => {
  it.each(forms)("reads the colour type $kind of $depth bits as pngjs does", (form) => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 12 }),
        fc.nat(999),
        (width, height, seed) => {
          const bytes = file(form, width, height, seed);
          const { data } = PNG.sync.read(Buffer.from(bytes));
          expect(readPng(bytes)).toEqual(onWhite(width, height, data));
        },
      ),
      { numRuns: 15 },
    );
  });

  const grey = { width: 2, height: 1, depth: 8, kind: 0 };
  const rows = Uint8Array.of(0, 1, 2);
  const good = pngFile(grey, rows);

  it("refuses each part that is wrong", () => {
    expect([...readPng(good).data]).toEqual([1, 1, 1, 2, 2, 2]);
    const refuse = (bytes: Uint8Array, message: string) => expect(() => readPng(bytes)).toThrow(message);
    refuse(good.subarray(0, -1), "it ends after");
    refuse(good.subarray(0, -12), "before its last part");
    refuse(good.with(33 + 9, 255), "its part at byte 33 is damaged: the checksum is wrong");
    refuse(good.slice(0, 8), "before its last part");
    refuse(pngFile({ ...grey, depth: 3 }, rows), "it has 3 bits for each sample of the colour type 0");
    refuse(pngFile({ ...grey, kind: 5 }, rows), "it has 8 bits for each sample of the colour type 5");
    refuse(pngFile(grey, rows, { interlace: 2 }), "its compression is 0, its filter 0, its interlacing 2");
    refuse(pngFile(grey, rows.with(0, 5)), "a row has the filter 5");
    refuse(pngFile(grey, rows, { chunks: [pngChunk("ABCD", rows)] }), "its part at byte 33 is of an unknown kind");
    refuse(pngFile({ ...grey, kind: 3 }, rows), "its palette has no colour 1");
    const palette = pngChunk("PLTE", Uint8Array.of(1, 1, 1, 2, 2, 2));
    refuse(pngFile({ ...grey, kind: 3 }, rows, { chunks: [palette] }), "its palette has no colour 2");
  });

  it("takes no notice of parts that it need not know", () => {
    const text = pngChunk("tEXt", rows);
    expect(readPng(pngFile(grey, rows, { chunks: [text] })).data).toEqual(readPng(good).data);
    expect(readPng(pngFile(grey, rows, { chunks: [text.fill(0, text.length - 4)] })).data).toEqual(readPng(good).data);
  });
});
