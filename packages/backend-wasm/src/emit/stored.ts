/** The value of a step as its store needs it. */
import { type Expression, on } from "../plan/expression.ts";
import type { ElementType, Target } from "../plan/plan.ts";

/** The numbers of types that `storeLanes` saturates to. */
const ranges: Readonly<Partial<Record<ElementType, readonly [least: number, greatest: number]>>> = {
  u8: [0, 255],
  i8: [-128, 127],
  u16: [0, 65535],
  i16: [-32768, 32767],
};

/** Floats up to this magnitude are rounded exactly, with room for the roundings of what they were computed from. */
const mostRounded = 2 ** 21;

/**
 * The value without the bounds that the store keeps anyway: a float that is rounded, moved by a zero point and stored as a type whose range the bounds are. Only
 * where its magnitude is known to be small enough to be rounded without bounds.
 */
export function storedValue(
  value: Expression,
  { type }: Pick<Target, "type">,
  operands: readonly Pick<Target, "type">[],
): Expression {
  const range = ranges[type];
  const [rounded, moved] = value.args;
  if (range === undefined || value.kind !== "add" || rounded?.kind !== "round" || moved?.kind !== "constant")
    return value;
  const [bounded] = rounded.args;
  if (bounded === undefined) return value;
  const zeroPoint = moved.value ?? 0;
  const upper = boundOf(bounded, "min");
  const lower = boundOf(upper?.of ?? bounded, "max");
  const inner = lower?.of ?? upper?.of ?? bounded;
  if (!(magnitudeOf(inner, operands) <= mostRounded)) return value;
  let kept = inner;
  if (lower !== undefined && lower.bound + zeroPoint > range[0]) kept = on("max", kept, lower.node);
  if (upper !== undefined && upper.bound + zeroPoint < range[1]) kept = on("min", kept, upper.node);
  return { ...value, args: [{ ...rounded, args: [kept] }, moved] };
}

/** A bound by a constant. */
function boundOf({ kind, args: [of, node] }: Expression, wanted: "min" | "max") {
  if (kind !== wanted || of === undefined || node?.kind !== "constant") return undefined;
  return { of, node, bound: node.value ?? 0 };
}

/** A magnitude that no value of an expression exceeds, apart from the roundings of floats; infinite if none is known. */
function magnitudeOf(root: Expression, operands: readonly Pick<Target, "type">[]): number {
  const known = new Map<Expression, number>();
  const visit = (node: Expression): number => {
    const magnitude = known.get(node) ?? magnitudeBy(node, operands, node.args.map(visit));
    known.set(node, magnitude);
    return magnitude;
  };
  return visit(root);
}

/** The magnitude of a node by those of its arguments. */
function magnitudeBy(
  node: Expression,
  operands: readonly Pick<Target, "type">[],
  [first = 0, second = 0, third = 0]: readonly number[],
): number {
  switch (node.kind) {
    case "accumulator":
    case "channel":
      return node.largest ?? Number.POSITIVE_INFINITY;
    case "constant":
      return Math.abs(node.value ?? 0);
    case "element": {
      const range = ranges[operands[node.operand ?? 0]?.type ?? "f32"];
      return range === undefined ? Number.POSITIVE_INFINITY : Math.max(-range[0], range[1]);
    }
    case "add":
    case "sub":
      return first + second;
    case "mul":
      return first * second;
    case "min":
    case "max":
      return Math.max(first, second);
    case "select":
      return Math.max(second, third);
    case "neg":
    case "abs":
    case "toFloat":
      return first;
    case "round":
      return first + 1;
    default:
      return Number.POSITIVE_INFINITY;
  }
}
