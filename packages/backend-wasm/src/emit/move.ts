/** The kernels of steps that copy: elements to other places, and bytes by a table. */
import type { Code, Local } from "../assembler/code.ts";
import { elementBytes, type MoveStep, TABLE_UNIT, type TableStep } from "../plan/plan.ts";
import type { Regions } from "./kernel.ts";
import { advance, count, nest } from "./loops.ts";

/** Runs of at least so many bytes are copied by one instruction. */
const longRun = 64;

/** Emits the turns [begin, end) of the first loop, which are the first two parameters. */
export function emitMove(code: Code, step: MoveStep, regions: Regions): void {
  const { loops, source, target } = step;
  const size = elementBytes[target.type];
  const [from, to] = [code.local("i32"), code.local("i32")];
  const steps = [source, target].map(({ steps }) => steps.map((each) => each * size));
  const [sourceSteps = [], targetSteps = []] = steps;
  const inner = loops.length - 1;
  const isRun = inner > 0 && sourceSteps[inner] === size && targetSteps[inner] === size;
  for (const [local, { region, offset }, each] of [
    [from, source, sourceSteps],
    [to, target, targetSteps],
  ] as const) {
    code
      .get(0)
      .i32(each[0] ?? 0)
      .op("i32.mul")
      .given(regions.address(region) + offset * size)
      .op("i32.add")
      .set(local);
  }
  const extents = isRun ? loops.slice(1, inner) : loops.slice(1);
  const body = isRun
    ? () => copyRun(code, from, to, (loops[inner] ?? 0) * size)
    : () => copyElement(code, from, to, size);
  const pointers = [
    { local: from, steps: sourceSteps.slice(1) },
    { local: to, steps: targetSteps.slice(1) },
  ];
  count(code, code.local("i32"), { local: 0 }, { local: 1 }, 1, () => {
    nest(code, extents, pointers, body);
    const inside = (each: readonly number[]) => (extents[0] ?? 0) * (each[1] ?? 0);
    advance(code, from, (sourceSteps[0] ?? 0) - inside(sourceSteps));
    advance(code, to, (targetSteps[0] ?? 0) - inside(targetSteps));
  });
}

function copyElement(code: Code, from: Local, to: Local, bytes: number): void {
  code.get(to).get(from);
  if (bytes === 4) code.op("i32.load", 0).op("i32.store", 0);
  else if (bytes === 2) code.op("i32.load16_u", 0).op("i32.store16", 0);
  else code.op("i32.load8_u", 0).op("i32.store8", 0);
}

/** Copies bytes that lie side by side; the pointers stay. */
function copyRun(code: Code, from: Local, to: Local, bytes: number): void {
  if (bytes >= longRun) {
    code.get(to).get(from).i32(bytes).op("memory.copy");
    return;
  }
  let done = 0;
  for (; done + 16 <= bytes; done += 16) code.get(to).get(from).op("v128.load", done).op("v128.store", done);
  for (; done + 4 <= bytes; done += 4) code.get(to).get(from).op("i32.load", done).op("i32.store", done);
  for (; done < bytes; done++) code.get(to).get(from).op("i32.load8_u", done).op("i32.store8", done);
}

/** Emits the parts [begin, end) of a table step. */
export function emitTable(code: Code, { source, target, count: all, table, bytes }: TableStep, regions: Regions): void {
  const [at, first, last] = [code.local("i32"), code.local("i32"), code.local("i32")];
  code.get(0).i32(TABLE_UNIT).op("i32.mul").set(first);
  code.get(1).i32(TABLE_UNIT).op("i32.mul").tee(last).i32(all).get(last).i32(all).op("i32.lt_s").op("select").set(last);
  count(code, at, { local: first }, { local: last }, 1, () => {
    code.get(at);
    if (bytes === 4) code.i32(2).op("i32.shl");
    code.get(at).op("i32.load8_u", regions.address(source));
    if (bytes === 4)
      code.i32(2).op("i32.shl").op("i32.load", regions.address(table)).op("i32.store", regions.address(target));
    else code.op("i32.load8_u", regions.address(table)).op("i32.store8", regions.address(target));
  });
}
