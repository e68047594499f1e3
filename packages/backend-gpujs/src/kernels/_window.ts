/** Code that walks over the cells of an image under a window. */
import type { Padding } from "@nnhal/operations";
import { codeOf, type Index, indexAt, ravel, times, type Writer } from "./_code.ts";
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

/** A window along an axis of the image, which has `extent` cells. */
interface Along {
  readonly extent: number;
  readonly cells: number;
  readonly stride: number;
  readonly dilation: number;
  readonly before: number;
  readonly after: number;
}

/**
 * Writes `cell` for each cell of the image under the window that makes an element of the output. It is given the index of
 * the cell's first channel, and the place in the window as a number of cells.
 */
export function walkWindow(
  writer: Writer,
  image: Image,
  window: Window,
  { batch, row, column }: Pick<Place, "batch" | "row" | "column">,
  cell: (pixel: Index, tap: Index) => void,
): void {
  const { index } = writer;
  const { paddingTop, paddingBottom, paddingLeft, paddingRight } = window;
  const vertical: Along = {
    extent: image.height,
    cells: window.height,
    stride: window.strideHeight,
    dilation: window.dilationHeight,
    before: paddingTop,
    after: paddingBottom,
  };
  const horizontal: Along = {
    extent: image.width,
    cells: window.width,
    stride: window.strideWidth,
    dilation: window.dilationWidth,
    before: paddingLeft,
    after: paddingRight,
  };
  if (image.channelsLast && isPoint(vertical) && isPoint(horizontal)) {
    cell(indexAt([index(times(image.pixelStep, writer.row))], [1]), indexAt([], []));
    return;
  }
  const [top, left] = [index(startOf(vertical, row)), index(startOf(horizontal, column))];
  const first = index(ravel([batch, top, left], [image.batchStep, image.rowStep, image.pixelStep]));
  const steps = [1, image.rowStep * vertical.dilation, image.pixelStep * horizontal.dilation];
  const isWrittenOut = vertical.cells * horizontal.cells <= writer.machine.unrolls;
  walkAlong(writer, vertical, top, isWrittenOut, (y) =>
    walkAlong(writer, horizontal, left, isWrittenOut, (x) =>
      cell(named(writer, indexAt([first, y, x], steps)), named(writer, indexAt([y, x], [window.width, 1]))),
    ),
  );
}

function named({ index }: Writer, { code, offset }: Index): Index {
  return { code: index(code), offset };
}

/** Whether each cell of the output comes from the one of the input at its place. */
function isPoint({ cells, stride, before, after }: Along): boolean {
  return cells === 1 && stride === 1 && before + after === 0;
}

/** The cell of the image at which the window begins. */
function startOf({ stride, before }: Along, place: string): string {
  return before === 0 ? times(stride, place) : `${times(stride, place)} - ${before}`;
}

/** Writes the body for each cell of the window that lies in the image. */
function walkAlong(
  { loop, block, index }: Writer,
  along: Along,
  start: string,
  isWrittenOut: boolean,
  body: (tap: Index) => void,
): void {
  const { extent, cells, stride, dilation, before, after } = along;
  const outputs = Math.floor((extent + before + after - dilation * (cells - 1) - 1) / stride) + 1;
  const visit = (tap: Index, [least, greatest]: readonly [number, number]) => {
    const isOutside = {
      below: dilation * least < before,
      above: stride * (outputs - 1) - before + dilation * greatest >= extent,
    };
    if (!isOutside.below && !isOutside.above) return body(tap);
    const place = index(codeOf(indexAt([start, tap], [1, dilation])));
    const conditions = [
      ...(isOutside.below ? [`${place} >= 0`] : []),
      ...(isOutside.above ? [`${place} < ${extent}`] : []),
    ];
    block(`if (${conditions.join(" && ")})`, () => body(tap));
  };
  if (!isWrittenOut) loop(cells, (tap) => visit({ code: tap, offset: 0 }, [0, cells - 1]));
  else for (let tap = 0; tap < cells; tap++) visit({ code: "0", offset: tap }, [tap, tap]);
}
