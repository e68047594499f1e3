/** JPEG files decoded at a part of their size. */
import encoder from "jpeg-js";
import { describe, expect, it } from "vitest";
import { decodePicture } from "./decode.ts";
import { picture } from "./load-picture.ts";
import type { Picture } from "./picture.ts";

/** Blurred shapes in all three colours. */
function fileOf(width: number, height: number): Uint8Array {
  const data = Buffer.alloc(width * height * 4, 255);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const at = (y * width + x) * 4;
      data[at] = Math.round(127 + 120 * Math.sin(x / 40));
      data[at + 1] = Math.round(127 + 120 * Math.cos(y / 50));
      data[at + 2] = Math.round((255 * x) / width);
    }
  }
  return new Uint8Array(encoder.encode({ width, height, data }, 95).data);
}

/** The means of squares of pixels, of those that there are at the edges. */
function meansOf({ width, height, data }: Picture, side: number): { width: number; height: number; means: number[] } {
  const [columns, rows] = [Math.ceil(width / side), Math.ceil(height / side)];
  const means = Array.from({ length: columns * rows * 3 }, (_, place) => {
    const [channel, column, row] = [place % 3, Math.floor(place / 3) % columns, Math.floor(place / (3 * columns))];
    let [sum, count] = [0, 0];
    for (let y = row * side; y < Math.min(height, (row + 1) * side); y++)
      for (let x = column * side; x < Math.min(width, (column + 1) * side); x++, count++)
        sum += data[(y * width + x) * 3 + channel] ?? 0;
    return sum / count;
  });
  return { width: columns, height: rows, means };
}

const file = fileOf(321, 250);

describe("a JPEG picture of which fewer pixels suffice", () => {
  it.each([
    { atLeast: 126, side: 1 },
    { atLeast: 125, side: 2 },
    { atLeast: 62.6, side: 2 },
    { atLeast: 62.5, side: 4 },
    { atLeast: 31.25, side: 8 },
    { atLeast: 1, side: 8 },
  ])("has the means of $side x $side pixels if $atLeast suffice", async ({ atLeast, side }) => {
    const reduced = await decodePicture(file, { atLeast });
    const { means, ...size } = meansOf(await decodePicture(file), side);
    expect(reduced).toMatchObject(size);
    const differences = means.map((mean, place) => Math.abs(mean - (reduced.data[place] ?? Number.NaN)));
    expect(differences.reduce((most, each) => Math.max(most, each))).toBeLessThan(side === 1 ? 0.1 : 12);
    expect(differences.reduce((sum, each) => sum + each, 0) / means.length).toBeLessThan(1.5);
  });

  it("is turned upright", async () => {
    const exif = [
      0xff,
      0xe1,
      0,
      34,
      ...Buffer.from("Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0", "latin1"),
    ];
    const turned = Uint8Array.from([...file.subarray(0, 2), ...exif, ...file.subarray(2)]);
    const upright = await decodePicture(file, { atLeast: 30 });
    expect(await decodePicture(turned, { atLeast: 30 })).toMatchObject({
      width: upright.height,
      height: upright.width,
    });
  });

  it("is decoded in a thread if it is large", async () => {
    const large = await decodePicture(fileOf(1500, 1000), { atLeast: 250 });
    expect(large).toMatchObject({ width: 375, height: 250 });
  });

  it("is refused with the words of a whole one if it is damaged", async () => {
    for (const atLeast of [undefined, 30])
      await expect(decodePicture(file.subarray(0, -400), { atLeast })).rejects.toThrow("its pixels end too early");
  });

  it("without its last marker is read", async () => {
    expect(await decodePicture(file.subarray(0, -2), { atLeast: 30 })).toEqual(
      await decodePicture(file, { atLeast: 30 }),
    );
  });

  it("is asked for by `picture`, which refuses what is not a number of pixels", async () => {
    expect(await picture(file, { atLeast: 100 })).toMatchObject({ width: 161, height: 125 });
    await expect(picture(file, { atLeast: 0 })).rejects.toThrow(
      "picture: atLeast is 0, not a number of pixels above 0",
    );
    await expect(picture(file, { atLeast: Number.NaN })).rejects.toThrow("atLeast is NaN");
  });

  it("of another format keeps its size", async () => {
    const bmp = new Uint8Array(54 + 4 * 2);
    bmp.set([0x42, 0x4d, 62, 0, 0, 0, 0, 0, 0, 0, 54, 0, 0, 0, 40, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 1, 0, 24]);
    expect(await decodePicture(bmp, { atLeast: 1 })).toMatchObject({ width: 1, height: 2 });
  });
});
