/**
 * Parts of a browser that this package uses. The types of Node.js do not have them, and those of browsers do not go together with them.
 */

/** Something that a browser can draw: an ImageBitmap, a canvas, a video, an image. */
export interface Bitmap {
  readonly width: number;
  readonly height: number;
  close?(): void;
}

interface Context {
  drawImage(image: Bitmap, x: number, y: number): void;
  font: string;
  textBaseline: "middle";
  measureText(text: string): { readonly width: number };
  fillText(text: string, x: number, y: number): void;
  getImageData(x: number, y: number, width: number, height: number): { readonly data: Uint8ClampedArray };
}

interface Browser {
  createImageBitmap(blob: Blob, options: { readonly premultiplyAlpha: "none" }): Promise<Bitmap>;
  readonly OffscreenCanvas: new (width: number, height: number) => { getContext(kind: "2d"): Context | null };
}

/** The globals of the browser. Which exist is known only when they are used. */
// They are not declared in the types of Node.js.
export const browser = globalThis as unknown as Browser;

/** The pixels of a bitmap: red, green, blue and alpha of each. */
export function pixelsOf(bitmap: Bitmap): Uint8Array {
  const { width, height } = bitmap;
  const context = new browser.OffscreenCanvas(width, height).getContext("2d");
  if (context === null) throw new Error("the browser has no room for a canvas");
  context.drawImage(bitmap, 0, 0);
  return new Uint8Array(context.getImageData(0, 0, width, height).data.buffer);
}

/** True if a value is one that the browser can draw. */
export function isDrawable(value: unknown): value is Bitmap {
  if (typeof value !== "object" || value === null || browser.OffscreenCanvas === undefined) return false;
  return "width" in value && "height" in value && !("data" in value);
}
