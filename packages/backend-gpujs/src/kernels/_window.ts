/** Code that walks over the cells of an image under a window. */
import type { Padding } from "@nnhal/operations";
import type { Writer } from "./_code.ts";
import type { Image, Place } from "./_image.ts";
import { codeOf, type Index, indexAt, ravel, times } from "./_index.ts";

/** A window over an image. */
export interface Window extends Padding {
  readonly height: number;
  readonly width: number;
  readonly strideHeight: number;
  readonly strideWidth: number;
  readonly dilationHeight: number;
  readonly dilationWidth: number;
  /** Whether what is written for a cell is a loop of its own. Default: no. */
  readonly isDeep?: boolean;
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
 * What is written for a cell of the image: given the index of its first channel, and its place in the window as a number of cells. With
 * `inside` there is a cell only if that condition holds; otherwise the index is that of the image's first cell, and what is read there
 * must not count.
 */
export type Cell = (pixel: Index, tap: Index, inside: string | undefined) => void;

/** Writes `cell` for each cell of the image under the window that makes an element of the output. */
export function walkWindow(
  writer: Writer,
  image: Image,
  window: Window,
  { batch, row, column }: Pick<Place, "batch" | "row" | "column">,
  cell: Cell,
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
    cell(indexAt([index(times(image.pixelStep, writer.row))], [1]), indexAt([], []), undefined);
    return;
  }
  const [top, left] = [index(startOf(vertical, row)), index(startOf(horizontal, column))];
  const first = index(ravel([batch, top, left], [image.batchStep, image.rowStep, image.pixelStep]));
  const steps = [1, image.rowStep * vertical.dilation, image.pixelStep * horizontal.dilation];
  // A loop for each cell had better stand once, but where it would be entered by all for the sake of some.
  const isWrittenOut =
    vertical.cells * horizontal.cells <= writer.unrolls && (!window.isDeep || writer.isDivided(left));
  walkAlong(writer, vertical, top, isWrittenOut, (y, isRow) =>
    walkAlong(writer, horizontal, left, isWrittenOut, (x, isColumn) => {
      const tap = named(writer, indexAt([y, x], [window.width, 1]));
      const inside = allOf(isRow, isColumn);
      cell(cellAt(writer, indexAt([first, y, x], steps), inside), tap, inside);
    }),
  );
}

/** Writes the body under a condition; where this divides threads, the body is told of it instead, and has to see to it. */
export function guarded(writer: Writer, condition: string, body: (inside: string | undefined) => void): void {
  const isDivided = writer.isDivided(condition);
  where(writer, isDivided ? undefined : condition, () => body(isDivided ? condition : undefined));
}

/** What has to hold where all of some conditions do. */
export function allOf(...conditions: readonly (string | undefined)[]): string | undefined {
  const given = conditions.filter((each) => each !== undefined);
  return given.length === 0 ? undefined : given.join(" && ");
}

/** Writes the body under a condition, where there is one. */
export function where({ block }: Writer, condition: string | undefined, body: () => void): void {
  if (condition === undefined) body();
  else block(`if (${condition})`, body);
}

/** The index of a cell if it is inside of the image, else that of the first one: no index that is read with is outside. */
export function cellAt(writer: Writer, cell: Index, inside: string | undefined): Index {
  if (inside === undefined) return named(writer, cell);
  const { index } = writer;
  return { code: index(`${inside} ? ${index(codeOf(cell))} : 0`), offset: 0 };
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

/** Writes the body for each cell of the window that lies in the image, or may lie there: the body is then told when. */
function walkAlong(
  writer: Writer,
  along: Along,
  start: string,
  isWrittenOut: boolean,
  body: (tap: Index, inside: string | undefined) => void,
): void {
  const { loop, index } = writer;
  const { extent, cells, stride, dilation, before, after } = along;
  const outputs = Math.floor((extent + before + after - dilation * (cells - 1) - 1) / stride) + 1;
  const visit = (tap: Index, [least, greatest]: readonly [number, number]) => {
    const isOutside = {
      below: dilation * least < before,
      above: stride * (outputs - 1) - before + dilation * greatest >= extent,
    };
    if (!isOutside.below && !isOutside.above) return body(tap, undefined);
    const place = index(codeOf(indexAt([start, tap], [1, dilation])));
    const conditions = [
      ...(isOutside.below ? [`${place} >= 0`] : []),
      ...(isOutside.above ? [`${place} < ${extent}`] : []),
    ];
    guarded(writer, conditions.join(" && "), (inside) => body(tap, inside));
  };
  if (!isWrittenOut) loop(cells, (tap) => visit({ code: tap, offset: 0 }, [0, cells - 1]));
  else for (let tap = 0; tap < cells; tap++) visit({ code: "0", offset: tap }, [tap, tap]);
}
