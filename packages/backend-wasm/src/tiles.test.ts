/** The choice of tiles: which are timed and when, and that results are the same with all of them. */
import { caseFailure } from "@nnhal/backend/proof";
import { elementAt } from "@nnhal/operations";
import { describe, expect, it, vi } from "vitest";
import type { Plan, ProductStep } from "./plan/plan.ts";
import { type FactorKind, narrowSums, sumsToCompare } from "./plan/tiles.ts";
import { prepareCases } from "./self-check.ts";
import { chooseSums, timeTiles } from "./tile-times.ts";
import { createTiles, mostUntimed } from "./tiles.ts";
import { webAssembly } from "./web-assembly.ts";
import { connectCase } from "./wide.ts";

/** A plan of products with so many multiply-adds each. */
function planOf(...products: readonly (readonly [FactorKind, number])[]): Pick<Plan, "steps"> {
  const steps = products.map(([kind, work]) => {
    const source = { type: kind === "floats" ? "f32" : "u8" };
    return { kind: "product", source, rows: 1, depth: 1, columns: work } as ProductStep;
  });
  return { steps };
}

describe("the tiles of a session", () => {
  it("are those of the table until a plan has so many products that they matter", async () => {
    const time = vi.fn(async () => 16);
    const tiles = createTiles(time);
    const half = mostUntimed / 2;
    expect(await tiles.timed(planOf(["pairs", half], ["pairs", half - 1], ["floats", mostUntimed - 1]))).toBe(
      narrowSums,
    );
    expect(time).not.toHaveBeenCalled();
    expect(await tiles.timed(planOf(["pairs", half], ["pairs", half]))).toEqual({ pairs: 16, floats: 8 });
    expect(time.mock.calls).toEqual([["pairs"]]);
  });

  it("are timed for products of subgraphs too", async () => {
    const time = vi.fn(async () => 12);
    const { steps } = planOf(["floats", mostUntimed]);
    const branch: Plan["steps"][number] = {
      kind: "branch",
      name: "IF",
      condition: 0,
      yes: steps,
      no: [],
      units: 1,
      work: 0,
    };
    expect(await createTiles(time).timed({ steps: [branch] })).toEqual({ pairs: 8, floats: 12 });
  });

  it("are timed once for all networks, also for those that are prepared at the same time", async () => {
    const time = vi.fn(async (kind: FactorKind) => (kind === "floats" ? 12 : 8));
    const tiles = createTiles(time);
    const plan = planOf(["floats", mostUntimed], ["pairs", mostUntimed]);
    const [first, second] = await Promise.all([tiles.timed(plan), tiles.timed(plan)]);
    expect(first).toEqual({ pairs: 8, floats: 12 });
    expect(second).toBe(first);
    expect(await tiles.timed(plan)).toBe(first);
    expect(time).toHaveBeenCalledTimes(2);
  });

  it("are those of the table if the timing fails", async () => {
    const tiles = createTiles(() => Promise.reject(new RangeError("no memory")));
    expect(await tiles.timed(planOf(["floats", mostUntimed]))).toBe(narrowSums);
  });

  it("are not timed if a network from a cache has them", async () => {
    const time = vi.fn(async () => 8);
    const tiles = createTiles(time);
    tiles.keep({ floats: 16 });
    expect(tiles.sums()).toEqual({ pairs: 8, floats: 16 });
    expect(await tiles.timed(planOf(["floats", mostUntimed]))).toEqual({ pairs: 8, floats: 16 });
    expect(time).not.toHaveBeenCalled();
    // Those that are timed here stay.
    tiles.keep({ floats: 12, pairs: 12 });
    expect(tiles.known()).toEqual({ pairs: 12, floats: 16 });
  });

  it("are not taken from a cache if the planner does not have them", () => {
    const tiles = createTiles(async () => 8);
    tiles.keep({ floats: 1e9, pairs: Number.NaN });
    expect(tiles.sums()).toBe(narrowSums);
  });
});

const machine = () => {
  const api = webAssembly();
  if (api === undefined) throw new Error("there is no WebAssembly");
  return { api };
};

describe("the timing", () => {
  it("finds one of the numbers that are compared", async () => {
    expect(sumsToCompare).toContain(await timeTiles(machine(), "pairs"));
    expect(sumsToCompare).toContain(await timeTiles(machine(), "floats"));
  });

  it("takes another number than that of the table only if it is clearly faster", () => {
    expect(chooseSums([100, 98, 120])).toBe(8);
    expect(chooseSums([100, 97, 98])).toBe(12);
    expect(chooseSums([100, 97, 90])).toBe(16);
  });
});

describe.each([
  ["floats", true],
  ["pairs", false],
] as const)("products of %s", (kind, isFloat) => {
  it.each([
    [48, 64, 32],
    [13, 39, 53],
    [7, 5, 20],
    [3, 16, 40],
    [1, 30, 9],
  ])("have the same bits with all tiles: %i rows, depth %i, %i columns", async (rows, depth, columns) => {
    const product = connectCase(isFloat, rows, depth, columns, 0);
    const resultsWith = async (sums: number) => {
      const tiles = createTiles(async () => sums);
      tiles.keep({ [kind]: sums });
      expect(tiles.sums()[kind]).toBe(sums);
      const prepared = await prepareCases({ ...machine(), tiles }, [product]);
      prepared.compute();
      prepared.close();
      return prepared.results().get(product) ?? [];
    };
    const expected = await resultsWith(elementAt(sumsToCompare, 0));
    expect(expected).toHaveLength(rows * columns);
    for (const sums of sumsToCompare.slice(1)) {
      const results = await resultsWith(sums);
      expect(caseFailure({ ...product, expected: Array.from(expected) }, results)).toBeUndefined();
      expect(results).toEqual(expected);
    }
  });
});
