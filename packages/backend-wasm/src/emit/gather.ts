/** Rows of a product, brought together from an image: pieces of it one after the other, integers widened to 16 bits less their zero point. */
import type { Code, Local } from "../assembler/code.ts";
import { type ElementType, elementBytes, type RowSource } from "../plan/plan.ts";
import { advance, count } from "./loops.ts";

/** Elements that one instruction loads. */
const atOnce = (source: RowSource): number => (source.type === "f32" ? 4 : 8);

/** Loads of eight integers as 16 bits, by their type. */
const loads: Readonly<Partial<Record<ElementType, "v128.load8x8_u" | "v128.load8x8_s" | "v128.load">>> = {
  u8: "v128.load8x8_u",
  i8: "v128.load8x8_s",
  i16: "v128.load",
  f32: "v128.load",
};

/** Pieces up to so many vectors are copied without a loop. */
const mostUnrolled = 6;

/**
 * Gathers `rows` rows from `firstRow` on, to the address in `gathered`. Each is written a little further than it goes, which the next one overwrites; `gathered` has room for
 * that.
 */
export function emitGather(
  code: Code,
  source: RowSource,
  sourceAddress: number,
  gathered: Local,
  rowBytes: number,
  firstRow: Local,
  rows: Local,
): void {
  const bytes = elementBytes[source.type];
  const { runs, length, width, height, pixelStep, rowStep, batchStep } = source;
  const load = loads[source.type];
  if (load === undefined) throw new TypeError(`rows of ${source.type} are not gathered`);
  const zero = code.local("v128");
  if (source.type !== "f32") code.given(source.zeroPoint).op("i16x8.splat").set(zero);
  const [from, to] = [code.local("i32"), code.local("i32")];
  code.get(gathered).set(to);
  const copying: Copying = {
    from,
    to,
    step: atOnce(source),
    copy(offset, place) {
      code.get(to);
      code.get(from);
      code.op(load, offset);
      if (source.type !== "f32" && source.zeroPoint !== 0) code.get(zero).op("i16x8.sub");
      code.op("v128.store", place);
    },
  };
  const isSolid =
    runs.length === 1 &&
    pixelStep === length &&
    rowStep === width * pixelStep &&
    batchStep === height * rowStep &&
    rowBytes === length * (source.type === "f32" ? 4 : 2);
  if (isSolid) emitSolidRows(code, source, sourceAddress + (runs[0] ?? 0) * bytes, copying, firstRow, rows);
  else emitPixels(code, source, sourceAddress, copying, rowBytes, firstRow, rows);
}

/** Copies vectors between two pointers. */
interface Copying {
  readonly from: Local;
  readonly to: Local;
  /** Elements of a vector. */
  readonly step: number;
  /** Copies a vector, so many bytes from the pointers. */
  readonly copy: (offset: number, place: number) => void;
}

/** Rows that lie one after the other in the image as in the block. */
function emitSolidRows(
  code: Code,
  { length, type }: RowSource,
  start: number,
  { from, to, step, copy }: Copying,
  firstRow: Local,
  rows: Local,
): void {
  const bytes = elementBytes[type];
  const [at, all] = [code.local("i32"), code.local("i32")];
  code
    .get(firstRow)
    .i32(length * bytes)
    .op("i32.mul")
    .given(start)
    .op("i32.add")
    .set(from);
  code
    .get(rows)
    .i32(length)
    .op("i32.mul")
    .i32(step - 1)
    .op("i32.add")
    .i32(-step)
    .op("i32.and")
    .set(all);
  count(code, at, 0, { local: all }, step, () => {
    copy(0, 0);
    advance(code, from, step * bytes);
    advance(code, to, 16);
  });
}

/** Rows of pieces, pixel by pixel. */
function emitPixels(
  code: Code,
  { runs, length, type, width, height, pixelStep, rowStep, batchStep }: RowSource,
  sourceAddress: number,
  { from, to, step, copy }: Copying,
  rowBytes: number,
  firstRow: Local,
  rows: Local,
): void {
  const bytes = elementBytes[type];
  const [x, y, pixel, row, base] = [
    code.local("i32"),
    code.local("i32"),
    code.local("i32"),
    code.local("i32"),
    code.local("i32"),
  ];
  // The first pixel of the block; the rest follows step by step.
  code.get(firstRow).i32(width).op("i32.rem_u").set(x);
  code.get(firstRow).i32(width).op("i32.div_u").tee(row).i32(height).op("i32.rem_u").set(y);
  code
    .get(row)
    .i32(height)
    .op("i32.div_u")
    .i32(batchStep * bytes)
    .op("i32.mul")
    .given(sourceAddress)
    .op("i32.add");
  code
    .get(y)
    .i32(rowStep * bytes)
    .op("i32.mul")
    .op("i32.add")
    .tee(row);
  code
    .get(x)
    .i32(pixelStep * bytes)
    .op("i32.mul")
    .op("i32.add")
    .set(base);
  const lastRowToBatch = (batchStep - (height - 1) * rowStep) * bytes;
  const wide = step === 4 ? 4 : 2;
  count(code, pixel, 0, { local: rows }, 1, () => {
    const vectors = Math.ceil(length / step);
    for (const [place, run] of runs.entries()) {
      code.get(base).set(from);
      if (vectors <= mostUnrolled) {
        for (let vector = 0; vector < vectors; vector++) {
          copy((run + vector * step) * bytes, place * length * wide + 16 * vector);
        }
      } else {
        const start = code.local("i32");
        code.get(to).set(start);
        count(code, code.local("i32"), 0, vectors, 1, () => {
          copy(run * bytes, place * length * wide);
          advance(code, from, step * bytes);
          advance(code, to, 16);
        });
        code.get(start).set(to);
      }
    }
    advance(code, to, rowBytes);
    code.get(x).i32(1).op("i32.add").tee(x).i32(width).op("i32.ne");
    code.if(
      () => advance(code, base, pixelStep * bytes),
      () => {
        code.i32(0).set(x);
        code.get(y).i32(1).op("i32.add").tee(y).i32(height).op("i32.ne");
        code.if(
          () => advance(code, row, rowStep * bytes),
          () => {
            code.i32(0).set(y);
            advance(code, row, lastRowToBatch);
          },
        );
        code.get(row).set(base);
      },
    );
  });
}
