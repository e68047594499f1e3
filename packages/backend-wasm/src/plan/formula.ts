/**
 * The parts of routines: numbers that are computed one by one, and statements. Numbers are integers of 32 bits or floats of 64, as in the kernels of the reference, so results are
 * the same.
 */

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

/** A constant. */
export function constant(value: number, type: NumberType): Formula {
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
export function convertFormula(kind: "toReal" | "toWhole" | "toSingle", arg: Formula): Formula {
  return { kind, type: kind === "toWhole" ? "i32" : "f64", args: [arg], value: 0 };
}

/** `yes` if the truth is not 0, else `no`. */
export function choose(truth: Formula, yes: Formula, no: Formula): Formula {
  return { kind: "choose", type: yes.type, args: [truth, yes, no], value: 0 };
}
