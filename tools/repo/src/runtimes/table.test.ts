import { expect, it } from "vitest";
import { type Outcome, rowOf } from "./place.ts";
import { tableOf, withTable } from "./table.ts";

const run = (seconds: number): Outcome => ({ kind: "run", seconds });

it("has times, and the reason of what failed or cannot run, each once", () => {
  const rows = [
    rowOf("A", (program) => (program === "daemon" ? { kind: "failed", why: "at x\nError: a | b\nmore" } : run(0.449))),
    rowOf("B", () => ({ kind: "impossible", why: "there is no binary" })),
  ];
  expect(tableOf(rows, "Measured.")).toBe(
    `| | three lines | command line | worker | daemon | server |
|---|---|---|---|---|---|
| A | 0.4 s | 0.4 s | 0.4 s | failed (1) | 0.4 s |
| B | impossible (2) | impossible (2) | impossible (2) | impossible (2) | impossible (2) |

1. failed: Error: a \\| b
2. impossible: there is no binary

Measured.`,
  );
});

it("takes the place of the table before it, and leaves the rest", () => {
  const mark = (text: string) =>
    `before\n<!-- runtimes: \`npm run runtimes\` writes this -->\n\n${text}\n\n<!-- end of runtimes -->\nafter\n`;
  expect(withTable(mark("old"), "new")).toBe(mark("new"));
  expect(() => withTable("before\nafter\n", "new")).toThrow("the document needs the lines <!-- runtimes");
});
