/** Control, numbers and names: modules that are run. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { webAssembly } from "../web-assembly.ts";
import { createWriter } from "./bytes.ts";
import { type Code, writeCode } from "./code.ts";
import type { ValueType } from "./instructions.ts";
import { addInstructions } from "./instructions.ts";
import { writeModule } from "./module.ts";
import { others } from "./others.ts";

addInstructions(others);

async function functionOf(params: readonly ValueType[], results: readonly ValueType[], write: (code: Code) => void) {
  const api = webAssembly();
  if (api === undefined) throw new Error("there is no WebAssembly");
  const bytes = writeModule({ module: "env", name: "memory", pages: 1 }, [
    { name: "run", params, results, isExported: true, write },
  ]);
  const memory = new api.Memory({ initial: 1 });
  const { run } = new api.Instance(await api.compile(bytes), { env: { memory } }).exports;
  if (typeof run !== "function") throw new Error("run is not exported");
  return (...args: unknown[]): unknown => run(...args);
}

describe("blocks", () => {
  it("are left and repeated by their labels, however deep the branch is", async () => {
    // The sum of odd numbers below the parameter, but at most up to 100.
    const sum = await functionOf(["i32"], ["i32"], (code) => {
      const [at, total] = [code.local("i32"), code.local("i32")];
      code.block((end) => {
        code.loop((again) => {
          code.get(at).get(0).op("i32.ge_s").brIf(end);
          code.get(at).i32(1).op("i32.and");
          code.if(() => {
            code.get(total).get(at).op("i32.add").tee(total);
            code.i32(100).op("i32.gt_s").brIf(end);
          });
          code.get(at).i32(1).op("i32.add").set(at).br(again);
        });
      });
      code.get(total);
    });
    expect([0, 1, 2, 6, 1000].map((count) => sum(count))).toEqual([0, 0, 1, 9, 121]);
  });

  it("choose by conditions and tables", async () => {
    const choose = await functionOf(["i32"], ["i32"], (code) => {
      code.block((second) => {
        code.block((first) => {
          code.get(0).op("br_table", [0, 1], 1);
          expect(first.depth).toBe(second.depth + 1);
        });
        code.i32(10).op("return");
      });
      code.get(0).i32(5).op("i32.eq");
      code.if(
        () => code.i32(50),
        () => code.i32(20),
        "i32",
      );
    });
    expect([0, 1, 5, 7].map((place) => choose(place))).toEqual([10, 20, 50, 20]);
  });
});

describe("numbers", () => {
  it("are constants of 32 and 64 bits and floats", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer(),
        fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
        fc.float(),
        async (whole, wide, real) => {
          const run = await functionOf([], ["i32", "i64", "f32", "f64"], (code) => {
            code.i32(whole).op("i64.const", wide).op("f32.const", real).op("f64.const", real);
          });
          expect(run()).toEqual([whole, wide, real, real]);
        },
      ),
      { numRuns: 60 },
    );
  });

  it("are refused if they do not fit", () => {
    const write = (value: number) => () => writeCode([], (code) => code.i32(value));
    for (const value of [-(2 ** 31), 2 ** 32 - 1]) expect(write(value)).not.toThrow();
    for (const value of [-(2 ** 31) - 1, 2 ** 32, 0.5]) expect(write(value)).toThrow(RangeError);
    expect(() => createWriter().writeUnsigned(-1)).toThrow("-1 is not a valid unsigned number");
    expect(() => createWriter().writeUnsigned(2 ** 32)).toThrow(RangeError);
    expect(() => writeCode([], (code) => code.op("v128.const", [1, 2]))).toThrow("expected 16 bytes, got 2");
  });
});
