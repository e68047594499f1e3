/** Elements in memory as lanes of 32 bits, four to a vector, and back. */
import type { Code, Local } from "../assembler/code.ts";
import { type ElementType, elementBytes } from "../plan/plan.ts";

/** Pushes four elements as lanes. `offset`: bytes after the address. */
export function loadLanes(code: Code, type: ElementType, address: Local, offset: number): void {
  code.get(address);
  switch (type) {
    case "f32":
    case "i32":
      code.op("v128.load", offset);
      return;
    case "u16":
      code.op("v128.load16x4_u", offset);
      return;
    case "i16":
      code.op("v128.load16x4_s", offset);
      return;
    case "u8":
      code.op("v128.load32_zero", offset).op("i16x8.extend_low_i8x16_u").op("i32x4.extend_low_i16x8_u");
      return;
    case "i8":
      code.op("v128.load32_zero", offset).op("i16x8.extend_low_i8x16_s").op("i32x4.extend_low_i16x8_s");
  }
}

/** Pushes one element in every lane. */
export function loadSplat(code: Code, type: ElementType, address: Local, offset: number): void {
  code.get(address);
  if (type === "f32" || type === "i32") {
    code.op("v128.load32_splat", offset);
    return;
  }
  const loads = { u8: "i32.load8_u", i8: "i32.load8_s", u16: "i32.load16_u", i16: "i32.load16_s" } as const;
  code.op(loads[type], offset).op("i32x4.splat");
}

/** Stores the first `count` lanes of vectors. Their numbers are within the type's range. Their locals change. */
export function storeLanes(
  code: Code,
  type: ElementType,
  vectors: readonly Local[],
  address: Local,
  offset: number,
  count: number,
): void {
  const bytes = elementBytes[type];
  if (bytes === 4) {
    for (const [place, vector] of vectors.entries()) {
      const lanes = Math.min(4, count - 4 * place);
      if (lanes > 0) storeBytes(code, vector, address, offset + 16 * place, 4 * lanes);
    }
    return;
  }
  if (vectors.length > 16 / bytes / 4 || count > 4 * vectors.length)
    throw new RangeError(`${count} lanes do not fit a vector`);
  const pair = (first: number) => {
    const low = vectors[Math.min(first, vectors.length - 1)] ?? 0;
    code.get(low).get(vectors[first + 1] ?? low);
    code.op(type === "u16" ? "i16x8.narrow_i32x4_u" : "i16x8.narrow_i32x4_s");
  };
  const packed = vectors[0] ?? 0;
  if (bytes === 2) {
    pair(0);
    code.set(packed);
  } else {
    // Numbers of 16 bits with a sign hold those of either type of 8 bits.
    pair(0);
    if (vectors.length > 2) pair(2);
    else code.tee(packed).get(packed);
    code.op(type === "u8" ? "i8x16.narrow_i16x8_u" : "i8x16.narrow_i16x8_s").set(packed);
  }
  storeBytes(code, packed, address, offset, bytes * count);
}

/** Stores the first bytes of a vector, and no others. */
export function storeBytes(code: Code, vector: Local, address: Local, offset: number, bytes: number): void {
  if (bytes === 16) {
    code.get(address).get(vector).op("v128.store", offset);
    return;
  }
  const names = {
    8: "v128.store64_lane",
    4: "v128.store32_lane",
    2: "v128.store16_lane",
    1: "v128.store8_lane",
  } as const;
  let done = 0;
  for (const size of [8, 4, 2, 1] as const) {
    if (bytes - done < size) continue;
    code
      .get(address)
      .get(vector)
      .op(names[size], offset + done, done / size);
    done += size;
  }
}

/** Emits sum + a · b for vectors of floats; `factors` puts both on the stack. `relaxed`: the product need not be rounded first. */
export function emitMultiplyAdd(code: Code, relaxed: boolean, sum: Local, factors: () => void): void {
  if (relaxed) {
    factors();
    code.get(sum).op("f32x4.relaxed_madd");
    return;
  }
  code.get(sum);
  factors();
  code.op("f32x4.mul").op("f32x4.add");
}
