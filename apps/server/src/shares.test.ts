/** The order in which requests of several sizes compute. */
import { describe, expect, it } from "vitest";
import { createShares, type Sized } from "./shares.ts";

const [small, large] = [2 ** 16, 2 ** 20];

interface Named extends Sized {
  readonly name: string;
}

/** Waiting requests, and the names of those that compute, one after the other. */
function queue() {
  const shares = createShares();
  let waiting: Named[] = [];
  return {
    add(name: string, bytes: number) {
      const one = { name, bytes };
      shares.join(one, waiting);
      waiting.push(one);
    },
    take(count = 1): string {
      const names = Array.from({ length: count }, () => {
        const one = shares.next(waiting);
        if (one === undefined) return "";
        shares.take([one]);
        waiting = waiting.filter((other) => other !== one);
        return one.name;
      });
      return names.join("");
    },
    /** Removes the first of a name, without computing it. */
    leave(name: string) {
      const place = waiting.findIndex((one) => one.name === name);
      waiting = waiting.filter((_, index) => index !== place);
    },
  };
}

describe("requests that wait", () => {
  it("compute in the order of their arrival if their sizes are about the same", () => {
    const { add, take } = queue();
    add("a", 0);
    add("b", small);
    add("c", 1);
    expect(take(4)).toBe("abc");
  });

  it("compute in turn by bytes: 16 of 64 KiB for one of 1 MiB", () => {
    const { add, take } = queue();
    for (let count = 0; count < 3; count++) add("L", large);
    for (let count = 0; count < 40; count++) add("s", small);
    expect(take(43)).toBe(`L${"s".repeat(16)}L${"s".repeat(16)}L${"s".repeat(8)}`);
  });

  it("of less than 64 KiB count for that", () => {
    const { add, take } = queue();
    add("L", large);
    for (let count = 0; count < 20; count++) add("s", 1);
    add("L", large);
    // After 16 both have had as much, and the small ones came first.
    expect(take(19)).toBe(`L${"s".repeat(17)}L`);
  });

  it("on both sides of a bound of sizes are of two sizes", () => {
    const { add, take } = queue();
    add("a", small);
    add("a", small);
    add("b", small + 1);
    expect(take(3)).toBe("aba");
  });

  it("of a size that was not there have no claim to the time before", () => {
    const { add, take } = queue();
    for (let count = 0; count < 100; count++) add("s", small);
    take(60);
    add("L", large);
    add("L", large);
    // One of 1 MiB has its turn, and the next is not due before the small ones have had as much.
    expect(take(20)).toMatch(/^s?Ls{15,16}Ls*$/);
  });

  it("that leave cost the others of their size nothing", () => {
    const { add, take, leave } = queue();
    add("L", large);
    for (let count = 0; count < 50; count++) {
      add("s", small);
      leave("s");
    }
    add("s", small);
    add("L", large);
    expect(take(3)).toBe("LsL");
  });
});
