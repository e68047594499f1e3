/**
 * Pictures as PNG files.
 */
import { PNG } from "pngjs";
import type { Picture } from "./sketch.ts";

/** PNG's colour type for red, green, blue. */
const RGB = 2;

export function encodePng({ width, height, data }: Picture): Uint8Array {
  const png = new PNG({ width, height, inputColorType: RGB, inputHasAlpha: false });
  png.data = Buffer.from(data);
  return PNG.sync.write(png, { colorType: RGB, inputColorType: RGB, inputHasAlpha: false, deflateLevel: 9 });
}

export function decodePng(bytes: Uint8Array): Picture {
  const { width, height, data } = PNG.sync.read(Buffer.from(bytes));
  // pngjs gives red, green, blue, alpha.
  return { width, height, data: Uint8Array.from(data.filter((_, index) => index % 4 !== 3)) };
}
