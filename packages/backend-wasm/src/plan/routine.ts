/**
 * Routines: loops over single numbers, for operations of which the data decide what is read or computed: lookups, orders, regions.
 */
import type { Builder, Value } from "./builder.ts";
import { calc, constant, type Formula, integer, type NumberType, type Statement, type Term } from "./formula.ts";
import type { RoutineOperand, RoutineStep } from "./plan.ts";

/** An operand of a routine. */
export interface Place {
  readonly operand: number;
  readonly type: RoutineOperand["type"];
  /** The element at an index. */
  at(index: Term): Formula;
}

/** A routine while it is written. */
export interface Routine {
  /** The number of the unit. */
  readonly unit: Formula;
  read(value: RoutineOperand): Place;
  write(value: Value): Place;
  /** A new local with a first value. */
  local(first: Formula): Formula;
  set(local: Formula, value: Term): void;
  store(place: Place, index: Term, value: Formula): void;
  copy(from: Place, fromIndex: Term, to: Place, toIndex: Term, count: Term): void;
  /** Counts a local up from `first` to `end`, which is not reached. */
  each(first: Term, end: Term, body: (local: Formula) => void): void;
  /** Repeats while something holds. */
  repeat(truth: Formula, body: () => void): void;
  when(truth: Formula, body: () => void, otherwise?: () => void): void;
  /** Ends the run unless an integer is within bounds; `what` names it. */
  expect(what: string, value: Formula, least: number, greatest: number): void;
}

const asInteger = (term: Term): Formula => (typeof term === "number" ? integer(term) : term);

/** Adds a routine of some units. Each must write what no other unit reads. */
export function addRoutine(
  builder: Builder,
  name: string,
  units: number,
  work: number,
  write: (routine: Routine) => void,
): void {
  const reads: RoutineOperand[] = [];
  const writes: RoutineOperand[] = [];
  const locals: NumberType[] = ["i32"];
  const checks: RoutineStep["checks"][number][] = [];
  let body: Statement[] = [];
  const inside = (fill: () => void): Statement[] => {
    const outer = body;
    const inner: Statement[] = [];
    body = inner;
    fill();
    body = outer;
    return inner;
  };
  // Operands that are written have negative numbers until the number of those that are read is known.
  const place = ({ region, type }: RoutineOperand, list: RoutineOperand[], sign: 1 | -1): Place => {
    const operand = list.push({ region, type }) - 1;
    const number = sign > 0 ? operand : -1 - operand;
    return {
      operand: number,
      type,
      at: (index) => ({
        kind: "element",
        type: type === "f32" || type === "f64" ? "f64" : "i32",
        args: [asInteger(index)],
        value: number,
      }),
    };
  };
  const routine: Routine = {
    unit: { kind: "local", type: "i32", args: [], value: 0 },
    read: (value) => place(value, reads, 1),
    write: (value) => place(value, writes, -1),
    local(first) {
      const local: Formula = { kind: "local", type: first.type, args: [], value: locals.push(first.type) - 1 };
      body.push({ does: "set", local: local.value, value: first });
      return local;
    },
    set(local, value) {
      body.push({
        does: "set",
        local: local.value,
        value: typeof value === "number" ? constant(value, local.type) : value,
      });
    },
    store(to, index, value) {
      body.push({ does: "store", operand: to.operand, index: asInteger(index), value });
    },
    copy(from, fromIndex, to, toIndex, count) {
      if (from.type !== to.type) throw new TypeError(`elements of ${from.type} are copied to ${to.type}`);
      body.push({
        does: "copy",
        from: from.operand,
        fromIndex: asInteger(fromIndex),
        to: to.operand,
        toIndex: asInteger(toIndex),
        count: asInteger(count),
      });
    },
    each(first, end, fill) {
      const local = routine.local(asInteger(first));
      const last = typeof end === "number" ? integer(end) : routine.local(end);
      routine.repeat(calc("lt", local, last), () => {
        fill(local);
        routine.set(local, calc("add", local, 1));
      });
    },
    repeat(truth, fill) {
      body.push({ does: "while", truth, body: inside(fill) });
    },
    when(truth, fill, otherwise = () => {}) {
      body.push({ does: "if", truth, body: inside(fill), otherwise: inside(otherwise) });
    },
    expect(what, value, least, greatest) {
      body.push({ does: "check", place: checks.push([what, least, greatest]) - 1, value });
    },
  };
  write(routine);
  builder.add({ kind: "routine", name, reads, writes, locals, checks, body, units, work });
}
