import { describe, expect, it } from "vitest";
import { type Machine, type ModeName, modeNames, type Program } from "./machine.ts";
import { openMachine } from "./open.ts";

/** The machine of a mode, or why there is none. */
async function machineOf(mode: ModeName): Promise<Machine | string> {
  const opened = await openMachine(mode);
  return "machine" in opened ? opened.machine : opened.unavailable;
}

const scale = (length: number, by: number): Program => ({
  reads: [{ name: "a", length, width: 1, groups: 1 }],
  constants: {},
  body: `return a[this.thread.x] * ${by};`,
  threads: [length],
  width: 1,
  groups: 1,
});

describe.each(modeNames)("mode %s", (mode) => {
  it("runs programs on values, and frees values without a holder", async ({ skip }) => {
    const machine = await machineOf(mode);
    if (typeof machine === "string") return skip(machine);
    const before = machine.statistics.values;
    const elements = Float32Array.of(1, 2, 3);
    const input = machine.place(elements);
    elements.fill(0);
    const program = machine.compile(scale(3, 2));
    const output = await program.run([input]);
    const twice = await program.run([output]);
    expect([...(await output.read())]).toEqual([2, 4, 6]);
    expect([...(await twice.read())]).toEqual([4, 8, 12]);
    expect([...(await input.hold().read())]).toEqual([1, 2, 3]);
    const nothing = machine.place([]);
    expect([...(await nothing.read())]).toEqual([]);
    for (const value of [output, twice, input, nothing]) value.release();
    expect(machine.statistics.values).toBe(before + 1);
    input.release();
    expect(machine.statistics.values).toBe(before);
    program.close();
    machine.close();
  });

  it("reads results of grids, and of four elements per thread, as one list", async ({ skip }) => {
    const machine = await machineOf(mode);
    if (typeof machine === "string") return skip(machine);
    const threads = machine.grids ? [2, 3, 2] : [12];
    const flat = machine.grids ? "this.thread.x + 2 * this.thread.y + 6 * this.thread.z" : "this.thread.x";
    const element = (place: number) => `a[0] + 4 * (${flat}) + ${place}`;
    const program = machine.compile({
      reads: [{ name: "a", length: 1, width: 1, groups: 1 }],
      constants: {},
      body: `return [${[0, 1, 2, 3].map(element).join(", ")}];`,
      threads,
      width: 4,
      groups: 1,
    });
    const input = machine.place([5]);
    const output = await program.run([input]);
    expect([...(await output.read())]).toEqual(Array.from({ length: 48 }, (_, index) => 5 + index));
    // A value that was computed in a grid is read by index.
    const next = machine.compile(scale(48, 1));
    const same = await next.run([output]);
    expect([...(await same.read())].slice(-2)).toEqual([51, 52]);
    machine.close();
  });

  it("ends no loop early", async ({ skip }) => {
    const machine = await machineOf(mode);
    if (typeof machine === "string") return skip(machine);
    const program = machine.compile({
      reads: [{ name: "a", length: 1, width: 1, groups: 1 }],
      constants: {},
      body: "let sum = 0; for (let i = 0; i < a[0]; i++) { sum += 1; } return sum;",
      threads: [1],
      width: 1,
      groups: 1,
    });
    const input = machine.place([5000]);
    const output = await program.run([input]);
    expect([...(await output.read())]).toEqual([5000]);
    machine.close();
  });
});

describe("forms of a value", () => {
  it("are one and four elements per pixel in OpenGL", async ({ skip }) => {
    const machine = await machineOf("headlessgl");
    if (typeof machine === "string") return skip(machine);
    expect(machine.packs).toBe(true);
    const byFour: Program = {
      reads: [{ name: "a", length: 8, width: 4, groups: 1 }],
      constants: {},
      body: "const four = a[this.thread.x]; return [four[3] + 1, four[2] + 1, four[1] + 1, four[0] + 1];",
      threads: [2],
      width: 4,
      groups: 1,
    };
    const input = machine.place(Float32Array.from({ length: 8 }, (_, index) => index));
    const turned = await machine.compile(byFour).run([input]);
    expect([...(await turned.read())]).toEqual([4, 3, 2, 1, 8, 7, 6, 5]);
    const doubled = await machine.compile(scale(8, 2)).run([turned]);
    expect([...(await doubled.read())]).toEqual([8, 6, 4, 2, 16, 14, 12, 10]);
    const back = await machine.compile(byFour).run([doubled]);
    expect([...(await back.read())]).toEqual([3, 5, 7, 9, 11, 13, 15, 17]);
    const same = await machine.compile(scale(8, 1)).run([input]);
    expect([...(await same.read())]).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    machine.close();
  });

  it("are rows and groups of columns in WebAssembly", async ({ skip }) => {
    const machine = await machineOf("webasm");
    if (typeof machine === "string") return skip(machine);
    expect(machine.groups).toBe(true);
    // Rows of eight columns: [[0 … 7], [8 … 15]].
    const elements = Float32Array.from({ length: 16 }, (_, index) => index);
    const grouped = [0, 1, 2, 3, 8, 9, 10, 11, 4, 5, 6, 7, 12, 13, 14, 15];
    const copy = (groups: number): Program => ({
      ...scale(16, 1),
      reads: [{ name: "a", length: 16, width: 1, groups }],
    });
    const input = machine.place(elements);
    expect([...(await (await machine.compile(copy(2)).run([input])).read())]).toEqual(grouped);
    const element = (place: number) => `a[4 * (this.thread.x + 2 * this.thread.y) + ${place}]`;
    const made = await machine
      .compile({
        ...copy(2),
        body: `return [${[0, 1, 2, 3].map(element).join(", ")}];`,
        threads: [2, 2],
        width: 4,
        groups: 2,
      })
      .run([input]);
    expect([...(await (await machine.compile(copy(2)).run([made])).read())]).toEqual(grouped);
    expect([...(await (await machine.compile(copy(1)).run([made])).read())]).toEqual([...elements]);
    expect([...(await made.read())]).toEqual([...elements]);
    machine.close();
  });
});

describe("programs", () => {
  it("are compiled once if they are the same", async () => {
    const machine = await machineOf("cpu");
    if (typeof machine === "string") throw new Error(machine);
    const { compiled } = machine.statistics;
    const programs = [scale(3, 7), scale(3, 7), scale(4, 7), scale(3, 8)].map((each) => machine.compile(each));
    expect(machine.statistics.compiled - compiled).toBe(3);
    for (const program of programs) program.close();
    machine.compile(scale(3, 7)).close();
    expect(machine.statistics.compiled - compiled).toBe(3);
    // Other programs replace those that are not in use.
    for (let by = 100; by < 200; by++) machine.compile(scale(3, by)).close();
    machine.compile(scale(3, 7)).close();
    expect(machine.statistics.compiled - compiled).toBe(104);
    machine.close();
  });

  it("hold constant numbers if the mode copies arguments", async () => {
    const machine = await machineOf("webasm");
    if (typeof machine === "string") throw new Error(machine);
    expect(machine.bakes).toBe(true);
    const program = machine.compile({
      reads: [{ name: "a", length: 2, width: 1, groups: 1 }],
      constants: { c0: Float32Array.of(10, 20) },
      body: "return a[this.thread.x] + this.constants.c0[this.thread.x];",
      threads: [2],
      width: 1,
      groups: 1,
    });
    const output = await program.run([machine.place([1, 2])]);
    expect([...(await output.read())]).toEqual([11, 22]);
    machine.close();
  });
});
