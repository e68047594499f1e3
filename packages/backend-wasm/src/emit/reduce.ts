/** The kernel of reductions: each result combines the elements of some loops, four results at once if these lie side by side. */
import type { Code } from "../assembler/code.ts";
import { elementBytes, type ReduceStep } from "../plan/plan.ts";
import { emitExpression } from "./expression.ts";
import type { Regions } from "./kernel.ts";
import { loadLanes, loadSplat, storeLanes } from "./lanes.ts";
import { advance, count, nest } from "./loops.ts";

/** Emits the turns [begin, end) of the first kept loop, which are the first two parameters. */
export function emitReduce(code: Code, step: ReduceStep, regions: Regions): void {
  const { kept, reduced, source, target, start, taken, value, combine, begun } = step;
  const sourceBytes = elementBytes[source.type];
  const inner = kept.length - 1;
  const isWide = inner > 0 && source.steps[inner] === 1 && target.steps[inner] === 1;
  const [from, to, at, sums] = [code.local("i32"), code.local("i32"), code.local("i32"), code.local("i32")];
  const sum = code.local("v128");
  const integer = start.type === "i32";
  const combined = {
    add: integer ? "i32x4.add" : "f32x4.add",
    mul: integer ? "i32x4.mul" : "f32x4.mul",
    min: integer ? "i32x4.min_s" : "f32x4.min",
    max: integer ? "i32x4.max_s" : "f32x4.max",
  } as const;
  const some = (lanes: number) => {
    if (begun === undefined) emitExpression(code, start, {});
    else if (isWide) loadLanes(code, begun.type, sums, 0);
    else loadSplat(code, begun.type, sums, 0);
    code.set(sum).get(from).set(at);
    nest(
      code,
      reduced,
      [{ local: at, steps: source.steps.slice(kept.length).map((each) => each * sourceBytes) }],
      () => {
        code.get(sum);
        emitExpression(code, taken, {
          element: () => (isWide ? loadLanes(code, source.type, at, 0) : loadSplat(code, source.type, at, 0)),
        });
        code.op(combined[combine]).set(sum);
      },
    );
    emitExpression(code, value, { accumulator: () => code.get(sum) });
    code.set(sum);
    storeLanes(code, target.type, [sum], to, 0, lanes);
  };
  const pointers = [
    { local: from, operand: source },
    { local: to, operand: target },
    ...(begun === undefined ? [] : [{ local: sums, operand: begun }]),
  ].map(({ local, operand: { region, offset, type, steps } }) => {
    const bytes = elementBytes[type];
    code
      .get(0)
      .i32((steps[0] ?? 0) * bytes)
      .op("i32.mul")
      .given(regions.address(region) + offset * bytes)
      .op("i32.add")
      .set(local);
    return { local, bytes, steps: steps.slice(0, kept.length).map((each) => each * bytes) };
  });
  const extents = isWide ? kept.slice(1, inner) : kept.slice(1);
  const last = kept[inner] ?? 1;
  const row = () => {
    if (!isWide) return some(1);
    const full = last - (last % 4);
    if (full > 0) {
      count(code, code.local("i32"), 0, full, 4, () => {
        some(4);
        for (const { local, bytes } of pointers) advance(code, local, 4 * bytes);
      });
    }
    if (last % 4 > 0) some(last % 4);
    for (const { local, bytes } of pointers) advance(code, local, -full * bytes);
  };
  count(code, code.local("i32"), { local: 0 }, { local: 1 }, 1, () => {
    nest(
      code,
      extents,
      pointers.map(({ local, steps }) => ({ local, steps: steps.slice(1) })),
      row,
    );
    for (const { local, steps } of pointers)
      advance(code, local, (steps[0] ?? 0) - (extents[0] ?? 0) * (steps[1] ?? 0));
  });
}
