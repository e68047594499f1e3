/**
 * The computation for each element: a small expression over lanes of 32 bits. A kernel evaluates it for some elements at once, in whatever
 * instructions its emitter has. A node that is used twice is computed once.
 */

/** The type of a lane. A truth value is an i32 with all bits set, or none. */
export type LaneType = "f32" | "i32";

/** Operations on lanes of one type, which the result has too. */
type SameType = "add" | "sub" | "mul" | "min" | "max" | "abs" | "neg";
type OfFloats = "div" | "sqrt" | "floor" | "ceil" | "trunc" | "nearest";
type OfIntegers = "and" | "or" | "xor" | "shl" | "shr" | "shlBy" | "shrBy" | "clz" | "highMul";
type Comparison = "eq" | "ne" | "lt" | "le" | "gt" | "ge";

/**
 * The kinds of nodes. `accumulator`: what the kernel has computed itself. `element`: that of an operand at this place. `channel`: that of a
 * list with one number for each channel. `toFloat`: the nearest float. `toInteger`: cut off, saturated. `round`: the nearest integer, halves to the
 * even one, of a float within ±2^22. `bits`, `fromBits`: the same bits as the other type. `select`: by truth values. `shlBy`, `shrBy`: by the number
 * of bits in the second argument. `highMul`: a · b / 2^31, halves up, saturated: the product of two numbers in [-1, 1). `clz`: leading zeros.
 */
export type ExpressionKind =
  | "accumulator"
  | "element"
  | "channel"
  | "constant"
  | SameType
  | OfFloats
  | OfIntegers
  | Comparison
  | "toFloat"
  | "toInteger"
  | "round"
  | "bits"
  | "fromBits"
  | "select";

/** A node of an expression. */
export interface Expression {
  readonly kind: ExpressionKind;
  readonly type: LaneType;
  readonly args: readonly Expression[];
  /** Of a constant; of `shl` and `shr` the number of bits. */
  readonly value?: number;
  /** Of an element: which operand of the kernel. */
  readonly operand?: number;
  /** Of a channel: the region with the list. */
  readonly region?: number;
  /** Of an accumulator and of a channel: no magnitude is greater, as far as the planner knows. */
  readonly largest?: number;
}

/** The value that the kernel has computed. */
export function accumulator(type: LaneType, largest = Number.POSITIVE_INFINITY): Expression {
  return { kind: "accumulator", type, args: [], largest };
}

/** The element of an operand. */
export function element(operand: number, type: LaneType): Expression {
  return { kind: "element", type, args: [], operand };
}

/** The number of the channel in a list. */
export function channel(region: number, type: LaneType, largest = Number.POSITIVE_INFINITY): Expression {
  return { kind: "channel", type, args: [], region, largest };
}

/** A float. */
export function real(value: number): Expression {
  return { kind: "constant", type: "f32", args: [], value: Math.fround(value) };
}

/** An integer of 32 bits. */
export function makeInteger(value: number): Expression {
  return { kind: "constant", type: "i32", args: [], value: value | 0 };
}

/** A node over lanes of one type. Its own type is theirs, except that comparisons have truth values. */
export function on(
  kind: SameType | OfFloats | Exclude<OfIntegers, "shl" | "shr"> | Comparison,
  ...args: Expression[]
): Expression {
  const [first] = args;
  if (first === undefined) throw new TypeError(`${kind} has no arguments`);
  const isTruth = kind === "eq" || kind === "ne" || kind === "lt" || kind === "le" || kind === "gt" || kind === "ge";
  return { kind, type: isTruth ? "i32" : first.type, args };
}

/** A conversion between the types of lanes. */
export function convert(kind: "toFloat" | "toInteger" | "round" | "bits" | "fromBits", arg: Expression): Expression {
  return { kind, type: kind === "toFloat" || kind === "fromBits" ? "f32" : "i32", args: [arg] };
}

/** An integer, shifted. `shr` keeps the sign. */
export function shiftBits(kind: "shl" | "shr", arg: Expression, bits: number): Expression {
  return { kind, type: "i32", args: [arg], value: bits };
}

/** `yes` where the truth value is true, else `no`. */
export function select(truth: Expression, yes: Expression, no: Expression): Expression {
  return { kind: "select", type: yes.type, args: [truth, yes, no] };
}

/** Within bounds; NaN stays. Infinite bounds are left out. */
export function within(value: Expression, least: number, greatest: number): Expression {
  const bound = value.type === "f32" ? real : makeInteger;
  const low = least === Number.NEGATIVE_INFINITY ? value : on("max", value, bound(least));
  return greatest === Number.POSITIVE_INFINITY ? low : on("min", low, bound(greatest));
}

/** The nearest whole number as a float, halves away from zero. */
export function roundedAway(value: Expression): Expression {
  const cut = on("trunc", value);
  const isFar = on("ge", on("abs", on("sub", value, cut)), real(0.5));
  const one = select(on("lt", value, real(0)), real(-1), real(1));
  return select(isFar, on("add", cut, one), cut);
}

/** The nodes of an expression, each once, though many may share it. */
export function nodesOf(root: Expression): ReadonlySet<Expression> {
  const nodes = new Set([root]);
  // A set goes on to what is added meanwhile.
  for (const { args } of nodes) for (const arg of args) nodes.add(arg);
  return nodes;
}

/** An expression with other nodes in the place of its leaves. `leaf` returns undefined for those that stay. */
export function substitute(root: Expression, leaf: (node: Expression) => Expression | undefined): Expression {
  const made = new Map<Expression, Expression>();
  const visit = (node: Expression): Expression => {
    const known = made.get(node);
    if (known !== undefined) return known;
    const result = node.args.length === 0 ? (leaf(node) ?? node) : { ...node, args: node.args.map(visit) };
    made.set(node, result);
    return result;
  };
  return visit(root);
}
