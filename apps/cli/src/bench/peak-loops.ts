/**
 * Loops of arithmetic in WebAssembly that keep eight vectors of 128 bits in registers and touch no memory: what one thread reaches with
 * the instructions that WebAssembly has, assembled here since no compiler is at hand.
 */

/** Operations of one pass through a loop: 8 vectors, of which each makes 4 multiply-adds of floats, or 8 of integers. */
const vectors = 8;
export const operationsOfPass = { float: 2 * 4 * vectors, integer: 2 * 8 * vectors } as const;

/** The part of the global object that is used here; the declarations of Node.js lack it. */
declare const WebAssembly: {
  validate(bytes: Uint8Array): boolean;
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: Readonly<Record<string, unknown>> };
};

/** Runs so many passes. */
export interface PeakLoops {
  float(passes: number): number;
  integer(passes: number): number;
}

/** The loops as functions; undefined if this machine's WebAssembly has no SIMD. */
export function createPeakLoops(): PeakLoops | undefined {
  const bytes = moduleBytes();
  if (!WebAssembly.validate(bytes)) return undefined;
  const { float, integer } = new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports;
  if (typeof float !== "function" || typeof integer !== "function") return undefined;
  return { float: (passes) => Number(float(passes)), integer: (passes) => Number(integer(passes)) };
}

const i32 = 0x7f;
const v128 = 0x7b;
const localGet = 0x20;
const localSet = 0x21;

/** The parameter is the local 0, the vectors are the locals 1 to 8, and the constant ones 9 and 10. */
const factor = 9;
const summand = 10;

/** An unsigned number in LEB128. */
function leb(value: number): number[] {
  const rest = Math.floor(value / 128);
  return rest === 0 ? [value] : [(value % 128) | 0x80, ...leb(rest)];
}

const simd = (code: number): number[] => [0xfd, ...leb(code)];
const section = (id: number, content: readonly number[]): number[] => [id, ...leb(content.length), ...content];
const name = (text: string): number[] => [text.length, ...[...text].map((letter) => letter.charCodeAt(0))];

/** A function: sets the vectors, passes through the loop, and returns a number that depends on all of them. */
function body(
  multiply: readonly number[],
  add: readonly number[],
  splat: readonly number[],
  constant: (value: number) => readonly number[],
  [times, plus]: readonly [times: number, plus: number],
): number[] {
  const set = (local: number, value: number) => [...constant(value), ...splat, localSet, local];
  const accumulators = Array.from({ length: vectors }, (_, place) => place + 1);
  const step = (local: number) => [
    localGet,
    local,
    localGet,
    factor,
    ...multiply,
    localGet,
    summand,
    ...add,
    localSet,
    local,
  ];
  const sum = accumulators.slice(1).flatMap((local) => [localGet, local, ...simd(0x51)]);
  const code = [
    // The locals: ten vectors.
    ...[1, vectors + 2, v128],
    // Each vector begins with its own number.
    ...accumulators.flatMap((local) => set(local, local)),
    ...set(factor, times),
    ...set(summand, plus),
    ...[0x03, 0x40],
    ...accumulators.flatMap(step),
    // The parameter counts down: local.get 0, i32.const 1, i32.sub, local.tee 0, br_if 0, end.
    ...[localGet, 0, 0x41, 1, 0x6b, 0x22, 0, 0x0d, 0, 0x0b],
    // The exclusive or of all vectors, and of that one lane as a whole number.
    ...[localGet, 1, ...sum],
    ...[...simd(0x1b), 0, 0x0b],
  ];
  return [...leb(code.length), ...code];
}

function moduleBytes(): Uint8Array<ArrayBuffer> {
  const float = (value: number) => [0x43, ...new Uint8Array(Float32Array.of(value).buffer)];
  const int = (value: number) => [0x41, value];
  // f32x4.mul, f32x4.add, f32x4.splat: x / 2 + 1 stays near 2, so no number becomes too large or too small to be fast.
  const floats = body(simd(0xe6), simd(0xe4), simd(0x13), float, [0.5, 1]);
  // i32x4.dot_i16x8_s, i32x4.add, i32x4.splat.
  const integers = body(simd(0xba), simd(0xae), simd(0x11), int, [3, 5]);
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
    ...section(1, [1, 0x60, 1, i32, 1, i32]),
    ...section(3, [2, 0, 0]),
    ...section(7, [2, ...name("float"), 0, 0, ...name("integer"), 0, 1]),
    ...section(10, [2, ...floats, ...integers]),
  ]);
}
