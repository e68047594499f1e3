/** The input of the network: an RGB picture of one size, each byte standing for a real value in [-1, 1). */
import type { Picture } from "./sketch.ts";

/** Height and width. */
export const INPUT_SIZE = 32;

/** Bytes of one picture of that size. */
export const PICTURE_BYTES = INPUT_SIZE * INPUT_SIZE * 3;

/** The real values that pixels stand for in the float model; the uint8 model's input quantisation says the same. */
export const INPUT_QUANTISATION = { scale: 1 / 128, zeroPoint: 128 };

export const normalise = (pixels: Uint8Array): Float32Array =>
  Float32Array.from(pixels, (pixel) => (pixel - INPUT_QUANTISATION.zeroPoint) * INPUT_QUANTISATION.scale);

/** Bilinear, pixel centres at halves, no smoothing before: what `nnhal run` does. */
export function shrink(picture: Picture, size: number): Picture {
  const data = new Uint8Array(size * size * 3);
  const axis = (length: number): { low: number; high: number; part: number }[] =>
    Array.from({ length: size }, (_, index) => {
      const position = Math.min(length - 1, Math.max(0, ((index + 0.5) * length) / size - 0.5));
      const low = Math.floor(position);
      return { low, high: Math.min(length - 1, low + 1), part: position - low };
    });
  const [rows, columns] = [axis(picture.height), axis(picture.width)];
  let at = 0;
  for (const row of rows) {
    for (const column of columns) {
      for (let channel = 0; channel < 3; channel++) {
        const pixel = (y: number, x: number): number => picture.data[(y * picture.width + x) * 3 + channel];
        const top = pixel(row.low, column.low) * (1 - column.part) + pixel(row.low, column.high) * column.part;
        const bottom = pixel(row.high, column.low) * (1 - column.part) + pixel(row.high, column.high) * column.part;
        data[at++] = Math.floor(top * (1 - row.part) + bottom * row.part + 0.5);
      }
    }
  }
  return { width: size, height: size, data };
}
