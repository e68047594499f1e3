/** Code that walks over the cells of an image under a window. */
import type { Padding } from "@nnhal/operations";
import type { Writer } from "./_code.ts";
import type { Image, Place } from "./_image.ts";

/** A window over an image. */
export interface Window extends Padding {
  readonly height: number;
  readonly width: number;
  readonly strideHeight: number;
  readonly strideWidth: number;
  readonly dilationHeight: number;
  readonly dilationWidth: number;
}

/**
 * Writes `cell` for each cell of the image under the window that makes an element of the output. It is given the index of
 * the cell's first channel, and the place in the window as a number of cells.
 */
export function walkWindow(
  { define, line }: Writer,
  image: Image,
  window: Window,
  { batch, row, column }: Pick<Place, "batch" | "row" | "column">,
  cell: (pixel: string, tap: string) => string,
): void {
  const { height, width, strideHeight, strideWidth, dilationHeight, dilationWidth } = window;
  const isPadded = window.paddingTop + window.paddingBottom + window.paddingLeft + window.paddingRight > 0;
  const top = define(`${strideHeight} * ${row} - ${window.paddingTop}`);
  const left = define(`${strideWidth} * ${column} - ${window.paddingLeft}`);
  const start = define(`${image.batchStep} * ${batch}`);
  if (!isPadded && height === 1 && width === 1) {
    const pixel = define(`${start} + ${image.rowStep} * ${top} + ${image.pixelStep} * ${left}`);
    line(cell(pixel, "0"));
    return;
  }
  const guarded = (inside: string, code: string) => (isPadded ? `if (${inside}) {\n${code}\n}` : code);
  line(`for (let ky = 0; ky < ${height}; ky++) {`);
  line(`const iy = ${top} + ${dilationHeight} * ky;`);
  const columns = `for (let kx = 0; kx < ${width}; kx++) {
const ix = ${left} + ${dilationWidth} * kx;
${guarded(
  `ix > -0.5 && ix < ${image.width - 0.5}`,
  `const pixel = ${start} + ${image.rowStep} * iy + ${image.pixelStep} * ix;
const tap = ${width} * ky + kx;
${cell("pixel", "tap")}`,
)}
}`;
  line(guarded(`iy > -0.5 && iy < ${image.height - 0.5}`, columns));
  line("}");
}
