/** Pictures of each format: mutants, and bombs. */
import { bmpOf, gifOf, jpeg, jpegBomb, losslessWebp, pngOf, progressiveJpeg, webp } from "../reader/picture-files.ts";
import { expectRefusal, mutantOf, readerSurface } from "../reader/reader.ts";

/** Of a picture of 100 megapixels, SECURITY.md states 20 bytes a pixel. */
const memory = 20 * 100_000_000;

const formats = {
  png: () => pngOf(9, 7, 8, 6),
  gif: () => gifOf(9, 7),
  bmp: () => bmpOf(5, 3),
  jpeg: () => jpeg,
  progressive: () => progressiveJpeg,
  webp: () => webp,
  lossless: () => losslessWebp,
};

export const picturesSurface = readerSurface(
  { name: "pictures", says: "pictures of each format, read by a program", memory },
  ({ readBytes }) => [
    ...Object.entries(formats).map(([name, fileOf]) => ({
      name: `${name}-mutants`,
      async send(random: () => number) {
        for (let count = 0; count < 20; count++) await readBytes("picture", mutantOf(fileOf(), random));
      },
    })),
    {
      name: "png-bomb",
      async send(random) {
        const [depth, kind] = random() < 0.5 ? ([1, 0] as const) : ([8, 6] as const);
        const result = await readBytes("picture", pngOf(10_000, depth === 1 ? 10_000 : 2000, depth, kind));
        if (typeof result === "string" && !result.includes("aborted")) throw new Error(result);
        expectRefusal(await readBytes("picture", pngOf(100_000_001, 1, 1, 0)), /more than 100 megapixels/);
      },
    },
    {
      name: "gif-bomb",
      async send() {
        const result = await readBytes("picture", gifOf(10_000, 10_000));
        if (typeof result === "string") throw new Error(result);
        expectRefusal(await readBytes("picture", gifOf(10_001, 10_000).subarray(0, 1000)), /more than 100 megapixels/);
      },
    },
    {
      name: "jpeg-scans",
      async send() {
        expectRefusal(await readBytes("picture", jpegBomb(4000, 4000, 400)), /its scans have \d+ megapixels in all/);
        expectRefusal(await readBytes("picture", jpegBomb(65_535, 1, 10_000)), /its scans have \d+ megapixels in all/);
        expectRefusal(await readBytes("picture", jpegBomb(65_535, 65_535, 1)), /more than 100 megapixels/);
        // Within the limits: its pixels are missing.
        expectRefusal(await readBytes("picture", jpegBomb(4000, 4000, 10)), /cannot be read/);
      },
    },
  ],
);
