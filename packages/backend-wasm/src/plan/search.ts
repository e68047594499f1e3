/** Operations that look for elements or take some of them, by what the data say: ARGMAX, TOPK_V2, GATHER, and lookups in tables. */
import type { KernelTensor } from "@nnhal/backend";
import { elementCount, resolveAxis, type TensorInfo } from "@nnhal/operations";
import { addElementwise, type Builder, outputOf, type Value } from "./builder.ts";
import { makeInteger } from "./expression.ts";
import { calc, choose, type Formula, integer } from "./formula.ts";
import type { LoweringTable } from "./lowering.ts";
import { around } from "./lowering.ts";
import { elementBytes } from "./plan.ts";
import { addRoutine, type Place, type Routine } from "./routine.ts";

/** Floats are moved as integers of the same bits. */
export function asBits(value: Value): Value {
  return value.type === "f32" ? { ...value, type: "i32" } : value;
}

/** The place of the greatest or the least element along an axis, the first of several. */
export function addExtremePlace(
  builder: Builder,
  name: string,
  input: KernelTensor,
  axis: number,
  output: TensorInfo,
  isGreatest: boolean,
): Value {
  const [outer, length, inner] = around(input, axis);
  const target = outputOf(builder, output);
  const source = builder.read(input);
  addRoutine(builder, name, outer * inner, 2 * length, (routine) => {
    const [values, results] = [routine.read(source), routine.write(target)];
    const column = calc("rem", routine.unit, inner);
    const first = routine.local(calc("add", calc("mul", calc("div", routine.unit, inner), length * inner), column));
    const best = routine.local(values.at(first));
    const place = routine.local(integer(0));
    routine.each(1, integer(length), (index) => {
      const value = routine.local(values.at(calc("add", first, calc("mul", index, inner))));
      routine.when(calc(isGreatest ? "gt" : "lt", value, best), () => {
        routine.set(best, value);
        routine.set(place, index);
      });
    });
    if (target.dimensions.length === output.dimensions.length) routine.store(results, routine.unit, place);
    else {
      // An integer of 64 bits.
      const low = routine.local(calc("mul", routine.unit, 2));
      routine.store(results, low, place);
      routine.store(results, calc("add", low, 1), integer(0));
    }
  });
  return target;
}

/** Slices of a source [outer, extent, inner] at some indexes. A unit is an index of one outer slice. */
export function addSlices(
  builder: Builder,
  name: string,
  source: Value,
  [outer, extent, inner]: readonly [number, number, number],
  indices: Value,
  target: Value,
): void {
  const count = elementCount(indices.dimensions);
  const work = 4 + (inner * elementBytes[source.type]) / 16;
  addRoutine(builder, name, outer * count, work, (routine) => {
    const [from, places, to] = [routine.read(asBits(source)), routine.read(indices), routine.write(asBits(target))];
    const index = routine.local(places.at(calc("rem", routine.unit, count)));
    routine.expect("index", index, 0, extent - 1);
    const slice = calc("add", calc("mul", calc("div", routine.unit, count), extent), index);
    routine.copy(from, calc("mul", slice, inner), to, calc("mul", routine.unit, inner), inner);
  });
}

/** True if an element comes before another one: the greater, of equal ones that which `isFirst` says; NaN comes last. */
function isBefore(a: Formula, b: Formula, isFirst: Formula): Formula {
  if (a.type === "i32") return choose(calc("eq", a, b), isFirst, calc("gt", a, b));
  const isNanA = calc("ne", a, a);
  const isNanB = calc("ne", b, b);
  const plain = calc("or", calc("gt", a, b), isNanB);
  const nan = calc("and", isNanB, isFirst);
  return choose(calc("eq", a, b), isFirst, choose(isNanA, nan, plain));
}

/** The order of places of equal elements: `gt` if the later one comes first. */
type Ties = "gt" | "lt";

/** Lets the element at a place of a heap sink until none below it comes after it. The root is the last of the chosen. */
function sink(
  routine: Routine,
  heap: Place,
  base: Formula,
  root: Formula,
  end: Formula,
  numberAt: (at: Formula) => Formula,
  ties: Ties,
) {
  const at = (place: Formula) => calc("add", base, place);
  const hole = routine.local(root);
  const moved = routine.local(heap.at(at(hole)));
  const movedValue = routine.local(numberAt(moved));
  const goesOn = routine.local(integer(1));
  routine.repeat(goesOn, () => {
    const below = routine.local(calc("add", calc("mul", hole, 2), 1));
    routine.when(
      calc("ge", below, end),
      () => routine.set(goesOn, 0),
      () => {
        const next = calc("add", below, 1);
        routine.when(calc("lt", next, end), () => {
          const [first, second] = [routine.local(heap.at(at(below))), routine.local(heap.at(at(next)))];
          const precedes = isBefore(
            routine.local(numberAt(first)),
            routine.local(numberAt(second)),
            calc(ties, first, second),
          );
          routine.when(precedes, () => routine.set(below, next));
        });
        const child = routine.local(heap.at(at(below)));
        const precedes = isBefore(movedValue, routine.local(numberAt(child)), calc(ties, moved, child));
        routine.when(
          precedes,
          () => {
            routine.store(heap, at(hole), child);
            routine.set(hole, below);
          },
          () => routine.set(goesOn, 0),
        );
      },
    );
  });
  routine.store(heap, at(hole), moved);
}

/** The greatest elements along the last axis and their places, greatest first: a heap of as many places in the second output. */
export function addGreatest(
  builder: Builder,
  name: string,
  input: KernelTensor,
  count: number,
  outputs: { readonly values: TensorInfo; readonly indices: TensorInfo },
  ties: Ties = "gt",
): readonly Value[] {
  const [values, indices] = [outputOf(builder, outputs.values), outputOf(builder, outputs.indices)];
  const length = input.dimensions.at(-1) ?? 1;
  const rows = elementCount(input.dimensions) / Math.max(1, length);
  const source = builder.read(input);
  if (count > 0) {
    addRoutine(builder, name, rows, 4 * length, (routine) => {
      const [elements, heap, results] = [routine.read(source), routine.write(indices), routine.write(values)];
      const row = routine.local(calc("mul", routine.unit, length));
      const base = routine.local(calc("mul", routine.unit, count));
      const numberAt = (at: Formula) => elements.at(calc("add", row, at));
      routine.each(0, integer(count), (place) => routine.store(heap, calc("add", base, place), place));
      routine.each(0, integer(count >> 1), (place) => {
        const root = routine.local(calc("sub", (count >> 1) - 1, place));
        sink(routine, heap, base, root, integer(count), numberAt, ties);
      });
      routine.each(count, integer(length), (place) => {
        const root = routine.local(heap.at(base));
        const precedes = isBefore(
          routine.local(numberAt(place)),
          routine.local(numberAt(root)),
          calc(ties, place, root),
        );
        routine.when(precedes, () => {
          routine.store(heap, base, place);
          sink(routine, heap, base, integer(0), integer(count), numberAt, ties);
        });
      });
      routine.each(1, integer(count), (place) => {
        const end = routine.local(calc("sub", count, place));
        const last = routine.local(heap.at(base));
        routine.store(heap, base, heap.at(calc("add", base, end)));
        routine.store(heap, calc("add", base, end), last);
        sink(routine, heap, base, integer(0), end, numberAt, ties);
      });
      routine.each(0, integer(count), (place) => {
        const at = routine.local(calc("add", base, place));
        routine.store(results, at, numberAt(heap.at(at)));
      });
    });
  }
  return [values, indices];
}

/** The lowerings. */
export const searches: LoweringTable = {
  ARGMAX: ({ input, axis }, { output }, builder) => addExtremePlace(builder, "ARGMAX", input, axis, output, true),
  ARGMIN: ({ input, axis }, { output }, builder) => addExtremePlace(builder, "ARGMIN", input, axis, output, false),
  TOPK_V2: ({ input, k }, outputs, builder) => addGreatest(builder, "TOPK_V2", input, k, outputs),
  GATHER({ input, axis, indices }, { output }, builder) {
    const target = outputOf(builder, output);
    const shape = around(input, resolveAxis(axis, input.dimensions.length));
    addSlices(builder, "GATHER", builder.read(input), shape, builder.read(indices), target);
    return target;
  },
  EMBEDDING_LOOKUP({ lookups, values }, { output }, builder) {
    const target = outputOf(builder, output);
    addSlices(builder, "EMBEDDING_LOOKUP", builder.read(values), around(values, 0), builder.read(lookups), target);
    return target;
  },
  HASHTABLE_LOOKUP({ lookups, keys, values }, outputs, builder) {
    const [output, hits] = [outputOf(builder, outputs.output), outputOf(builder, outputs.hits)];
    const rows = elementCount(keys.dimensions);
    const [source, wanted, known] = [builder.read(values), builder.read(lookups), builder.read(keys)];
    const [, , inner] = around(values, 0);
    addElementwise(builder, "HASHTABLE_LOOKUP", [], asBits(output), makeInteger(0), 1);
    addRoutine(builder, "HASHTABLE_LOOKUP", elementCount(lookups.dimensions), 2 * rows, (routine) => {
      const [table, list, places] = [routine.read(asBits(source)), routine.read(known), routine.read(wanted)];
      const [to, found] = [routine.write(asBits(output)), routine.write(hits)];
      const key = routine.local(places.at(routine.unit));
      const row = routine.local(integer(0));
      // The first of equal keys counts.
      routine.repeat(choose(calc("lt", row, rows), calc("ne", list.at(row), key), integer(0)), () =>
        routine.set(row, calc("add", row, 1)),
      );
      const isFound = routine.local(calc("lt", row, rows));
      routine.store(found, routine.unit, isFound);
      routine.when(isFound, () =>
        routine.copy(table, calc("mul", row, inner), to, calc("mul", routine.unit, inner), inner),
      );
    });
    return [output, hits];
  },
};
