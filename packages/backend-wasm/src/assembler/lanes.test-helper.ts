/**
 * The result of each instruction, in JavaScript, as the specification defines it: numbers are lanes of a vector, a scalar is a vector of one lane.
 */

/** Lanes of a type: of integers as bigints without sign, of floats as numbers. */
type Lane = bigint | number;

const float = /^f(32|64)/;

function shapeOf(text: string): { readonly isFloat: boolean; readonly bits: number; readonly count: number } {
  const [, kind, bits, count = "1"] = /^([if])(8|16|32|64)(?:x(\d+))?$/.exec(text) ?? [];
  if (bits === undefined) throw new Error(`${text} is not a shape`);
  return { isFloat: kind === "f", bits: Number(bits), count: Number(count) };
}

/** The lanes of a shape in bytes. */
export function lanesOf(shape: string, bytes: Uint8Array): Lane[] {
  const { isFloat, bits, count } = shapeOf(shape);
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  return Array.from({ length: count }, (_, lane): Lane => {
    const at = (lane * bits) / 8;
    if (isFloat) return bits === 32 ? view.getFloat32(at, true) : view.getFloat64(at, true);
    if (bits === 64) return view.getBigUint64(at, true);
    return BigInt(bits === 32 ? view.getUint32(at, true) : bits === 16 ? view.getUint16(at, true) : view.getUint8(at));
  });
}

/** Bytes with the lanes of a shape, the rest 0. */
export function bytesOf(shape: string, lanes: readonly Lane[]): Uint8Array {
  const { isFloat, bits } = shapeOf(shape);
  const bytes = new Uint8Array(16);
  const view = new DataView(bytes.buffer);
  for (const [lane, value] of lanes.entries()) {
    const at = (lane * bits) / 8;
    if (isFloat) {
      if (bits === 32) view.setFloat32(at, Number(value), true);
      else view.setFloat64(at, Number(value), true);
    } else {
      const whole = BigInt.asUintN(bits, BigInt(value));
      if (bits === 64) view.setBigUint64(at, whole, true);
      else if (bits === 32) view.setUint32(at, Number(whole), true);
      else if (bits === 16) view.setUint16(at, Number(whole), true);
      else view.setUint8(at, Number(whole));
    }
  }
  return bytes;
}

const signed = (value: Lane, bits: number) => BigInt.asIntN(bits, BigInt(value));
const clamp = (value: bigint, least: bigint, most: bigint) => (value < least ? least : value > most ? most : value);
const saturate = (value: bigint, bits: number, isSigned: boolean) =>
  isSigned
    ? clamp(value, -(1n << BigInt(bits - 1)), (1n << BigInt(bits - 1)) - 1n)
    : clamp(value, 0n, (1n << BigInt(bits)) - 1n);

function nearestEven(value: number): number {
  if (!Number.isFinite(value) || Math.abs(value) >= 2 ** 52) return value;
  const whole = value < 0 ? -(-value + 2 ** 52 - 2 ** 52) : value + 2 ** 52 - 2 ** 52;
  return whole === 0 ? value * 0 : whole;
}

/** A whole number in a float's range; NaN is 0. */
function truncate(value: number, bits: number, isSigned: boolean): bigint {
  if (Number.isNaN(value)) return 0n;
  if (!Number.isFinite(value)) return saturate(value > 0 ? 1n << 80n : -(1n << 80n), bits, isSigned);
  return saturate(BigInt(Math.trunc(value)), bits, isSigned);
}

/** The result of a float operation on one lane. */
function floatLane(operation: string, a: number, b: number, round: (value: number) => number): number {
  switch (operation) {
    case "abs":
      return Math.abs(a);
    case "neg":
      return -a;
    case "ceil":
      return Math.ceil(a);
    case "floor":
      return Math.floor(a);
    case "trunc":
      return Math.trunc(a);
    case "nearest":
      return nearestEven(a);
    case "sqrt":
      return round(Math.sqrt(a));
    case "add":
      return round(a + b);
    case "sub":
      return round(a - b);
    case "mul":
      return round(a * b);
    case "div":
      return round(a / b);
    case "min":
      return Math.min(a, b);
    case "max":
      return Math.max(a, b);
    case "pmin":
      return b < a ? b : a;
    case "pmax":
      return a < b ? b : a;
    default:
      throw new Error(`there is no ${operation} of floats`);
  }
}

const compared: Readonly<Record<string, (a: Lane, b: Lane) => boolean>> = {
  eq: (a, b) => a === b,
  ne: (a, b) => a !== b,
  lt: (a, b) => a < b,
  gt: (a, b) => a > b,
  le: (a, b) => a <= b,
  ge: (a, b) => a >= b,
};

/** The result of an integer operation on one lane; `a` and `b` without sign. */
function integerLane(operation: string, a: bigint, b: bigint, bits: number): bigint {
  const [name = "", sign] = operation.split(/_(?=[su]$)/);
  const isSigned = sign === "s";
  const [left, right] = isSigned ? [signed(a, bits), signed(b, bits)] : [a, b];
  const shift = b % BigInt(bits);
  const text = a.toString(2).padStart(bits, "0");
  switch (name) {
    case "add":
    case "sub":
      return name === "add" ? a + b : a - b;
    case "add_sat":
      return saturate(left + right, bits, isSigned);
    case "sub_sat":
      return saturate(left - right, bits, isSigned);
    case "mul":
      return a * b;
    case "div":
      return left / right;
    case "rem":
      return left % right;
    case "and":
      return a & b;
    case "or":
      return a | b;
    case "xor":
      return a ^ b;
    case "shl":
      return a << shift;
    case "shr":
      return left >> shift;
    case "rotl":
      return (a << shift) | (a >> (BigInt(bits) - shift));
    case "rotr":
      return (a >> shift) | (a << (BigInt(bits) - shift));
    case "clz":
      return BigInt(text.indexOf("1") < 0 ? bits : text.indexOf("1"));
    case "ctz":
      return BigInt(a === 0n ? bits : bits - 1 - text.lastIndexOf("1"));
    case "popcnt":
      return BigInt(text.replaceAll("0", "").length);
    case "abs":
      return signed(a, bits) < 0n ? -signed(a, bits) : a;
    case "neg":
      return -a;
    case "min":
      return left < right ? left : right;
    case "max":
      return left > right ? left : right;
    case "avgr":
      return (a + b + 1n) / 2n;
    case "q15mulr_sat":
      return saturate((left * right + 0x4000n) >> 15n, 16, true);
    case "extend8":
    case "extend16":
    case "extend32":
      return signed(a, Number(name.slice(6)));
    default:
      throw new Error(`there is no ${operation} of integers`);
  }
}

/** Half of the lanes of a vector, with a sign or without. */
function halfOf(shape: string, bytes: Uint8Array, half: string, sign: string): bigint[] {
  const { bits, count } = shapeOf(shape);
  const lanes = lanesOf(shape, bytes).map((lane) => (sign === "s" ? signed(lane, bits) : BigInt(lane)));
  return half === "low" ? lanes.slice(0, count / 2) : lanes.slice(count / 2);
}

/** The result of an instruction that is not the same operation on each lane; undefined if it is. */
function conversion(shape: string, operation: string, operands: readonly Uint8Array[]): readonly Lane[] | undefined {
  const [a = new Uint8Array(16), b = new Uint8Array(16)] = operands;
  const { bits } = shapeOf(shape);
  let match = /^(extend|extmul)_(low|high)_(\w+)_([su])$/.exec(operation);
  if (match) {
    const [, kind, half = "", from = "", sign = ""] = match;
    const [left, right] = [halfOf(from, a, half, sign), halfOf(from, b, half, sign)];
    return left.map((lane, place) => (kind === "extmul" ? lane * (right[place] ?? 0n) : lane));
  }
  match = /^extadd_pairwise_(\w+)_([su])$/.exec(operation);
  if (match) {
    const [, from = "", sign = ""] = match;
    const all = [...halfOf(from, a, "low", sign), ...halfOf(from, a, "high", sign)];
    return all.flatMap((lane, place) => (place % 2 === 0 ? [lane + (all[place + 1] ?? 0n)] : []));
  }
  match = /^narrow_(\w+)_([su])$/.exec(operation);
  if (match) {
    const [, from = "", sign] = match;
    const wide = shapeOf(from).bits;
    return [...lanesOf(from, a), ...lanesOf(from, b)].map((lane) => saturate(signed(lane, wide), bits, sign === "s"));
  }
  match = /^trunc(?:_sat)?_(f\w+?)_([su])(_zero)?$/.exec(operation);
  if (match) {
    const [, from = "", sign] = match;
    return lanesOf(from, a).map((lane) => truncate(Number(lane), bits, sign === "s"));
  }
  match = /^convert_(low_)?(i\w+)_([su])$/.exec(operation);
  if (match) {
    const [, low, from = "", sign] = match;
    const lanes = lanesOf(from, a).map((lane) => (sign === "s" ? signed(lane, shapeOf(from).bits) : BigInt(lane)));
    return lanes
      .slice(0, low ? 2 : lanes.length)
      .map(bits === 32 && !from.includes("64") ? Number : (lane) => toFloat(lane, bits));
  }
  match = /^(?:demote|promote)_(low_)?(f\w+?)(_zero)?$/.exec(operation);
  if (match) return lanesOf(match[2] ?? "", a).slice(0, match[1] ? 2 : undefined);
  match = /^extend_i32_([su])$/.exec(operation);
  if (match) return lanesOf("i32", a).map((lane) => (match?.[1] === "s" ? signed(lane, 32) : lane));
  if (operation === "wrap_i64") return lanesOf("i64", a);
  if (operation.startsWith("reinterpret_")) return lanesOf(`i${bits}`, a);
  if (operation === "dot_i16x8_s") {
    const [left, right] = [lanesOf("i16x8", a), lanesOf("i16x8", b)].map((lanes) =>
      lanes.map((lane) => signed(lane, 16)),
    );
    const products = (left ?? []).map((lane, place) => lane * (right?.[place] ?? 0n));
    return [0, 2, 4, 6].map((place) => (products[place] ?? 0n) + (products[place + 1] ?? 0n));
  }
  return undefined;
}

/** The nearest float of 32 or 64 bits: a bigint becomes a double in one rounding, which a second one to 32 bits may spoil. */
function toFloat(value: bigint, bits: number): number {
  if (bits === 64) return Number(value);
  const size = value < 0n ? -value : value;
  const excess = BigInt(Math.max(0, size.toString(2).length - 24));
  const half = excess === 0n ? 0n : 1n << (excess - 1n);
  const low = size & ((1n << excess) - 1n);
  const whole = size >> excess;
  const rounded = low > half || (low === half && excess > 0n && whole % 2n === 1n) ? whole + 1n : whole;
  return Number(value < 0n ? -(rounded << excess) : rounded << excess);
}

/** The 16 bytes that an instruction of numbers or vectors makes of its operands; immediates are not among them. */
export function resultOf(name: string, operands: readonly Uint8Array[]): Uint8Array {
  const [shape = "", operation = ""] = name.split(".");
  const [a = new Uint8Array(16), b = new Uint8Array(16), c = new Uint8Array(16)] = operands;
  if (shape === "v128") return bitwise(operation, a, b, c);
  const { isFloat, bits, count } = shapeOf(shape);
  if (operation === "splat")
    return bytesOf(
      shape,
      Array.from({ length: count }, () => lanesOf(`${shape.split("x")[0]}`.replace(/^i(8|16)$/, "i32"), a)[0] ?? 0n),
    );
  if (operation === "swizzle") return Uint8Array.from(b, (index) => (index < 16 ? (a[index] ?? 0) : 0));
  if (operation === "all_true") return bytesOf("i32", [lanesOf(shape, a).every((lane) => lane !== 0n) ? 1n : 0n]);
  if (operation === "bitmask") {
    const signs = lanesOf(shape, a).map((lane, place) => (signed(lane, bits) < 0n ? 1n << BigInt(place) : 0n));
    return bytesOf("i32", [signs.reduce((sum, bit) => sum | bit, 0n)]);
  }
  if (operation === "reinterpret_f32" || operation === "reinterpret_f64") return a;
  if (operation.startsWith("reinterpret_i")) return a;
  if (operation === "copysign") {
    const result = a.slice();
    const sign = bits / 8 - 1;
    result[sign] = ((a[sign] ?? 0) & 0x7f) | ((b[sign] ?? 0) & 0x80);
    return result;
  }
  const made = conversion(shape, operation, operands);
  if (made !== undefined) return bytesOf(shape, made);
  const [comparison = "", sign] = operation.split("_");
  const [left, right] = [lanesOf(shape, a), count > 1 && /^sh[lr]/.test(operation) ? [] : lanesOf(shape, b)];
  const compare = compared[comparison];
  const isScalar = count === 1;
  if (operation === "eqz") return bytesOf("i32", [left[0] === 0n ? 1n : 0n]);
  if (compare !== undefined) {
    const plain = (lane: Lane): Lane => (sign === "s" ? signed(lane, bits) : lane);
    const results = left.map((lane, place) => compare(plain(lane), plain(right[place] ?? 0n)));
    return isScalar
      ? bytesOf("i32", [results[0] ? 1n : 0n])
      : bytesOf(
          `i${bits}x${count}`,
          results.map((each) => (each ? -1n : 0n)),
        );
  }
  const amount = lanesOf("i32", b)[0] ?? 0n;
  return bytesOf(
    shape,
    left.map((lane, place) => {
      const other = right[place] ?? amount;
      if (!isFloat) return integerLane(operation, BigInt(lane), BigInt(other), bits);
      return floatLane(
        operation,
        Number(lane),
        Number(other),
        float.test(shape) && bits === 32 ? Math.fround : (value) => value,
      );
    }),
  );
}

function bitwise(operation: string, a: Uint8Array, b: Uint8Array, c: Uint8Array): Uint8Array {
  const each = (compute: (x: number, y: number, z: number) => number) =>
    Uint8Array.from(a, (byte, place) => compute(byte, b[place] ?? 0, c[place] ?? 0));
  switch (operation) {
    case "not":
      return each((x) => ~x);
    case "and":
      return each((x, y) => x & y);
    case "andnot":
      return each((x, y) => x & ~y);
    case "or":
      return each((x, y) => x | y);
    case "xor":
      return each((x, y) => x ^ y);
    case "bitselect":
      return each((x, y, mask) => (x & mask) | (y & ~mask));
    case "any_true":
      return bytesOf("i32", [a.some((byte) => byte !== 0) ? 1n : 0n]);
    default:
      throw new Error(`there is no ${operation} of bits`);
  }
}
