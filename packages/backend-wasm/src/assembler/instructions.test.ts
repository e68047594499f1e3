/** Every instruction: a module of it validates, a disassembler from elsewhere reads its name, and it computes what the specification says. */
import { describe, expect, it } from "vitest";
import initWabt from "wabt";
import { webAssembly } from "../web-assembly.ts";
import type { Code } from "./code.ts";
import { immediateForms, type Row } from "./instruction.ts";
import { addInstructions, tables as used, type ValueType } from "./instructions.ts";
import { lanesOf, resultOf } from "./lanes.test-helper.ts";
import { type FunctionSpec, writeModule } from "./module.ts";
import { others } from "./others.ts";

addInstructions(others);
const tables = [...used, ...others];

const letters: Readonly<Record<string, ValueType>> = { i: "i32", l: "i64", f: "f32", d: "f64", v: "v128" };
const loads = { i32: "i32.load", i64: "i64.load", f32: "f32.load", f64: "f64.load", v128: "v128.load" } as const;
const stores = { i32: "i32.store", i64: "i64.store", f32: "f32.store", f64: "f64.store", v128: "v128.store" } as const;

/** Where operands begin, where results go, and where instructions read and write memory. */
const [operandsAt, resultAt, placeAt] = [0, 64, 128];
const offset = 16;
const lane = 1;
const shuffle = [0, 31, 1, 30, 2, 29, 3, 28, 4, 27, 5, 26, 6, 25, 7, 24];
const constants = { i32: -123456789, i64: -1234567890123456789n, f32: 1.5, f64: Math.PI, bytes16: shuffle };

/** Immediates of any instruction that has a signature. */
function immediatesOf(row: Row): unknown[] {
  return immediateForms[row[2] ?? "none"].flatMap((part) => {
    if (part === "align" || part === "zero") return [];
    if (part === "offset") return [offset];
    if (part === "lane") return [lane];
    return [constants[part as keyof typeof constants]];
  });
}

/** An instruction with immediates that the types of `op` cannot follow: the name comes from a table. */
function append(code: Code, name: string, immediates: readonly unknown[]): void {
  (code.op as (name: string, ...immediates: unknown[]) => Code)(name, ...immediates);
}

/** A function that reads the operands of an instruction from memory, and stores its result. */
function functionOf(name: string, row: Row): FunctionSpec {
  const [operands = "", results = ""] = (row[1] ?? "").split(":");
  return {
    name: name.replaceAll(".", "_"),
    params: [],
    results: [],
    isExported: true,
    write(code) {
      code.i32(0);
      for (const [place, letter] of [...operands].entries()) {
        const isAddress = place === 0 && row[2]?.startsWith("memory") && row[2] !== "memoryIndex";
        if (isAddress) code.i32(placeAt);
        else code.i32(0).op(loads[letters[letter] ?? "i32"], operandsAt + 16 * place);
      }
      append(code, name, immediatesOf(row));
      const result = letters[results];
      if (result === undefined) code.op("drop");
      else code.op(stores[result], resultAt);
    },
  };
}

const isRelaxed = (rows: Readonly<Record<string, Row>>) => Object.keys(rows).some((name) => name.includes("relaxed"));
const withSignature = (rows: Readonly<Record<string, Row>>) =>
  Object.entries(rows).filter(([, row]) => row[1] !== undefined);
const memory = { module: "env", name: "memory", pages: 1 };

/** Vectors with small, extreme and odd lanes of every type; floats are numbers, not NaN. */
const samples: readonly Uint8Array[] = [
  new Uint8Array(Float32Array.of(1.5, -2.5, 0.5, -0.0).buffer),
  new Uint8Array(Float32Array.of(-3.7, 2.5, 1e10, 7).buffer),
  new Uint8Array(Float64Array.of(2.5, -1e12).buffer),
  new Uint8Array(Float64Array.of(-0.75, 3.25).buffer),
  new Uint8Array(Int16Array.of(-32768, 32767, -1, 1, 0, 255, -255, 12345).buffer),
  new Uint8Array(Int16Array.of(-32768, -32768, 5, -7, 9, 16, 3, 2).buffer),
  Uint8Array.of(1, 2, 3, 4, 250, 128, 127, 255, 0, 17, 130, 15, 16, 200, 100, 63),
  Uint8Array.of(5, 0, 0, 0, 0, 0, 0, 0, 255, 255, 3, 2, 1, 0, 128, 127),
];

async function instanceOf(functions: readonly FunctionSpec[], shared = false) {
  const api = webAssembly();
  if (api === undefined) throw new Error("there is no WebAssembly");
  const options = shared ? { ...memory, maximum: 1, shared } : memory;
  const wasm = new api.Memory(shared ? { initial: 1, maximum: 1, shared } : { initial: 1 });
  const module = await api.compile(writeModule(options, functions));
  const { exports } = new api.Instance(module, { env: { memory: wasm } });
  return { bytes: new Uint8Array(wasm.buffer), exports, memory: wasm };
}

function call(exports: Readonly<Record<string, unknown>>, name: string): unknown {
  const exported = exports[name.replaceAll(".", "_")];
  if (typeof exported !== "function") throw new Error(`${name} is not exported`);
  return exported();
}

describe.each(tables.map((table, place) => [place, table] as const))("table %i", (_, { rows, prefix }) => {
  const functions = withSignature(rows).map(([name, row]) => functionOf(name, row));
  const isShared = prefix === 0xfe;

  it("is read by a disassembler with the same names", async () => {
    const wabt = await initWabt();
    const options = isShared ? { ...memory, maximum: 1, shared: true } : memory;
    const module = wabt.readWasm(writeModule(options, functions), {
      simd: true,
      relaxed_simd: true,
      threads: true,
      sat_float_to_int: true,
      sign_extension: true,
      bulk_memory: true,
      readDebugNames: true,
    });
    const text = module.toText({});
    for (const [name] of withSignature(rows)) {
      const body = text.split(`(func $${name.replaceAll(".", "_")} `)[1]?.split("(func ")[0] ?? "";
      expect(body.split(/[\s()]+/), body).toContain(name);
    }
  });

  it("is valid", ({ skip }) => {
    const options = isShared ? { ...memory, maximum: 1, shared: true } : memory;
    const isValid = webAssembly()?.validate(writeModule(options, functions)) === true;
    skip(!isValid && isRelaxed(rows), "this engine has no relaxed SIMD");
    expect(isValid).toBe(true);
  });
});

/** Instructions of numbers and vectors that neither touch memory nor have immediates. */
const pure = tables.flatMap(({ rows }) =>
  isRelaxed(rows) ? [] : withSignature(rows).filter(([, row]) => (row[2] ?? "none") === "none" && row[1] !== ":"),
);

/** Divisors are not 0, and what is truncated without saturation is in range. */
const traps = /\.(div|rem)_|\.trunc_f/;

describe("instructions of numbers and vectors", () => {
  it("compute what the specification says", async () => {
    const { bytes, exports } = await instanceOf(pure.map(([name, row]) => functionOf(name, row)));
    let count = 0;
    for (const [name, [, signature = ""]] of pure) {
      const places = traps.test(name) ? [[4, 6]] : samples.flatMap((_, a) => samples.map((__, b) => [a, b]));
      for (const [a = 0, b = 0] of places) {
        const first = /\.trunc_f64/.test(name) ? 3 : /\.trunc_f/.test(name) ? 0 : a;
        const operands = [first, b, (a + b) % samples.length].map((place) =>
          (samples[place] ?? new Uint8Array(16)).slice(),
        );
        if (/\.trunc_f\d+_u/.test(name))
          operands[0] = new Uint8Array(
            name.includes("f32") ? Float32Array.of(3.7, 0, 0, 0).buffer : Float64Array.of(3.7, 0).buffer,
          );
        for (const [place, operand] of operands.entries()) bytes.set(operand, operandsAt + 16 * place);
        bytes.fill(0, resultAt, resultAt + 16);
        call(exports, name);
        const expected = resultOf(name, operands.slice(0, signature.indexOf(":")));
        const actual = bytes.slice(resultAt, resultAt + 16);
        const size = { i: 4, l: 8, f: 4, d: 8, v: 16 }[signature.at(-1) ?? "v"] ?? 16;
        const shape = /^f(32x4|64x2|32|64)/.exec(name)?.[0];
        // The bits of a NaN are open.
        if (shape === undefined || /\.(eq|ne|lt|gt|le|ge)$/.test(name))
          expect([...actual.slice(0, size)], `${name} of ${a} and ${b}`).toEqual([...expected.slice(0, size)]);
        else expect(lanesOf(shape, actual), `${name} of ${a} and ${b}`).toEqual(lanesOf(shape, expected));
        count++;
      }
    }
    expect(count).toBeGreaterThan(10_000);
  });
});

/** Results of instructions that have immediates or touch memory: from what is in memory and the operands. */
describe("instructions with immediates", () => {
  const rows = tables.flatMap(({ rows }) =>
    withSignature(rows).filter(
      ([, row]) => row[2] !== undefined && row[2] !== "memoryIndex" && row[2] !== "twoMemoryIndexes",
    ),
  );
  const content = Uint8Array.from({ length: 16 }, (_, place) => 0x91 + 7 * place);
  const operand = Uint8Array.from({ length: 16 }, (_, place) => 0x83 ^ (place * 29));
  const laneOf = (bytes: Uint8Array, bits: number) => bytes.slice((lane * bits) / 8, ((lane + 1) * bits) / 8);
  const pad = (bytes: Iterable<number>) => [...bytes, ...new Array(16).fill(0)].slice(0, 16);

  /** The result and what is in memory afterwards. */
  function expectedOf(name: string, signature: string): { result: number[]; memory: number[] } {
    const kept = [...content];
    const [type = "", ...parts] = name.split(".");
    const operation = parts.join(".");
    const bitsOfType = { i32: 32, i64: 64, f32: 32, f64: 64, v128: 128 }[type] ?? 0;
    const wide = (bits: number, sign: string | undefined, from = content) => {
      const extension = sign === "s" && (from[bits / 8 - 1] ?? 0) >= 128 ? 255 : 0;
      return [...from.slice(0, bits / 8), ...new Array(16).fill(extension)].slice(0, bitsOfType / 8 || 16);
    };
    let match = /^load(\d*)(?:_([su]))?$/.exec(operation);
    if (match) return { result: pad(wide(Number(match[1]) || bitsOfType, match[2])), memory: kept };
    match = /^store(\d*)$/.exec(operation);
    if (match) {
      const size = (Number(match[1]) || bitsOfType) / 8;
      return { result: pad([]), memory: [...operand.slice(0, size), ...kept.slice(size)] };
    }
    match = /^load(\d+)x(\d+)_([su])$/.exec(operation);
    if (match) {
      const [bits, count] = [Number(match[1]), Number(match[2])];
      const lanes = Array.from({ length: count }, (_, place) => {
        const part = content.slice((place * bits) / 8, ((place + 1) * bits) / 8);
        const isNegative = match?.[3] === "s" && (part.at(-1) ?? 0) >= 128;
        return [...part, ...new Array(bits / 8).fill(isNegative ? 255 : 0)];
      });
      return { result: lanes.flat(), memory: kept };
    }
    match = /^load(\d+)_(splat|zero)$/.exec(operation);
    if (match) {
      const part = [...content.slice(0, Number(match[1]) / 8)];
      const repeated = Array.from({ length: 16 / part.length }, () => part).flat();
      return { result: match[2] === "splat" ? repeated : pad(part), memory: kept };
    }
    match = /^load(\d+)_lane$/.exec(operation);
    if (match) {
      const bits = Number(match[1]);
      const result = [...operand];
      result.splice((lane * bits) / 8, bits / 8, ...content.slice(0, bits / 8));
      return { result, memory: kept };
    }
    match = /^store(\d+)_lane$/.exec(operation);
    if (match) {
      const bits = Number(match[1]);
      return { result: pad([]), memory: [...laneOf(operand, bits), ...kept.slice(bits / 8)] };
    }
    match = /^i(\d+)x|^f(\d+)x/.exec(type);
    if (match && operation.startsWith("extract_lane")) {
      const bits = Number(match[1] ?? match[2]);
      const part = laneOf(operand, bits);
      const isNegative = operation.endsWith("_s") && (part.at(-1) ?? 0) >= 128;
      const size = Math.max(4, bits / 8);
      return { result: pad([...part, ...new Array(8).fill(isNegative ? 255 : 0)].slice(0, size)), memory: kept };
    }
    if (match && operation === "replace_lane") {
      const bits = Number(match[1] ?? match[2]);
      const result = [...operand];
      result.splice((lane * bits) / 8, bits / 8, ...operand.slice(0, bits / 8));
      return { result, memory: kept };
    }
    if (operation === "shuffle") return { result: shuffle.map((at) => operand[at % 16] ?? 0), memory: kept };
    if (operation === "const") {
      const view = new DataView(new ArrayBuffer(16));
      if (type === "v128") return { result: shuffle, memory: kept };
      if (type === "i32") view.setInt32(0, constants.i32, true);
      else if (type === "i64") view.setBigInt64(0, constants.i64, true);
      else if (type === "f32") view.setFloat32(0, constants.f32, true);
      else view.setFloat64(0, constants.f64, true);
      return { result: [...new Uint8Array(view.buffer)], memory: kept };
    }
    return atomicResult(type, operation, signature);
  }

  function atomicResult(type: string, operation: string, signature: string): { result: number[]; memory: number[] } {
    const kept = [...content];
    const bitsOfType = type === "i64" ? 64 : 32;
    if (operation === "atomic.notify") return { result: pad([]), memory: kept };
    const match = /^(?:atomic\.)?(load|store|rmw)(\d*)(?:\.(\w+?))?(?:_u)?$/.exec(operation);
    if (match === null) throw new Error(`${type}.${operation} has no expectation`);
    const bits = Number(match[2]) || bitsOfType;
    const shape = `i${bits}`;
    const before = BigInt(lanesOf(shape, content)[0] ?? 0n);
    const given = BigInt(lanesOf(shape, operand)[0] ?? 0n);
    const old = pad(match[1] === "store" ? [] : content.slice(0, bits / 8));
    const after = {
      add: before + given,
      sub: before - given,
      and: before & given,
      or: before | given,
      xor: before ^ given,
      xchg: given,
      // The compared value differs from the one in memory.
      cmpxchg: before,
    }[match[3] ?? ""];
    const value = match[1] === "load" ? before : match[1] === "store" ? given : (after ?? 0n);
    expect(signature).toContain(":");
    const written = Array.from({ length: bits / 8 }, (_, byte) =>
      Number((BigInt.asUintN(bits, value) >> BigInt(8 * byte)) & 255n),
    );
    return { result: old, memory: [...written, ...kept.slice(bits / 8)] };
  }

  it("read, write and keep what they should", async () => {
    // Waiting on the main thread of a browser is not allowed, and blocks here.
    const run = rows.filter(([name]) => !/atomic\.wait/.test(name));
    const { bytes, exports } = await instanceOf(
      run.map(([name, row]) => functionOf(name, row)),
      true,
    );
    for (const [name, row] of run) {
      bytes.set(operand, operandsAt);
      bytes.set(operand, operandsAt + 16);
      bytes.set(operand, operandsAt + 32);
      bytes.set(content, placeAt + offset);
      bytes.fill(0, resultAt, resultAt + 16);
      call(exports, name);
      const { result, memory: after } = expectedOf(name, row[1] ?? "");
      const size = { i: 4, l: 8, f: 4, d: 8, v: 16 }[(row[1] ?? "").split(":")[1] ?? ""] ?? 0;
      expect([...bytes.slice(resultAt, resultAt + size)], name).toEqual(result.slice(0, size));
      expect([...bytes.slice(placeAt + offset, placeAt + offset + 16)], name).toEqual(after);
    }
    expect(run.length).toBeGreaterThan(120);
  });
});

describe("memory instructions", () => {
  it("copy, fill and grow", async () => {
    const { exports, memory: wasm } = await instanceOf([
      {
        name: "copy",
        params: [],
        results: ["i32"],
        isExported: true,
        write(code) {
          code.i32(256).i32(7).i32(5).op("memory.fill");
          code.i32(300).i32(256).i32(5).op("memory.copy");
          code.op("memory.size").i32(2).op("memory.grow").op("i32.add").op("memory.size").op("i32.add");
        },
      },
    ]);
    // One page before, as growing returns, and three after.
    expect(call(exports, "copy")).toBe(1 + 1 + 3);
    expect([...new Uint8Array(wasm.buffer, 299, 7)]).toEqual([0, 7, 7, 7, 7, 7, 0]);
  });
});
