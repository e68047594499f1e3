/** The kernel that interpolates images. */
import type { Code, Local } from "../assembler/code.ts";
import { elementBytes, type ResizeStep } from "../plan/plan.ts";
import { emitExpression } from "./expression.ts";
import type { Regions } from "./kernel.ts";
import { loadLanes, storeLanes } from "./lanes.ts";
import { advance, count } from "./loops.ts";

/** Emits the rows [begin, end) of the output, which are the first two parameters. */
export function emitResize(code: Code, step: ResizeStep, regions: Regions): void {
  const { source, input, output, rows, columns, target, value } = step;
  const bytes = elementBytes[source.type];
  const isFloat = source.type === "f32";
  const local = () => code.local("i32");
  const [unit, base, x, row, upper, lower, results, channel] = [
    local(),
    local(),
    local(),
    local(),
    local(),
    local(),
    local(),
    local(),
  ];
  const corners = [local(), local(), local(), local()] as const;
  const [above, below, before, after] = Array.from({ length: 4 }, () => code.local("v128")) as [
    Local,
    Local,
    Local,
    Local,
  ];
  const sum = code.local("v128");
  /** Reads the places and the shares of two neighbours. */
  const read = (
    at: Local,
    table: number,
    first: readonly Local[],
    second: readonly Local[],
    shares: readonly Local[],
  ) => {
    for (const [place, locals] of [first, second].entries()) {
      const [to = 0, from] = locals;
      code.get(at).op("i32.load", table + 4 * place);
      if (from !== undefined) code.get(from).op("i32.add");
      code.set(to);
    }
    for (const [place, share] of shares.entries())
      code
        .get(at)
        .op("v128.load32_splat", table + 8 + 4 * place)
        .set(share);
  };
  const times = isFloat ? "f32x4.mul" : "i32x4.mul";
  const plus = isFloat ? "f32x4.add" : "i32x4.add";
  const mix = (left: Local, right: Local) => {
    loadLanes(code, source.type, left, 0);
    code.get(before).op(times);
    loadLanes(code, source.type, right, 0);
    code.get(after).op(times).op(plus);
  };
  const some = (lanes: number) => {
    mix(corners[0], corners[1]);
    code.get(above).op(times);
    mix(corners[2], corners[3]);
    code.get(below).op(times).op(plus).set(sum);
    emitExpression(code, value, { accumulator: () => code.get(sum) });
    code.set(sum);
    storeLanes(code, target.type, [sum], results, 0, lanes);
    advance(code, results, lanes * elementBytes[target.type]);
    for (const corner of corners) advance(code, corner, lanes * bytes);
  };
  const [firstColumn, endColumn] = step.part?.columns ?? [0, output.width];
  const [firstChannel, endChannel] = step.part?.channels ?? [0, output.channels];
  const own = endChannel - firstChannel;
  const full = own - (own % 4);
  const imageBytes = input.height * input.width * input.channels * bytes;
  count(code, unit, { local: 0 }, { local: 1 }, 1, () => {
    code.get(unit).i32(output.height).op("i32.div_u").i32(imageBytes).op("i32.mul");
    code.given(regions.address(source.region)).op("i32.add").set(base);
    code
      .get(unit)
      .i32(output.width * output.channels * elementBytes[target.type])
      .op("i32.mul");
    const firstResult = (firstColumn * output.channels + firstChannel) * elementBytes[target.type];
    code
      .given(regions.address(target.region) + firstResult)
      .op("i32.add")
      .set(results);
    code.get(unit).i32(output.height).op("i32.rem_u").i32(16).op("i32.mul").set(row);
    read(row, regions.address(rows), [upper, base], [lower, base], [above, below]);
    count(code, x, 16 * firstColumn, 16 * endColumn, 16, () => {
      read(x, regions.address(columns), [corners[0], upper], [corners[1], upper], [before, after]);
      read(x, regions.address(columns), [corners[2], lower], [corners[3], lower], []);
      for (const corner of corners) advance(code, corner, firstChannel * bytes);
      if (full > 0) count(code, channel, 0, full, 4, () => some(4));
      if (own > full) some(own - full);
      advance(code, results, (output.channels - own) * elementBytes[target.type]);
    });
  });
}
