/** The code of an expression: four elements at once. */
import type { Code, Local } from "../assembler/code.ts";
import type { InstructionName } from "../assembler/instructions.ts";
import { type Expression, type ExpressionKind, makeInteger, nodesOf, real } from "../plan/expression.ts";

/** Pushes the leaves of an expression for the current four elements. */
export interface Leaves {
  accumulator?(): void;
  element?(operand: number): void;
  channel?(region: number): void;
}

/** Constants of expressions in locals, which are set before a loop. */
export type Constants = ReadonlyMap<number | string, Local>;

/** The instruction of each kind of node with lanes of a type. */
const instructions: { readonly [Kind in ExpressionKind]?: Readonly<Partial<Record<"f32" | "i32", PlainName>>> } = {
  add: { f32: "f32x4.add", i32: "i32x4.add" },
  sub: { f32: "f32x4.sub", i32: "i32x4.sub" },
  mul: { f32: "f32x4.mul", i32: "i32x4.mul" },
  div: { f32: "f32x4.div" },
  // The first argument stays unless the second is less or greater: a NaN stays too.
  min: { f32: "f32x4.pmin", i32: "i32x4.min_s" },
  max: { f32: "f32x4.pmax", i32: "i32x4.max_s" },
  abs: { f32: "f32x4.abs", i32: "i32x4.abs" },
  neg: { f32: "f32x4.neg", i32: "i32x4.neg" },
  sqrt: { f32: "f32x4.sqrt" },
  floor: { f32: "f32x4.floor" },
  ceil: { f32: "f32x4.ceil" },
  trunc: { f32: "f32x4.trunc" },
  nearest: { f32: "f32x4.nearest" },
  and: { i32: "v128.and" },
  or: { i32: "v128.or" },
  xor: { i32: "v128.xor" },
  eq: { f32: "f32x4.eq", i32: "i32x4.eq" },
  ne: { f32: "f32x4.ne", i32: "i32x4.ne" },
  lt: { f32: "f32x4.lt", i32: "i32x4.lt_s" },
  le: { f32: "f32x4.le", i32: "i32x4.le_s" },
  gt: { f32: "f32x4.gt", i32: "i32x4.gt_s" },
  ge: { f32: "f32x4.ge", i32: "i32x4.ge_s" },
  toFloat: { i32: "f32x4.convert_i32x4_s" },
  toInteger: { f32: "i32x4.trunc_sat_f32x4_s" },
};

/** Instructions of two vectors or one, without immediates. */
type PlainName = Extract<InstructionName, `${"f32x4" | "i32x4" | "v128"}.${string}`>;

/** Pushes the four results of an expression. */
export function emitExpression(code: Code, root: Expression, leaves: Leaves, constants?: Constants): void {
  const uses = new Map<Expression, number>();
  const visit = (node: Expression): void => {
    const known = uses.get(node) ?? 0;
    uses.set(node, known + 1);
    if (known === 0) node.args.forEach(visit);
  };
  visit(root);
  const held = new Map<Expression, Local>();
  const emit = (node: Expression): void => {
    const local = held.get(node);
    if (local !== undefined) {
      code.get(local);
      return;
    }
    emitNode(code, node, emit, leaves, constants);
    if ((uses.get(node) ?? 0) > 1 && node.kind !== "constant" && node.kind !== "accumulator") {
      const kept = code.local("v128");
      held.set(node, kept);
      code.tee(kept);
    }
  };
  emit(root);
}

function emitNode(
  code: Code,
  node: Expression,
  emit: (node: Expression) => void,
  leaves: Leaves,
  constants: Constants | undefined,
): void {
  const { kind, type, args, value = 0 } = node;
  const [first, second, third] = args;
  const rounding = roundingOf(node);
  if (rounding !== undefined) {
    emit(rounding.of);
    emitConstant(code, rounding.near, constants);
    code.op("f32x4.add");
    emitConstant(code, rounding.bits, constants);
    code.op("i32x4.sub");
    return;
  }
  switch (kind) {
    case "accumulator":
      requireValue(leaves.accumulator, kind)();
      return;
    case "element":
      requireValue(leaves.element, kind)(node.operand ?? 0);
      return;
    case "channel":
      requireValue(leaves.channel, kind)(node.region ?? 0);
      return;
    case "constant":
      emitConstant(code, node, constants);
      return;
    case "shl":
    case "shr":
      emit(requireValue(first, kind));
      code.i32(value).op(kind === "shl" ? "i32x4.shl" : "i32x4.shr_s");
      return;
    case "bits":
    case "fromBits":
      emit(requireValue(first, kind));
      return;
    case "shlBy":
    case "shrBy":
      emitByLane(code, kind === "shlBy" ? "i32.shl" : "i32.shr_s", args, emit);
      return;
    case "clz":
      emitByLane(code, "i32.clz", args, emit);
      return;
    case "highMul":
      emitHighMul(code, args, emit);
      return;
    case "select":
      emit(requireValue(second, kind));
      emit(requireValue(third, kind));
      emit(requireValue(first, kind));
      code.op("v128.bitselect");
      return;
    default: {
      args.forEach(emit);
      const name = instructions[kind]?.[args[0]?.type ?? type];
      // All names of the table are instructions without immediates, which its type cannot say.
      code.op(requireValue(name, `${kind} of ${args[0]?.type}`) as "f32x4.add");
    }
  }
}

/**
 * The parts of a rounding, with the whole number that is added to it if there is one: near 1.5 · 2^23 floats are whole numbers, and the lowest bits of
 * their bits count them. Undefined for other nodes.
 */
function roundingOf({ kind, args }: Expression) {
  const [first, second] = args;
  const isMoved = kind === "add" && first?.kind === "round" && second?.kind === "constant";
  const of = isMoved ? first.args[0] : kind === "round" ? first : undefined;
  if (of === undefined) return undefined;
  const moved = isMoved ? (second.value ?? 0) : 0;
  return { of, near: real(12582912), bits: makeInteger(0x4b400000 - moved) };
}

function emitConstant(code: Code, node: Expression, constants: Constants | undefined): void {
  const local = constants?.get(constantKey(node));
  if (local === undefined) code.op("v128.const", splatBytes(node.type, node.value ?? 0));
  else code.get(local);
}

/** Computes lane by lane, where there is no instruction for vectors. */
function emitByLane(
  code: Code,
  name: "i32.shl" | "i32.shr_s" | "i32.clz",
  args: readonly Expression[],
  emit: (node: Expression) => void,
): void {
  const vectors = args.map((arg) => {
    const vector = code.local("v128");
    emit(arg);
    code.set(vector);
    return vector;
  });
  const [result = 0] = vectors;
  code.get(result);
  for (let lane = 0; lane < 4; lane++) {
    for (const vector of vectors) code.get(vector).op("i32x4.extract_lane", lane);
    code.op(name).op("i32x4.replace_lane", lane);
  }
}

/** The products of 64 bits plus a half, of which the bits from 31 on are the result. */
function emitHighMul(code: Code, args: readonly Expression[], emit: (node: Expression) => void): void {
  const [a, b] = [code.local("v128"), code.local("v128")];
  const [first, second] = args;
  emit(requireValue(first, "highMul"));
  code.set(a);
  emit(requireValue(second, "highMul"));
  code.set(b);
  for (const half of ["i64x2.extmul_low_i32x4_s", "i64x2.extmul_high_i32x4_s"] as const) {
    code
      .get(a)
      .get(b)
      .op(half)
      .op("i64.const", 1n << 30n)
      .op("i64x2.splat")
      .op("i64x2.add")
      .i32(31)
      .op("i64x2.shr_s");
  }
  code.op("i8x16.shuffle", [0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27]);
  // Only -1 times -1 does not fit.
  for (const factor of [a, b]) code.get(factor).i32(-0x8000_0000).op("i32x4.splat").op("i32x4.eq");
  code.op("v128.and").op("v128.xor");
}

function requireValue<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new TypeError(`the kernel has no ${what}`);
  return value;
}

function splatBytes(type: "f32" | "i32", value: number): number[] {
  const view = new DataView(new ArrayBuffer(4));
  if (type === "f32") view.setFloat32(0, value, true);
  else view.setInt32(0, value, true);
  const bytes = [...new Uint8Array(view.buffer)];
  return [...bytes, ...bytes, ...bytes, ...bytes];
}

function constantKey({ type, value = 0 }: Expression): string {
  return `${type}${Object.is(value, -0) ? "-0" : value}`;
}

/** Puts the constants of an expression into locals, for a loop that follows. */
export function holdConstants(code: Code, root: Expression): Constants {
  const constants = new Map<string, Local>();
  const hold = (node: Expression): void => {
    if (constants.has(constantKey(node))) return;
    const local = code.local("v128");
    code.given(splatBytes(node.type, node.value ?? 0)).set(local);
    constants.set(constantKey(node), local);
  };
  for (const node of nodesOf(root)) {
    const rounding = roundingOf(node);
    if (node.kind === "constant") hold(node);
    if (rounding === undefined) continue;
    hold(rounding.near);
    hold(rounding.bits);
  }
  return constants;
}
