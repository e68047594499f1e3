/** The kernel of elementwise steps: an expression for each place of some loops. */
import type { Code, Local } from "../assembler/code.ts";
import { type ElementwiseStep, elementBytes, FLAT_UNIT, type Operand } from "../plan/plan.ts";
import { emitExpression, holdConstants } from "./expression.ts";
import type { Regions } from "./kernel.ts";
import { loadLanes, loadSplat, storeLanes } from "./lanes.ts";
import { advance, count, nest } from "./loops.ts";
import { storedValue } from "./stored.ts";

/** The elements that a turn of the innermost loop computes: what fills a vector of the target. */
const lanesAtOnce = (bytes: number): number => (bytes === 1 ? 16 : bytes === 2 ? 8 : 4);

/** Emits the units [begin, end), which are the first two parameters. */
export function emitElementwise(code: Code, step: ElementwiseStep, regions: Regions): void {
  const { loops, operands, target } = step;
  const value = storedValue(step.value, target, operands);
  const constants = holdConstants(code, value);
  const all = [...operands, target];
  const pointers = all.map(() => code.local("i32"));
  const inner = loops.length - 1;
  const extent = loops[inner] ?? 1;
  const group = lanesAtOnce(elementBytes[target.type]);
  const moves = all.map(({ type, steps }) => elementBytes[type] * (steps[inner] ?? 0));
  /** Sets the pointers to the begin of a unit, `perUnit` turns of the first loop each. */
  const start = (operand: Operand, pointer: Local, perUnit: number) => {
    const { region, offset, type, steps } = operand;
    const bytes = elementBytes[type];
    code
      .get(0)
      .i32(perUnit * (steps[0] ?? 0) * bytes)
      .op("i32.mul");
    code
      .given(regions.address(region) + offset * bytes)
      .op("i32.add")
      .set(pointer);
  };
  const some = (lanes: number) => {
    const vectors = Array.from({ length: Math.ceil(lanes / 4) }, (_, place) => {
      emitExpression(
        code,
        value,
        {
          element(index) {
            const { type, steps } = operands[index] ?? target;
            const pointer = pointers[index] ?? 0;
            if (steps[inner] === 0) loadSplat(code, type, pointer, 0);
            else loadLanes(code, type, pointer, 4 * place * elementBytes[type]);
          },
        },
        constants,
      );
      const vector = code.local("v128");
      code.set(vector);
      return vector;
    });
    storeLanes(code, target.type, vectors, pointers[operands.length] ?? 0, 0, lanes);
  };
  const move = (lanes: number) => {
    for (const [place, pointer] of pointers.entries()) advance(code, pointer, lanes * (moves[place] ?? 0));
  };
  const rest = extent % group;
  if (loops.length === 1) {
    for (const [place, operand] of all.entries()) start(operand, pointers[place] ?? 0, FLAT_UNIT);
    const [last, at] = [code.local("i32"), code.local("i32")];
    const whole = extent - rest;
    // Groups up to the end of the last unit, or of the tensor.
    code
      .get(1)
      .i32(FLAT_UNIT)
      .op("i32.mul")
      .tee(last)
      .i32(whole)
      .get(last)
      .i32(whole)
      .op("i32.lt_s")
      .op("select")
      .set(last);
    const first = code.local("i32");
    code.get(0).i32(FLAT_UNIT).op("i32.mul").set(first);
    count(code, at, { local: first }, { local: last }, group, () => {
      some(group);
      move(group);
    });
    if (rest > 0)
      code
        .get(1)
        .i32(step.units)
        .op("i32.eq")
        .if(() => some(rest));
    return;
  }
  for (const [place, operand] of all.entries()) start(operand, pointers[place] ?? 0, 1);
  const turn = code.local("i32");
  const bytesOf = ({ type, steps }: Operand) => steps.map((each) => each * elementBytes[type]);
  // The innermost loop leaves the pointers at its end.
  const places = all.map((operand, place) => {
    const steps = bytesOf(operand);
    return {
      local: pointers[place] ?? 0,
      steps: [...steps.slice(0, inner), 0],
      inside: (extent - rest) * (moves[place] ?? 0),
    };
  });
  const row = () => {
    if (extent >= group) {
      count(code, code.local("i32"), 0, extent - rest, group, () => {
        some(group);
        move(group);
      });
    }
    if (rest > 0) some(rest);
    if (extent >= group) for (const { local, inside } of places) advance(code, local, -inside);
  };
  const outer = loops.slice(1, inner);
  count(code, turn, { local: 0 }, { local: 1 }, 1, () => {
    nest(
      code,
      outer,
      places.map(({ local, steps }) => ({ local, steps: steps.slice(1) })),
      row,
    );
    for (const { local, steps } of places) {
      advance(code, local, (steps[0] ?? 0) - (outer[0] ?? 0) * (steps[1] ?? 0));
    }
  });
}
