/** JPEG: scans, inks, files that lack their end, and messages. */
import encoder from "jpeg-js";
import { describe, expect, it } from "vitest";
import { decodePicture } from "./decode.ts";
import { readJpegHeader } from "./jpeg-header.ts";

const [width, height] = [24, 16];
const file = new Uint8Array(encoder.encode({ width, height, data: Buffer.alloc(width * height * 4, 120) }, 90).data);
/** The file up to its pixels, which begin with their marker. */
const pixelsAt = file.findIndex((byte, at) => byte === 0xff && file[at + 1] === 0xda);
const [head, pixels] = [file.subarray(0, pixelsAt), file.subarray(pixelsAt, -2)];
const frameAt = file.findIndex((byte, at) => byte === 0xff && file[at + 1] === 0xc0);
const end = Uint8Array.of(0xff, 0xd9);
const join = (...parts: readonly Uint8Array[]) => new Uint8Array(Buffer.concat(parts));
/** A file of some size with its pixels several times. */
const scan = (scans: number, size: readonly [number, number] = [width, height]) => {
  const sized = head.slice();
  new DataView(sized.buffer).setUint16(frameAt + 5, size[1]);
  new DataView(sized.buffer).setUint16(frameAt + 7, size[0]);
  return join(sized, ...Array.from({ length: scans }, () => pixels), end);
};

describe("the header", () => {
  it("has size, components, scans and end", () => {
    expect(readJpegHeader(file)).toEqual({ width, height, components: 3, scans: 1, work: 24 * 16, isEnded: true });
    expect(readJpegHeader(scan(7))).toMatchObject({ scans: 7, work: 7 * 24 * 16 });
    expect(readJpegHeader(file.subarray(0, -2))).toMatchObject({ scans: 1, isEnded: false });
  });

  it("counts whole blocks: a line of pixels costs as much as eight", () => {
    expect(readJpegHeader(scan(10, [801, 1]))).toMatchObject({ work: 10 * 808 * 8 });
  });

  it.each([
    ["its kind of compression (9) is not supported", head.with(frameAt + 1, 0xc9)],
    ["its samples have 12 bits; 8 are supported", head.with(frameAt + 4, 12)],
    ["it has 2 components; 1, 3 and 4 are supported", head.with(frameAt + 9, 2)],
    ["it has two sizes", join(head, head.subarray(2))],
    ["it has no size", join(head.subarray(0, frameAt), pixels)],
    ["in the header", head.subarray(0, frameAt + 9)],
    ["in the header", head.subarray(0, frameAt + 14)],
  ])("is refused: %s", (message, bytes) => {
    expect(() => readJpegHeader(bytes)).toThrow(message);
  });
});

describe("a JPEG picture", () => {
  it("has at most 10 scans of all the pixels that one may have", async () => {
    const maxPixels = width * height;
    await expect(decodePicture(scan(11), { maxPixels })).rejects.toThrow(/its scans have .* megapixels in all, more/);
    // Ten are within the limit; that a file of this kind has more than one is the decoder's to refuse.
    await expect(decodePicture(scan(10), { maxPixels })).rejects.toThrow("it is damaged, or of a kind");
    await expect(decodePicture(scan(1), { maxPixels })).resolves.toMatchObject({ width, height });
    await expect(decodePicture(scan(1), { maxPixels: maxPixels - 1 })).rejects.toThrow(
      "its size is 24 x 16, more than",
    );
    await expect(decodePicture(scan(400, [4000, 4000]))).rejects.toThrow(
      "is a JPEG picture that cannot be read: its scans have 6400 megapixels in all, more than 1000",
    );
  });

  it("is read without its last marker, and not without its last pixels", async () => {
    const whole = await decodePicture(file);
    expect(await decodePicture(file.subarray(0, -2))).toEqual(whole);
    await expect(decodePicture(file.subarray(0, -4))).rejects.toThrow("its pixels end too early");
    await expect(decodePicture(join(head, end))).rejects.toThrow(
      "is a JPEG picture that cannot be read: it has no pixels",
    );
  });

  it("is read from inks", async () => {
    // Four components, each with a scan of its own: 00 keeps the mean, 1010 the end of the block.
    const frame = [0xff, 0xc0, 0, 20, 8, 0, 8, 0, 8, 4, ...[1, 2, 3, 4].flatMap((id) => [id, 0x11, 0])];
    const scans = [1, 2, 3, 4].flatMap((id) => [0xff, 0xda, 0, 8, 1, id, 0, 0, 63, 0, 0b0010_1011]);
    const tablesAt = file.findIndex((byte, at) => byte === 0xff && file[at + 1] === 0xc4);
    const quantisationAt = file.findIndex((byte, at) => byte === 0xff && file[at + 1] === 0xdb);
    const adobe = [0xff, 0xee, 0, 14, ...[..."Adobe"].map((letter) => letter.charCodeAt(0)), 0, 100, 0, 0, 0, 0, 0];
    const inks = join(
      file.subarray(0, 2),
      Uint8Array.from(adobe),
      file.subarray(quantisationAt, frameAt),
      Uint8Array.from(frame),
      file.subarray(tablesAt, pixelsAt),
      Uint8Array.from(scans),
      end,
    );
    const { data, ...size } = await decodePicture(inks);
    expect(size).toEqual({ width: 8, height: 8 });
    // Half of each ink: a quarter of the light.
    expect(new Set(data)).toEqual(new Set([64]));
    await expect(decodePicture(inks.subarray(0, -16))).rejects.toThrow("it is damaged, or ends too early");
  });
});

it("ends with the reason of a signal", async () => {
  const reason = new Error("enough");
  await expect(decodePicture(file, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  const large = new Uint8Array(
    encoder.encode({ width: 1200, height: 1000, data: Buffer.alloc(1200 * 1000 * 4, 9) }, 50).data,
  );
  const controller = new AbortController();
  const decoding = decodePicture(large, { signal: controller.signal });
  controller.abort(reason);
  await expect(decoding).rejects.toBe(reason);
  // Those that waited for it are decoded.
  await expect(Promise.all(Array.from({ length: 6 }, () => decodePicture(large)))).resolves.toHaveLength(6);
});
