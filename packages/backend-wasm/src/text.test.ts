/** The text of modules: an assembler from elsewhere makes the same code of it. */
import { viewModel } from "@nnhal/backend";
import { addModel, floorModel } from "@nnhal/test-kit/models";
import { describe, expect, it } from "vitest";
import initWabt from "wabt";
import type { FunctionSpec } from "./assembler/module.ts";
import { writeModule } from "./assembler/module.ts";
import { textOf } from "./assembler/text.ts";
import { emitModule } from "./emit/emit.ts";
import { planGraph } from "./plan/plan-graph.ts";
import { moduleText } from "./text.ts";

/** The bytes of a module in the shortest form. */
async function codeOf(
  read: (wabt: Awaited<ReturnType<typeof initWabt>>) => { toBinary(options: object): { buffer: Uint8Array } },
) {
  const module = read(await initWabt());
  return Buffer.from(module.toBinary({ write_debug_names: false, canonicalize_lebs: true }).buffer).toString("hex");
}

const features = { simd: true, sat_float_to_int: true, bulk_memory: true, sign_extension: true };

async function expectSame(text: string, bytes: Uint8Array): Promise<void> {
  const ofText = await codeOf((wabt) => wabt.parseWat("module.wat", text, features));
  const ofBytes = await codeOf((wabt) => wabt.readWasm(bytes, { ...features, readDebugNames: false }));
  // The names of functions follow the code.
  expect(ofText).toBe(ofBytes.slice(0, ofText.length));
}

describe("the text of a module", () => {
  it("is that of its bytes", async () => {
    const graph = viewModel({ model: addModel([3, 5]), pools: [] });
    const plan = planGraph(graph, [
      [3, 5],
      [3, 5],
    ]);
    const text = await moduleText(graph);
    await expectSame(text, emitModule(plan));
    expect(text).toContain('(export "0 ADD" (func $0_ADD))');
    expect(text).toMatch(/;; elementwise: 1 units of \d+\n {2}\(func \$0_ADD \(param i32 i32\)/);
    expect(text).toMatch(
      /^;; input 0: 60 bytes at \d+\n;; input 1: 60 bytes at \d+\n;; output 0: 60 bytes at \d+\n\(module\n/,
    );
  });

  it("has all forms of immediates", async () => {
    const memory = { module: "env", name: "memory", pages: 1 };
    const functions: FunctionSpec[] = [
      {
        name: 'a "name"',
        params: ["i32"],
        results: ["i32"],
        isExported: true,
        write(code) {
          const vector = code.local("v128");
          code.op("v128.const", [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 255]).set(vector);
          code
            .get(vector)
            .get(vector)
            .op("i8x16.shuffle", [0, 31, 1, 30, 2, 29, 3, 28, 4, 27, 5, 26, 6, 25, 7, 24])
            .set(vector);
          code.get(0).get(vector).op("v128.store8_lane", 70_000, 5);
          code.op("f64.const", Number.NEGATIVE_INFINITY).op("f32.const", -0).op("f64.promote_f32").op("f64.add");
          code
            .op("f64.const", 5e-324)
            .op("f64.ne")
            .if(
              () => code.i32(-7).set(0),
              () => code.i32(2 ** 31).set(0),
            );
          code
            .op("i64.const", -(2n ** 63n))
            .op("i64x2.splat")
            .set(vector);
          code.block((done) => {
            code.loop((again) => code.get(0).brIf(done).br(again));
          });
          code.get(0).if(
            () => code.i32(1),
            () => code.get(0).op("call", 1),
            "i32",
          );
        },
      },
      { name: "b", params: ["i32"], results: ["i32"], isExported: false, write: (code) => void code.get(0) },
    ];
    await expectSame(textOf(memory, functions), writeModule(memory, functions));
  });

  it("is refused with the reason", async () => {
    const open = viewModel({ model: floorModel({ dimensions: [0] }), pools: [] });
    await expect(moduleText(open)).rejects.toThrow(
      "input 0 has extents that are open, and a module is made for certain ones",
    );
  });
});
