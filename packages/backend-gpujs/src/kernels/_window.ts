/** Code that walks over the cells of an image under a window. */
import type { Padding } from "@nnhal/operations";
import type { Writer } from "./_code.ts";
import type { Image, Place } from "./_image.ts";
import { codeOf, enclose, type Index, indexAt, plus, ravel, times } from "./_index.ts";

/** A window over an image. */
export interface Window extends Padding {
  readonly height: number;
  readonly width: number;
  readonly strideHeight: number;
  readonly strideWidth: number;
  readonly dilationHeight: number;
  readonly dilationWidth: number;
  /**
   * True if the code of a cell is a loop, which must not be under a condition that differs among threads. Default:
   * false.
   */
  readonly isDeep?: boolean;
}

/** A window along an axis of the image, which has `extent` cells. It has only the cells that are in the image for some output. */
interface Along {
  readonly extent: number;
  /** The first of these cells, and their number. */
  readonly first: number;
  readonly cells: number;
  readonly stride: number;
  readonly dilation: number;
  /** The distance of the first of these cells before the image, in the first window. */
  readonly before: number;
  /** The distance from the first window to the last one. */
  readonly reach: number;
}

/** The parameters of a window along an axis. */
interface Given {
  readonly cells: number;
  readonly stride: number;
  readonly dilation: number;
  readonly before: number;
  readonly after: number;
}

/** The numbers stay small for any dilation and padding. */
function along(extent: number, { cells, stride, dilation, before, after }: Given): Along {
  const reach = stride * Math.floor((extent + before + after - dilation * (cells - 1) - 1) / stride);
  const first = Math.max(0, Math.ceil((before - reach) / dilation));
  const seen = Math.max(0, Math.min(cells, Math.ceil((extent + before) / dilation)) - first);
  return {
    extent,
    first: seen === 0 ? 0 : first,
    cells: seen,
    stride,
    dilation: seen === 1 ? 1 : dilation,
    before: before - dilation * (seen === 0 ? 0 : first),
    reach,
  };
}

/**
 * Writes the code for a cell of the image, from the index of its first channel and its place in the window as a number of cells. With
 * `inside` the cell exists only if that condition holds; otherwise nothing may be read. If the window is deep, the index is always that of
 * some cell of the image, and the element read must be ignored unless the condition holds.
 */
export type Cell = (pixel: Index, tap: Index, inside: string | undefined) => void;

/** Writes `cell` for each cell of the image under the window of an output element. */
export function walkWindow(
  writer: Writer,
  image: Image,
  window: Window,
  { batch, row, column }: Pick<Place, "batch" | "row" | "column">,
  cell: Cell,
): void {
  const { index } = writer;
  const { paddingTop, paddingBottom, paddingLeft, paddingRight, isDeep = false } = window;
  const down: Given = {
    cells: window.height,
    stride: window.strideHeight,
    dilation: window.dilationHeight,
    before: paddingTop,
    after: paddingBottom,
  };
  const across: Given = {
    cells: window.width,
    stride: window.strideWidth,
    dilation: window.dilationWidth,
    before: paddingLeft,
    after: paddingRight,
  };
  if (image.channelsLast && isPoint(down) && isPoint(across)) {
    cell(indexAt([index(times(image.pixelStep, writer.row))], [1]), indexAt([], []), undefined);
    return;
  }
  const [vertical, horizontal] = [along(image.height, down), along(image.width, across)];
  if (vertical.cells * horizontal.cells === 0) return;
  const [top, left] = [index(startOf(vertical, row)), index(startOf(horizontal, column))];
  const first = index(ravel([batch, top, left], [image.batchStep, image.rowStep, image.pixelStep]));
  const inRow = (tap: Tap) => {
    const across = visit(writer, horizontal, left, tap, isDeep);
    return { ...across, pixel: nameIndex(writer, indexAt([first, across.step], [1, image.pixelStep])) };
  };
  const inColumn = (tap: Tap, forRow: (body: (across: ReturnType<typeof inRow>) => void) => void) => {
    const down = visit(writer, vertical, top, tap, isDeep);
    guardBody(writer, down.condition, (isRow) => {
      const below = nameIndex(writer, indexAt([down.step], [image.rowStep]));
      forRow((across) =>
        guardBody(writer, across.condition, (isColumn) => {
          const pixel = nameIndex(writer, indexAt([across.pixel, below], [1, 1]));
          const { code, offset } = indexAt([down.tap, across.tap], [window.width, 1]);
          const tap = { code, offset: offset + window.width * vertical.first + horizontal.first };
          cell(pixel, nameIndex(writer, tap), allOf(isRow, isColumn));
        }),
      );
    });
  };
  // A loop for each cell is written once, unless all threads would enter it for the sake of some.
  const isWrittenOut = vertical.cells * horizontal.cells <= writer.unrolls && (!isDeep || writer.isDivided(left));
  if (isWrittenOut) {
    // The common part of the rows is computed once.
    const columns = tapsOf(horizontal).map(inRow);
    for (const tap of tapsOf(vertical)) inColumn(tap, (body) => columns.forEach(body));
  } else {
    const loopOver = ({ cells }: Along, body: (tap: Tap) => void) =>
      writer.loop(cells, (tap) => body({ tap: { code: tap, offset: 0 }, least: 0, greatest: cells - 1 }));
    loopOver(vertical, (tap) => inColumn(tap, (body) => loopOver(horizontal, (each) => body(inRow(each)))));
  }
}

/** Writes the body under a condition. If the condition differs among threads, it is passed to the body, which must apply it. */
export function guardBody(
  writer: Writer,
  condition: string | undefined,
  body: (inside: string | undefined) => void,
): void {
  const isDivided = condition !== undefined && writer.isDivided(condition);
  where(writer, isDivided ? undefined : condition, () => body(isDivided ? condition : undefined));
}

/** The conjunction of conditions. */
export function allOf(...conditions: readonly (string | undefined)[]): string | undefined {
  const given = conditions.filter((each) => each !== undefined);
  return given.length === 0 ? undefined : enclose(given.map(enclose).join(" && "));
}

/** Writes the body, under a condition if there is one. */
export function where({ block }: Writer, condition: string | undefined, body: () => void): void {
  if (condition === undefined) body();
  else block(`if (${condition})`, body);
}

/** A guarded coordinate. If the condition differs among threads, all of them read; it is 0 in those in which the condition does not hold. */
export function readable({ isDivided, index }: Writer, coordinate: string, condition: string): string {
  return isDivided(condition) ? index(`${enclose(condition)} ? ${coordinate} : 0`) : coordinate;
}

function nameIndex({ index }: Writer, { code, offset }: Index): Index {
  return { code: index(code), offset };
}

/** Returns whether each output cell depends only on the input cell at the same position. */
function isPoint({ cells, stride, before, after }: Given): boolean {
  return cells === 1 && stride === 1 && before + after === 0;
}

/** The cell of the image at which the window begins. */
function startOf({ stride, before }: Along, place: string): string {
  return before > 0 ? enclose(`${times(stride, place)} - ${before}`) : plus(times(stride, place), -before);
}

/** A cell of the window along an axis: a number, or code with values from `least` to `greatest`. */
interface Tap {
  readonly tap: Index;
  readonly least: number;
  readonly greatest: number;
}

function tapsOf({ cells }: Along): Tap[] {
  return Array.from({ length: cells }, (_, tap) => ({ tap: { code: "0", offset: tap }, least: tap, greatest: tap }));
}

/** The place in the image of a cell of the window, in cells from the begin of the window. It may be read only if the condition holds. */
interface Visit {
  readonly tap: Index;
  readonly step: Index;
  readonly condition: string | undefined;
}

/** Adds statements. */
function visit(writer: Writer, along: Along, start: string, { tap, least, greatest }: Tap, isDeep: boolean): Visit {
  const { index } = writer;
  const { extent, dilation, before, reach } = along;
  const isOutside = {
    below: dilation * least < before,
    above: reach - before + dilation * greatest >= extent,
  };
  const step = indexAt([tap], [dilation]);
  if (!isOutside.below && !isOutside.above) return { tap, step, condition: undefined };
  const place = index(codeOf(indexAt([start, tap], [1, dilation])));
  const condition = [
    ...(isOutside.below ? [`${place} >= 0`] : []),
    ...(isOutside.above ? [`${place} < ${extent}`] : []),
  ].join(" && ");
  const within = isDeep ? readable(writer, place, condition) : place;
  return { tap, step: within === place ? step : { code: index(`${within} - ${start}`), offset: 0 }, condition };
}
