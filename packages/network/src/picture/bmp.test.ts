import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bmpSize, readBmp } from "./bmp.ts";
import { checkSize } from "./picture.ts";

interface Given {
  readonly width: number;
  readonly height: number;
  readonly bits: number;
  /** Rows as the file holds them, padded. */
  readonly rows: readonly number[];
  readonly compression?: number;
  /** Blue, green, red, 0 for each colour. */
  readonly palette?: readonly number[];
  readonly colours?: number;
  /** Bytes inside the header, after its first 40. */
  readonly more?: readonly number[];
  /** Bytes between the header and the pixels. */
  readonly between?: readonly number[];
}

function bmp({
  width,
  height,
  bits,
  rows,
  compression = 0,
  palette = [],
  colours = 0,
  more = [],
  between = [],
}: Given) {
  const headerSize = 40 + more.length;
  const pixels = 14 + headerSize + palette.length + between.length;
  const bytes = new Uint8Array(pixels + rows.length);
  const view = new DataView(bytes.buffer);
  bytes.set([0x42, 0x4d]);
  view.setUint32(2, bytes.length, true);
  view.setUint32(10, pixels, true);
  view.setUint32(14, headerSize, true);
  view.setInt32(18, width, true);
  view.setInt32(22, height, true);
  view.setUint16(26, 1, true);
  view.setUint16(28, bits, true);
  view.setUint32(30, compression, true);
  view.setUint32(46, colours, true);
  bytes.set([...more, ...palette, ...between], 54);
  bytes.set(rows, pixels);
  return bytes;
}

const uint32s = (...values: number[]) => [...new Uint8Array(Uint32Array.from(values).buffer)];
const pixelsOf = (given: Given) => [...readBmp(bmp(given)).data];

const red = [255, 0, 0];
const green = [0, 255, 0];
const blue = [0, 0, 255];
const white = [255, 255, 255];

describe("readBmp", () => {
  it("reads 24 bits, rows from the bottom or from the top", () => {
    // Blue, green, red of each pixel; two bytes pad a row of two pixels.
    const rows = [...[0, 0, 255], ...[0, 255, 0], 0, 0, ...[255, 0, 0], ...[255, 255, 255], 0, 0];
    expect(pixelsOf({ width: 2, height: 2, bits: 24, rows })).toEqual([...blue, ...white, ...red, ...green]);
    expect(pixelsOf({ width: 2, height: -2, bits: 24, rows })).toEqual([...red, ...green, ...blue, ...white]);
  });

  it("starts where the header says that the pixels are", () => {
    const given = { width: 1, height: 1, bits: 24, rows: [0, 0, 255, 0] };
    expect(pixelsOf({ ...given, between: [9, 9, 9, 9, 9, 9] })).toEqual(red);
    expect(pixelsOf({ ...given, more: new Array(84).fill(0) })).toEqual(red);
  });

  it("reads palettes of 1, 4 and 8 bits", () => {
    const palette = [0, 0, 255, 0, 0, 255, 0, 0];
    const wide = { width: 9, height: 1, palette, colours: 2 };
    const expected = [...green, ...red, ...green, ...red, ...red, ...red, ...red, ...red, ...green];
    expect(pixelsOf({ ...wide, bits: 1, rows: [0xa0, 0x80, 0, 0] })).toEqual(expected);
    expect(pixelsOf({ ...wide, bits: 4, rows: [0x10, 0x10, 0, 0, 0x10, 0, 0, 0] })).toEqual(expected);
    expect(pixelsOf({ ...wide, bits: 8, rows: [1, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0] })).toEqual(expected);
  });

  it("reads 32 bits without masks as opaque", () => {
    expect(pixelsOf({ width: 2, height: 1, bits: 32, rows: [0, 0, 255, 0, 0, 255, 0, 7] })).toEqual([...red, ...green]);
  });

  it("reads channels by their masks, after a short header or within a long one, and shows white behind alpha", () => {
    const masks = uint32s(0xff, 0xff00, 0xff0000);
    const given = { width: 1, height: 1, bits: 32, compression: 3, rows: [255, 0, 51, 0] };
    expect(pixelsOf({ ...given, between: masks })).toEqual([255, 0, 51]);
    const alpha = [...masks, ...uint32s(0xff000000)];
    expect(pixelsOf({ ...given, more: alpha })).toEqual(white);
    expect(pixelsOf({ ...given, more: alpha, rows: [255, 0, 51, 255] })).toEqual([255, 0, 51]);
    expect(pixelsOf({ ...given, more: alpha, rows: [255, 0, 51, 51] })).toEqual([255, 204, 214]);
  });

  it("reads 16 bits as 5, 5, 5, or by masks as 5, 6, 5", () => {
    const rows = [0xff, 0x7f, 0, 0];
    expect(pixelsOf({ width: 1, height: 1, bits: 16, rows })).toEqual(white);
    const masks = uint32s(0xf800, 0x7e0, 0x1f);
    const given = { width: 1, height: 1, bits: 16, compression: 3, between: masks };
    // 01111 111111 11111
    expect(pixelsOf({ ...given, rows })).toEqual([123, 255, 255]);
  });

  it("refuses what it cannot read, with the reason", () => {
    const right = { width: 1, height: 1, bits: 24, rows: [1, 2, 3, 0] };
    expect(pixelsOf(right)).toEqual([3, 2, 1]);
    const sized = (given: Partial<Given>) => () => checkSize(...bmpSize(bmp({ ...right, ...given })));
    const refuse = (given: Partial<Given>) => () => readBmp(bmp({ ...right, ...given }));
    expect(sized({ width: 0 })).toThrow("its size is 0 x 1");
    expect(sized({ width: -1 })).toThrow("its size is -1 x 1");
    expect(sized({ height: 0 })).toThrow("its size is 1 x 0");
    expect(sized({ width: 10_001, height: 10_000 })).toThrow("more than 100 megapixels");
    expect(refuse({ height: 2 })).toThrow("the pixels end at byte 62, the file at 58");
    expect(refuse({ bits: 15 })).toThrow("15 bits a pixel are not supported");
    expect(refuse({ bits: 8, compression: 1 })).toThrow("compression 1 is not supported");
    expect(refuse({ bits: 8, palette: [0, 0, 0, 0], colours: 1 })).toThrow("colour 1 of a palette of 1");
    expect(refuse({ bits: 8, colours: 257 })).toThrow("257 colours where 256 are possible");
    expect(refuse({ bits: 8 })).toThrow("the colours of the palette end at byte 1078");
    expect(() => readBmp(bmp(right).subarray(0, 30))).toThrow("it ends after 30 bytes, in the header");
    const strange = bmp(right);
    strange[14] = 20;
    expect(() => readBmp(strange)).toThrow("its header has 20 bytes");
  });

  it("answers to any bytes with a picture or a RangeError", () => {
    const base = bmp({ width: 3, height: 3, bits: 8, rows: new Array(12).fill(0), palette: new Array(1024).fill(7) });
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(60), fc.nat(255))), fc.nat(base.length), (changes, length) => {
        const bytes = base.slice(0, length);
        for (const [at, value] of changes) if (at < length) bytes[at] = value;
        try {
          const { width, height, data } = readBmp(bytes);
          expect(data.length).toBe(width * height * 3);
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError);
        }
      }),
      { numRuns: 500 },
    );
  });
});
