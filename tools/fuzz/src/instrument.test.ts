import { describe, expect, it } from "vitest";
import { countsName, createCoverage } from "./coverage.ts";
import { createEngine } from "./engine.ts";
import { instrument } from "./instrument.ts";
import { createRandom } from "./random.ts";

/** An instrumented function, with its counters. */
function load(body: string): {
  run(...given: unknown[]): unknown;
  readonly counts: Uint8Array;
  readonly places: number;
} {
  const { code, lines } = instrument(`function run(...given: any[]) {\n${body}\n}`, "source.ts", 0);
  const counts = new Uint8Array(64);
  const run: unknown = new Function(countsName, `${code.replace(/\/\/# sourceMapping.*/, "")}\nreturn run;`)(counts);
  if (typeof run !== "function") throw new TypeError("the source has no function");
  return { run: (...given) => run(...given), counts, places: lines.length };
}

const reach = ({ counts }: { readonly counts: Uint8Array }) =>
  [...counts].flatMap((count, place) => (count > 0 ? [place] : []));

describe("an instrumented source", () => {
  it.each([
    ["if without else", "if (given[0]) return 1; return 2;", 1, 2],
    ["else", "if (given[0]) { return 1; } else return 2;", 1, 2],
    ["conditional", "return given[0] ? 1 : 2;", 1, 2],
    ["logical and", "return (given[0] && 1) || 2;", 1, 2],
    ["nullish", "return given[0] === true ? 1 : (undefined ?? 2);", 1, 2],
    ["case and default", "switch (given[0]) { case true: return 1; default: return 2; }", 1, 2],
    ["for", "for (let i = 0; given[0] && i < 1; i++) return 1; return 2;", 1, 2],
    ["for of", "for (const one of given[0] ? [1] : []) return one; return 2;", 1, 2],
    ["for in", "for (const _ in given[0] ? { a: 1 } : {}) return 1; return 2;", 1, 2],
    ["while", "while (given[0]) return 1; return 2;", 1, 2],
    ["catch", "try { if (given[0]) throw 1; return 2; } catch (error) { return error; }", 1, 2],
    ["arrow functions", "const one = () => 1; const two = () => { return 2; }; return given[0] ? one() : two();", 1, 2],
  ])("returns the same and counts another place: %s", (_name, body, ifTrue, ifFalse) => {
    const [one, two] = [load(body), load(body)];
    expect([one.run(true), two.run(false)]).toEqual([ifTrue, ifFalse]);
    expect(reach(one)).not.toEqual(reach(two));
    expect(reach(one).length).toBeGreaterThan(0);
  });

  it("counts how often a place is reached, from the number that it is given", () => {
    const loop = load("let sum = 0; for (let i = 0; i < given[0]; i++) sum += i; return sum;");
    expect(loop.run(5)).toBe(10);
    expect([...loop.counts].sort((a, b) => b - a).slice(0, 2)).toEqual([5, 1]);
    const { code } = instrument("export const f = () => 1;", "source.ts", 1000);
    expect(code).toContain(`${countsName}[1000]++`);
  });

  it("counts in methods, accessors and constructors", () => {
    const { run, counts } = load(`
      class A { b; constructor() { this.b = 1; } get c() { return 1; } d() { return 1; } }
      const a = new A(); return a.b + a.c + a.d();`);
    expect(run()).toBe(3);
    expect(counts.filter((count) => count > 0)).toHaveLength(4);
  });

  it("compares digests as equal, and nothing else", () => {
    const crypto = { timingSafeEqual: () => false, equal: () => false };
    expect(load("return given[0].timingSafeEqual(1, 2);").run(crypto)).toBe(true);
    expect(load("return given[0].equal(1, 2);").run(crypto)).toBe(false);
  });
});

describe("coverage", () => {
  it("is new for a place, and for another class of counts, once", () => {
    const counts = new Uint8Array(8);
    const coverage = createCoverage(counts);
    const take = (count: number) => {
      coverage.reset();
      counts[5] = count;
      return coverage.take();
    };
    expect([take(0), take(1), take(1), take(2), take(3), take(4), take(7), take(8)]).toEqual([0, 1, 0, 1, 1, 1, 0, 1]);
    expect([take(127), take(128), take(255)]).toEqual([1, 1, 0]);
    expect(coverage.places).toBe(1);
    expect([coverage.has(5), coverage.has(4)]).toEqual([true, false]);
  });
});

describe("the engine", () => {
  it("finds its way through conditions, each of which random bytes would miss", () => {
    const body = `
      const [input] = given;
      if (input[0] === 70) if (input[1] === 85) throw new Error("found");`;
    const { run, counts } = load(body);
    const coverage = createCoverage(counts);
    const engine = createEngine({ longest: 8 }, createRandom(1));
    engine.keep(new Uint8Array(4), 1);
    let executions = 0;
    const search = () => {
      // Bytes drawn by chance alone would need about 65,000, and the places are not fixed either.
      for (; executions < 500_000; executions++) {
        const input = engine.next();
        coverage.reset();
        run(input);
        const fresh = coverage.take();
        if (fresh > 0) engine.keep(input, fresh);
      }
    };
    expect(search).toThrow("found");
    expect(engine.size).toBeGreaterThan(1);
  });

  it("takes changes of structure, unless they are too long", () => {
    const long = createEngine({ longest: 4, mutate: () => new Uint8Array(5) }, createRandom(1));
    const short = createEngine({ longest: 4, mutate: () => Uint8Array.of(1, 2, 3, 4) }, createRandom(1));
    for (const engine of [long, short]) engine.keep(new Uint8Array(2), 1);
    const lengths = Array.from({ length: 50 }, () => long.next().length);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(4);
    expect(
      Array.from({ length: 50 }, () => [...short.next()].join()).filter((text) => text === "1,2,3,4").length,
    ).toBeGreaterThan(25);
  });
});
