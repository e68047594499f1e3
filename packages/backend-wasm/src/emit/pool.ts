/** The kernel of pools. Windows at the border of the image are cut off. */
import type { Code, Local } from "../assembler/code.ts";
import { elementBytes, type PoolStep } from "../plan/plan.ts";
import { emitExpression, holdConstants } from "./expression.ts";
import type { Regions } from "./kernel.ts";
import { loadLanes, storeLanes } from "./lanes.ts";
import { advance, count } from "./loops.ts";

/** Sets the range of an axis that cells of a window cover, within the image. */
function setRange(
  code: Code,
  place: Local,
  stride: number,
  padding: number,
  [from, to]: readonly [number, number],
  all: number,
  first: Local,
  end: Local,
): void {
  code
    .get(place)
    .i32(stride)
    .op("i32.mul")
    .i32(padding - from)
    .op("i32.sub")
    .tee(first);
  code
    .i32(to - from)
    .op("i32.add")
    .tee(end)
    .i32(all)
    .get(end)
    .i32(all)
    .op("i32.lt_s")
    .op("select")
    .set(end);
  code.get(first).i32(0).get(first).i32(0).op("i32.gt_s").op("select").set(first);
}

/** Emits the rows [begin, end) of the output, which are the first two parameters. */
export function emitPool(code: Code, step: PoolStep, regions: Regions): void {
  const { pool, source, input, output, window, target, value, cells } = step;
  const constants = holdConstants(code, value);
  const bytes = elementBytes[source.type];
  const isFloat = source.type === "f32";
  const local = () => code.local("i32");
  const [unit, y, x, from, results, column, pixel, row, at] = [
    local(),
    local(),
    local(),
    local(),
    local(),
    local(),
    local(),
    local(),
    local(),
  ];
  const [top, bottom, left, right, base] = [local(), local(), local(), local(), local()];
  const [sum, size, cell] = [code.local("v128"), code.local("v128"), code.local("v128")];
  const rowBytes = input.width * input.channels * bytes;
  const pixelBytes = input.channels * bytes;
  const least = isFloat ? Number.NEGATIVE_INFINITY : -0x8000_0000;
  const begun = cells?.begun;
  const sums = code.local("i32");
  const start = () => {
    if (begun !== undefined) code.get(sums).op("v128.load", 0);
    else if (pool !== "max") code.op("v128.const", new Array<number>(16).fill(0));
    else if (isFloat) code.op("f32.const", least).op("f32x4.splat");
    else code.i32(least).op("i32x4.splat");
    code.set(sum);
  };
  const combine = () => {
    if (pool === "max") code.op(isFloat ? "f32x4.max" : "i32x4.max_s");
    else code.op(isFloat ? "f32x4.add" : "i32x4.add");
  };
  const channels = (lanes: number) => {
    start();
    code.get(top).i32(input.width).op("i32.mul").get(left).op("i32.add").i32(pixelBytes).op("i32.mul");
    code.get(base).op("i32.add").get(column).op("i32.add").set(row);
    count(code, at, { local: top }, { local: bottom }, 1, () => {
      code.get(row).set(from);
      count(code, pixel, { local: left }, { local: right }, 1, () => {
        code.get(sum);
        loadLanes(code, source.type, from, 0);
        if (pool === "squares") code.tee(cell).get(cell).op("f32x4.mul");
        combine();
        code.set(sum);
        advance(code, from, pixelBytes);
      });
      advance(code, row, rowBytes);
    });
    const accumulator = () => {
      code.get(sum);
      if (pool === "max") return;
      if (!isFloat) code.op("f32x4.convert_i32x4_s");
      code.get(size).op("f32x4.div");
    };
    if (cells?.isLast !== false) {
      emitExpression(code, value, { accumulator }, constants);
      code.set(sum);
    }
    storeLanes(code, target.type, [sum], results, 0, lanes);
    for (const { local, bytes } of pointers) advance(code, local, lanes * bytes);
  };
  const [firstColumn, endColumn] = step.part?.columns ?? [0, output.width];
  const [firstChannel, endChannel] = step.part?.channels ?? [0, output.channels];
  const own = endChannel - firstChannel;
  const full = firstChannel + own - (own % 4);
  const pointers = [
    { local: results, region: target.region, bytes: elementBytes[target.type] },
    ...(begun === undefined ? [] : [{ local: sums, region: begun, bytes: 4 }]),
  ];
  const { height, width, strideHeight, strideWidth, paddingTop, paddingLeft } = window;
  const down = (rows: readonly [number, number]) =>
    setRange(code, y, strideHeight, paddingTop, rows, input.height, top, bottom);
  const across = (columns: readonly [number, number]) =>
    setRange(code, x, strideWidth, paddingLeft, columns, input.width, left, right);
  count(code, unit, { local: 0 }, { local: 1 }, 1, () => {
    code.get(unit).i32(output.height).op("i32.rem_u").set(y);
    code
      .get(unit)
      .i32(output.height)
      .op("i32.div_u")
      .i32(input.height * rowBytes)
      .op("i32.mul");
    code.given(regions.address(source.region)).op("i32.add").set(base);
    for (const { local: pointer, region, bytes: size } of pointers) {
      code
        .get(unit)
        .i32(output.width * output.channels * size)
        .op("i32.mul");
      code.given(regions.address(region) + (firstColumn * output.channels + firstChannel) * size);
      code.op("i32.add").set(pointer);
    }
    down([0, height]);
    count(code, x, firstColumn, endColumn, 1, () => {
      if (cells !== undefined) down([0, height]);
      across([0, width]);
      code.get(bottom).get(top).op("i32.sub").get(right).get(left).op("i32.sub").op("i32.mul");
      code.op("f32.convert_i32_s").op("f32x4.splat").set(size);
      if (cells !== undefined) {
        down(cells.rows);
        across(cells.columns);
      }
      code.i32(firstChannel * bytes).set(column);
      if (full > firstChannel) count(code, column, firstChannel * bytes, full * bytes, 4 * bytes, () => channels(4));
      if (own % 4 > 0) channels(own % 4);
      for (const { local: pointer, bytes: size } of pointers) advance(code, pointer, (output.channels - own) * size);
    });
  });
}
