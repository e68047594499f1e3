import { elementAt } from "@nnhal/operations";
import jpeg from "jpeg-js";
import { describe, expect, it } from "vitest";
import { decodePicture } from "./decode.ts";
import { pngChunk, pngFile, pngOf } from "./png.test-helper.ts";

const pixels = async (bytes: Uint8Array) => [...(await decodePicture(bytes)).data];

describe("decodePicture", () => {
  it("reads PNG with white behind what is transparent", async () => {
    const picture = await decodePicture(pngOf(2, 2, [10, 20, 30, 255, 0, 0, 0, 0, 0, 100, 200, 51, 255, 0, 0, 128]));
    expect(picture).toMatchObject({ width: 2, height: 2 });
    expect([...picture.data]).toEqual([10, 20, 30, 255, 255, 255, 204, 224, 244, 255, 127, 127]);
  });

  it("reads grey, palette, 16-bit and interlaced PNG", async () => {
    const one = { width: 1, height: 1 };
    expect(await pixels(pngFile({ ...one, depth: 8, kind: 0 }, Uint8Array.of(0, 77)))).toEqual([77, 77, 77]);
    const palette = pngChunk("PLTE", Uint8Array.of(1, 2, 3, 40, 50, 60));
    expect(await pixels(pngFile({ ...one, depth: 8, kind: 3 }, Uint8Array.of(0, 1), { chunks: [palette] }))).toEqual([
      40, 50, 60,
    ]);
    const deep = Uint8Array.of(0, 0xff, 0xff, 0x80, 0x80, 0, 0);
    expect(await pixels(pngFile({ ...one, depth: 16, kind: 2 }, deep))).toEqual([255, 128, 0]);
    expect(await pixels(pngFile({ ...one, depth: 8, kind: 0 }, Uint8Array.of(0, 77), { interlace: 1 }))).toEqual([
      77, 77, 77,
    ]);
  });

  it("reads JPEG", async () => {
    const data = Buffer.alloc(8 * 8 * 4, 255);
    for (let pixel = 0; pixel < 64; pixel++) data.set([200, 100, 50], pixel * 4);
    const picture = await decodePicture(new Uint8Array(jpeg.encode({ width: 8, height: 8, data }, 100).data));
    expect(picture).toMatchObject({ width: 8, height: 8 });
    // The colour transform of JPEG rounds.
    for (const [place, value] of picture.data.entries()) {
      expect(Math.abs(value - elementAt([200, 100, 50], place % 3))).toBeLessThanOrEqual(2);
    }
  });

  it("reads BMP", async () => {
    const bytes = Uint8Array.from({ length: 58 }, () => 0);
    bytes.set([0x42, 0x4d, 58, 0, 0, 0, 0, 0, 0, 0, 54, 0, 0, 0, 40, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 24]);
    bytes.set([3, 2, 1], 54);
    expect(await pixels(bytes)).toEqual([1, 2, 3]);
  });

  it("refuses bytes that are not a picture", async () => {
    for (const bytes of [[], [0x89, 0x50], [0x25, 0x50, 0x44, 0x46], [0xff, 0xd8]]) {
      await expect(decodePicture(Uint8Array.from(bytes))).rejects.toThrow(
        new RangeError("is not a PNG, JPEG, WebP, GIF or BMP picture"),
      );
    }
  });

  it("says in one line what cannot be read, wherever a file is cut or changed", async () => {
    const data = Buffer.alloc(16 * 16 * 4, 99);
    const files = [
      new Uint8Array(jpeg.encode({ width: 16, height: 16, data }, 90).data),
      pngOf(4, 4, new Array(64).fill(88)),
    ];
    const attempt = async (bytes: Uint8Array) => {
      try {
        await decodePicture(bytes);
        return "read";
      } catch (error) {
        expect(error).toBeInstanceOf(RangeError);
        expect(String(error)).toMatch(/^RangeError: is (not a PNG|a (PNG|JPEG) picture that cannot be read: )[^\n]+$/);
        return "refused";
      }
    };
    for (const file of files) {
      expect(await attempt(file)).toBe("read");
      expect(await attempt(file.subarray(0, file.length >> 1))).toBe("refused");
      for (let at = 0; at < file.length; at += 5) {
        await attempt(file.subarray(0, at));
        await attempt(file.with(at, elementAt(file, at) ^ 0xff));
      }
    }
  });

  it("refuses sizes over the limit before it takes memory", async () => {
    const wide = pngFile({ width: 100_000_001, height: 1, depth: 8, kind: 0 }, Uint8Array.of(0));
    await expect(decodePicture(wide)).rejects.toThrow("its size is 100000001 x 1, more than 100 megapixels");
    const frame = [0xff, 0xc0, 0, 11, 8, 0xff, 0xff, 0xff, 0xff, 1, 1, 0x11, 0];
    await expect(decodePicture(Uint8Array.of(0xff, 0xd8, ...frame, 0xff, 0xd9))).rejects.toThrow(
      "is a JPEG picture that cannot be read: its size is 65535 x 65535, more than 100 megapixels",
    );
  });

  it("refuses an interlaced PNG that unpacks to more than its pixels", async () => {
    const bomb = pngFile({ width: 1, height: 1, depth: 8, kind: 0 }, new Uint8Array(1_000_000), { interlace: 1 });
    await expect(decodePicture(bomb)).rejects.toThrow(/PNG picture that cannot be read: .*larger than/);
  });

  it("refuses a PNG without all its pixels", async () => {
    const grey = { width: 2, height: 2, depth: 8, kind: 0 };
    const all = Uint8Array.of(0, 1, 2, 0, 3, 4);
    expect(await pixels(pngFile(grey, all))).toEqual([1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4]);
    await expect(decodePicture(pngFile(grey, all.subarray(0, 5)))).rejects.toThrow("its pixels end after 5 of 6 bytes");
    // Passes of a 2 x 2 picture: one pixel, one pixel, a row of two.
    const passes = Uint8Array.of(0, 1, 0, 2, 0, 3, 4);
    const interlace = { interlace: 1 };
    expect(await pixels(pngFile(grey, passes, interlace))).toEqual([1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4]);
    await expect(decodePicture(pngFile(grey, passes.subarray(0, 6), interlace))).rejects.toThrow(
      "its pixels end after 6 of 7 bytes",
    );
  });
});
