import { PNG } from "pngjs";

/** A PNG file of some pixels: red, green, blue and alpha of each. */
export function pngOf(width: number, height: number, rgba: readonly number[]): Uint8Array {
  const png = new PNG({ width, height });
  png.data.set(rgba);
  return new Uint8Array(PNG.sync.write(png));
}
