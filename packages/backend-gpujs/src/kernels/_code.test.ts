import { elementCount, stridesOf } from "@nnhal/operations";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Target, type Writer, writeStage } from "./_code.ts";
import { enclose, ravel } from "./_index.ts";
import { plainTarget, resultsOf } from "./_target.test-helper.ts";

describe("writeStage", () => {
  const tensor = { index: 7, type: "TENSOR_FLOAT32", dimensions: [2, 3, 4, 5], scale: 0, zeroPoint: 0 } as const;
  const grids: Target = { ...plainTarget, bakes: true };

  it("has the last axes along x and y, the others along z", () => {
    const { program, sources } = writeStage(tensor, grids, ({ read, at }) => read(tensor)(ravel(at, [60, 20, 5, 1])));
    expect(program.threads).toEqual([5, 4, 6]);
    expect(program.reads).toEqual([{ name: "a0", length: 120, width: 1, groups: 1 }]);
    expect(sources).toEqual([tensor]);
  });

  it("has all threads in one row if there are no grids, or coordinates are not used", () => {
    const write = () => "1";
    expect(writeStage(tensor, { ...grids, grids: false }, write).program.threads).toEqual([120]);
    expect(writeStage({ ...tensor, flat: true }, grids, write).program.threads).toEqual([120]);
  });

  it("has all threads in one row if blocks of a grid would have too many idle ones", () => {
    const threads = (dimensions: readonly number[], block: readonly [number, number]) =>
      writeStage({ dimensions }, { ...grids, block }, () => "1").program.threads;
    expect(threads([6, 2], [4, 1])).toEqual([12]);
    expect(threads([6, 4], [4, 1])).toEqual([4, 6]);
    expect(threads([4, 17], [4, 1])).toEqual([17, 4]);
    expect(threads([8, 7], [8, 8])).toEqual([7, 8]);
    expect(threads([7, 7], [8, 8])).toEqual([49]);
    expect(threads([1, 100], [8, 8])).toEqual([100]);
  });

  it("has no more threads along z than a GPU supports", () => {
    const threads = (dimensions: readonly number[]) => writeStage({ dimensions }, grids, () => "1").program.threads;
    expect(threads([65535, 2, 3])).toEqual([3, 2, 65535]);
    expect(threads([65536, 2, 3])).toEqual([3, 131072]);
  });

  it("converts indexes of literals to whole numbers, which WebGPU would treat as floats", () => {
    const { program } = writeStage({ dimensions: [1] }, { ...plainTarget, floats: true }, ({ index }) =>
      index("0 - 2"),
    );
    expect(program.body).toContain("n0 = 0 * n0 + (0 - 2);");
    expect(resultsOf(program)).toEqual([-2]);
  });

  it("reads no more values than WebGPU supports", () => {
    const many = (count: number) => () =>
      writeStage({ dimensions: [2] }, grids, ({ read }) =>
        Array.from({ length: count }, (_, index) => read({ ...tensor, index })("0")).join(" + "),
      );
    expect(many(7)().program.reads.length).toBe(7);
    expect(many(8)).toThrow("a kernel would read 8 values, more than 7");
  });

  it("reads a source by one name, and bakes packed numbers if the machine does", () => {
    const packed = { packed: Float32Array.of(1, 2) };
    const write = (bakes: boolean) =>
      writeStage({ dimensions: [4], width: 4 }, { ...grids, bakes }, ({ read, flat }) => {
        const element = `${read(tensor)(flat)} + ${read(tensor)("0")} + ${read(packed)("1")}`;
        return [element, "0", "0", "0"];
      });
    expect(write(true).program).toEqual({
      reads: [{ name: "a0", length: 120, width: 1, groups: 1 }],
      constants: { c1: packed.packed },
      body: "return [a0[(4 * this.thread.x)] + a0[0] + this.constants.c1[1], 0, 0, 0];",
      threads: [1],
      width: 4,
      groups: 1,
    });
    expect(write(false).program.constants).toEqual({});
    expect(write(false).sources).toEqual([tensor, packed]);
  });

  it("holds large constants if the machine does, and copies small ones", () => {
    const constant = (length: number) => ({ ...tensor, dimensions: [length], data: new Float32Array(length) });
    const constantsOf = (length: number, bakes: boolean) =>
      Object.keys(
        writeStage({ dimensions: [1] }, { ...grids, bakes }, ({ read }) => read(constant(length))("0")).program
          .constants,
      );
    expect(constantsOf(4096, true)).toEqual([]);
    expect(constantsOf(4097, true)).toEqual(["c0"]);
    expect(constantsOf(4097, false)).toEqual([]);
  });

  describe.each([true, false])("with floats as variables: %s", (floats) => {
    it("counts and divides whole numbers", () => {
      const { program } = writeStage({ dimensions: [3, 4] }, { ...grids, floats }, (writer) => {
        const { loop, line, variable, index, quotient, at } = writer;
        const sum = variable("0");
        const half = index(quotient(`${at[1]} + 1`, 2));
        loop(3, (turn) => loop(2, (inner) => line(`${sum} += 10 * ${turn} + ${inner} + ${half};`)));
        return `${sum} + 1000 * ${at[0]}`;
      });
      // Σ over turns 0, 1, 2 and inner 0, 1 is 63 and six times the half of x + 1.
      const inRow = [63, 69, 69, 75];
      expect(resultsOf(program)).toEqual([0, 1000, 2000].flatMap((more) => inRow.map((each) => each + more)));
    });
  });

  it("recognises conditions that differ among threads that are computed together", () => {
    const found: boolean[] = [];
    const write = ({ isDivided, index, at }: Writer) => {
      const [row, column] = [index(`${at[0]} - 1`), index(`${at[1]} - 1`)];
      const both = index(`${row} + ${column}`);
      found.push(...[row, column, both, `${at[1]} > 2`].map((place) => isDivided(`${place} >= 0`)));
      return "0";
    };
    writeStage({ dimensions: [8, 8] }, { ...grids, floats: true, lanes: true }, write);
    writeStage({ dimensions: [8, 8] }, { ...grids, floats: true, lanes: false }, write);
    expect(found).toEqual([false, true, true, true, false, false, false, false]);
  });

  describe("with four elements per thread", () => {
    const rows = { ...tensor, dimensions: [4, 3, 8] };
    const four = ({ four }: Writer) => four(rows, 8)("1", "1");
    const stage = (dimensions: readonly number[], target: Partial<Target>, write = four) =>
      writeStage({ dimensions, width: 4 }, { ...grids, ...target }, write).program;

    it("reads them one by one", () => {
      const { body, reads } = stage([4, 3, 8], {});
      expect(reads).toEqual([{ name: "a0", length: 96, width: 1, groups: 1 }]);
      expect(body).toBe("const d0 = (8 * 1 + 4 * 1);\nreturn [a0[d0], a0[(d0 + 1)], a0[(d0 + 2)], a0[(d0 + 3)]];");
    });

    it("reads them together if the machine does", () => {
      const { body, reads } = stage([4, 3, 8], { packs: true });
      expect(reads).toEqual([{ name: "a0", length: 96, width: 4, groups: 1 }]);
      expect(body).toBe("const d0 = a0[(2 * 1 + 1)];\nreturn [d0[0], d0[1], d0[2], d0[3]];");
    });

    it("makes and reads groups of columns from eight rows on if the machine does", () => {
      const made = stage([4, 3, 8], { groups: true });
      expect(made).toMatchObject({ threads: [12, 2], groups: 2, reads: [{ width: 1, groups: 2 }] });
      expect(made.body).toContain("4 * 1 + 48 * 1");
      expect(stage([7, 8], { groups: true })).toMatchObject({ threads: [2, 7], groups: 1, reads: [{ groups: 1 }] });
      expect(stage([8, 8], { groups: true })).toMatchObject({ threads: [8, 2], groups: 2, reads: [{ groups: 2 }] });
      // One group has the same order as row by row.
      expect(stage([8, 4], { groups: true })).toMatchObject({ threads: [8, 1], groups: 1, reads: [{ groups: 1 }] });
    });

    it("has rows along two axes if their number is nearly a multiple of four", () => {
      const threads = (width: number) => stage([2, 5, width, 8], { groups: true }).threads;
      expect(threads(4)).toEqual([4, 10, 2]);
      expect(threads(7)).toEqual([70, 2]);
      expect(threads(12)).toEqual([12, 10, 2]);
      expect(threads(11)).toEqual([110, 2]);
      expect(threads(13)).toEqual([13, 10, 2]);
    });

    it.each([{}, { groups: true }, { grids: false }, { packs: true, grids: false }, { floats: true }])(
      "finds each thread's place in the result: %o",
      (target) => {
        const dimensions = [2, 3, 5, 8];
        const strides = stridesOf(dimensions);
        const program = stage(dimensions, target, ({ at, flat, row, group }) => [
          flat,
          ravel(at, strides),
          `8 * ${row} + 4 * ${group}`,
          "0",
        ]);
        const found = resultsOf(program);
        // In groups all rows of four columns come before those of the next four.
        const expected = Array.from({ length: 60 }, (_, thread) => 4 * thread);
        const inGroups = expected.map((_, thread) => 8 * (thread % 30) + 4 * Math.floor(thread / 30));
        const places = program.groups > 1 ? inGroups : expected;
        expect(found).toEqual(places.map((place) => [place, place, place, 0]));
      },
    );
  });

  it("returns operands: no operator beside them changes their meaning, in any layout", () => {
    const axes = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 4 });
    const flags = fc.record({ grids: fc.boolean(), packs: fc.boolean(), groups: fc.boolean(), floats: fc.boolean() });
    const block = fc.constantFrom([1, 1] as const, [4, 1] as const, [8, 8] as const);
    fc.assert(
      fc.property(axes, fc.constantFrom(1, 4), flags, block, fc.boolean(), (outer, width, given, blocks, flat) => {
        const dimensions = outer.map((extent, axis) => (axis === outer.length - 1 ? extent * width : extent));
        const whole = { ...tensor, dimensions };
        const returned: string[] = [];
        const { program } = writeStage(
          { dimensions, width, flat },
          { ...plainTarget, ...given, block: blocks },
          (writer) => {
            const { row, flat, group, at, read, four, fourHere, truncate: part, single, quotient, index } = writer;
            returned.push(row, flat, group, ...at);
            for (const code of ["1 + 2", "1 > 0 ? 3 : 4", "3"]) {
              returned.push(read(whole)(code), part(code), single(code), index(code));
              returned.push(quotient(code, 1), quotient(code, 3));
            }
            if (width === 4)
              returned.push(...four(whole, dimensions[dimensions.length - 1])("0", group), ...fourHere(whole));
            const places = [row, flat, group, ...at];
            // Without a bracket around a sum, the first of a pair is not the second.
            const pairs = places.map((code) => `[8 * ${code} - (8 * (${code})), 9 - ${code} - (9 - (${code}))]`);
            const here = `[${pairs.join(", ")}]`;
            return width === 1 ? here : [here, "0", "0", "0"];
          },
        );
        expect(returned.filter((code) => enclose(code) !== code)).toEqual([]);
        const reads = program.reads.map(({ name }) => `const ${name} = [];\n`).join("");
        const results = resultsOf({ ...program, body: reads + program.body.replaceAll(/^const d\d+ = a\d.*$/gm, "") });
        expect(results.flat(3).filter((difference) => difference !== 0)).toEqual([]);
        expect(results.length).toBe(elementCount(dimensions) / width);
      }),
    );
  });
});
