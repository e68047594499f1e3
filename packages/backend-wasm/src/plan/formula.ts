/**
 * Routines: loops over single numbers, for operations of which the data decide what is read or computed: lookups, orders, regions. Numbers are integers of 32 bits
 * or floats of 64, as in the kernels of the reference, so results are the same.
 */
import type { Builder, Value } from "./builder.ts";
import type { RoutineStep, Target } from "./plan.ts";

/** The type of a number. */
export type NumberType = "i32" | "f64";

type Arithmetic = "add" | "sub" | "mul" | "div" | "min" | "max";
type OfIntegers = "rem" | "and" | "or" | "xor" | "shl" | "shr";
type OfReals = "floor" | "ceil" | "trunc" | "nearest" | "sqrt" | "abs" | "neg";
type Comparison = "eq" | "ne" | "lt" | "le" | "gt" | "ge";

/**
 * The kinds of nodes. `element`: of an operand at an index, widened. `div` of integers cuts off. `toReal` and `toWhole` convert; the latter cuts off and saturates.
 * `toSingle` rounds to float32. `choose`: the second argument if the first is not 0, else the third; all are computed. Comparisons are 1 or 0.
 */
export type FormulaKind =
  | "constant"
  | "local"
  | "element"
  | Arithmetic
  | OfIntegers
  | OfReals
  | Comparison
  | "toReal"
  | "toWhole"
  | "toSingle"
  | "choose";

/** A number that is computed. */
export interface Formula {
  readonly kind: FormulaKind;
  readonly type: NumberType;
  readonly args: readonly Formula[];
  /** Of a constant its value, of a local its number, of an element its operand. */
  readonly value: number;
}

/** The statements of a routine. */
export type Statement =
  | { readonly does: "set"; readonly local: number; readonly value: Formula }
  /** A real number becomes an integer where the operand has integers: it must be whole, and within their range. */
  | { readonly does: "store"; readonly operand: number; readonly index: Formula; readonly value: Formula }
  /** Copies elements of operands of one type. */
  | {
      readonly does: "copy";
      readonly from: number;
      readonly fromIndex: Formula;
      readonly to: number;
      readonly toIndex: Formula;
      readonly count: Formula;
    }
  | { readonly does: "while"; readonly truth: Formula; readonly body: readonly Statement[] }
  | {
      readonly does: "if";
      readonly truth: Formula;
      readonly body: readonly Statement[];
      readonly otherwise: readonly Statement[];
    }
  /** Ends the run with a message unless an integer is within bounds. The place is that in `RoutineStep.checks`. */
  | { readonly does: "check"; readonly place: number; readonly value: Formula };

/** A number, or a formula. */
export type Term = Formula | number;

function constant(value: number, type: NumberType): Formula {
  return { kind: "constant", type, args: [], value };
}

/** A number of 64 bits. */
export function realNumber(value: number): Formula {
  return constant(value, "f64");
}

/** An integer. */
export function integer(value: number): Formula {
  return constant(value, "i32");
}

/** A computation with numbers of one type: plain numbers among the terms have that of the others, and are integers if there are none. */
export function calc(kind: Arithmetic | OfIntegers | OfReals | Comparison, ...terms: Term[]): Formula {
  const known = terms.find((term) => typeof term !== "number");
  const type = typeof known === "object" ? known.type : "i32";
  const args = terms.map((term) => (typeof term === "number" ? constant(term, type) : term));
  const isTruth = kind === "eq" || kind === "ne" || kind === "lt" || kind === "le" || kind === "gt" || kind === "ge";
  return { kind, type: isTruth ? "i32" : type, args, value: 0 };
}

/** A conversion. */
export function turned(kind: "toReal" | "toWhole" | "toSingle", arg: Formula): Formula {
  return { kind, type: kind === "toWhole" ? "i32" : "f64", args: [arg], value: 0 };
}

/** `yes` if the truth is not 0, else `no`. */
export function choose(truth: Formula, yes: Formula, no: Formula): Formula {
  return { kind: "choose", type: yes.type, args: [truth, yes, no], value: 0 };
}

/** An operand of a routine. */
export interface Place {
  readonly operand: number;
  readonly type: Value["type"];
  /** The element at an index. */
  at(index: Term): Formula;
}

/** A routine while it is written. */
export interface Routine {
  /** The number of the unit. */
  readonly unit: Formula;
  read(value: Value): Place;
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
  const reads: Target[] = [];
  const writes: Target[] = [];
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
  const place = ({ region, type }: Value, list: Target[], sign: 1 | -1): Place => {
    const operand = list.push({ region, type }) - 1;
    const number = sign > 0 ? operand : -1 - operand;
    return {
      operand: number,
      type,
      at: (index) => ({
        kind: "element",
        type: type === "f32" ? "f64" : "i32",
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
