import { elementAt } from "@nnhal/operations";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { condense } from "./condense.ts";
import type { DrawnEdge, DrawnNode } from "./drawn-graph.ts";

const node = (kind: string | undefined, name = kind ?? ""): DrawnNode => ({
  lines: [name],
  fill: "#ffffff",
  ...(kind !== undefined && { kind }),
});

/** A source, `count` branches of two nodes, and a node that reads all; `kindOf` is the kind of the first node of a branch. */
function fan(count: number, kindOf: (branch: number) => string | undefined = () => "RELU") {
  const branches = Array.from({ length: count }, (_, branch) => [
    node(kindOf(branch), `relu ${branch}`),
    node("TANH", `tanh ${branch}`),
  ]);
  const nodes = [node("input"), ...branches.flat(), node("CONCATENATION")];
  const edges = branches.flatMap((_, branch): DrawnEdge[] => [
    { from: 0, to: 2 * branch + 1, title: `in ${branch}` },
    { from: 2 * branch + 1, to: 2 * branch + 2, title: `between ${branch}` },
    { from: 2 * branch + 2, to: nodes.length - 1, title: `out ${branch}` },
  ]);
  return { nodes, edges };
}

const linesOf = ({ nodes }: { readonly nodes: readonly DrawnNode[] }) => nodes.map(({ lines }) => lines.join(" / "));

describe("condense", () => {
  it("draws one of more than 16 equal branches, and says for how many", () => {
    const { nodes, edges } = condense(fan(17));
    expect(linesOf({ nodes })).toEqual([
      "input",
      "17 × equal, the first: / relu 0",
      "17 × equal, the first: / tanh 0",
      "CONCATENATION",
    ]);
    expect(edges).toEqual([
      { from: 0, to: 1, result: 0, title: "in 0" },
      { from: 1, to: 2, result: 0, title: "between 0" },
      { from: 2, to: 3, result: 0, title: "17 edges, the first: out 0" },
    ]);
  });

  it("draws 16 equal branches, and those without a kind, as they are", () => {
    expect(linesOf(condense(fan(16)))).toEqual(linesOf(fan(16)));
    expect(linesOf(condense(fan(17, () => undefined)))).toEqual(linesOf(fan(17)));
  });

  it("does not take branches for equal of which one node differs", () => {
    const { nodes } = condense(fan(40, (branch) => (branch === 5 ? "RELU6" : "RELU")));
    expect(linesOf({ nodes })).toEqual([
      "input",
      "39 × equal, the first: / relu 0",
      "39 × equal, the first: / tanh 0",
      "relu 5",
      "tanh 5",
      "CONCATENATION",
    ]);
  });

  it("does not take the nodes of a chain for equal", () => {
    const nodes = Array.from({ length: 100 }, (_, index) => node("RELU", `relu ${index}`));
    const edges = nodes.slice(1).map((_, from) => ({ from, to: from + 1 }));
    expect(linesOf(condense({ nodes, edges }))).toEqual(linesOf({ nodes }));
  });

  it("cuts long lists of lines and results, whose edges begin at the last one", () => {
    const split = { ...node("SPLIT"), results: Array.from({ length: 17 }, (_, result) => [`result ${result}`]) };
    const readers = Array.from({ length: 17 }, (_, index) => node(`reader ${index}`));
    const concat = { ...node("CONCATENATION"), lines: Array.from({ length: 25 }, (_, line) => `line ${line}`) };
    const edges = readers.map((_, result) => ({ from: 0, to: result + 1, result }));
    const { nodes, edges: drawn } = condense({ nodes: [split, ...readers, concat], edges });
    expect(elementAt(nodes, 0).results).toHaveLength(9);
    expect(elementAt(nodes, 0).results?.at(-1)).toEqual(["… and 9 more"]);
    expect(drawn.map(({ result }) => result)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, ...Array(9).fill(8)]);
    expect(nodes.at(-1)?.lines).toEqual([...concat.lines.slice(0, 8), "… and 17 more"]);
  });

  it("leaves lists of 16 results and 24 lines alone", () => {
    const results = Array.from({ length: 16 }, (_, result) => [`result ${result}`]);
    const lines = Array.from({ length: 24 }, (_, line) => `line ${line}`);
    const { nodes } = condense({ nodes: [{ ...node("SPLIT"), lines, results }], edges: [] });
    expect(nodes).toEqual([{ ...node("SPLIT"), lines, results }]);
  });

  it("keeps edges between nodes that are drawn, from lower to higher indexes, whatever the graph", () => {
    const graphs = fc.array(fc.tuple(fc.constantFrom("a", "b", undefined), fc.array(fc.nat(), { maxLength: 3 })), {
      minLength: 1,
      maxLength: 120,
    });
    fc.assert(
      fc.property(graphs, (rows) => {
        const nodes = rows.map(([kind], index) => node(kind, `${index}`));
        const edges = rows.flatMap(([, sources], to): DrawnEdge[] =>
          to === 0 ? [] : [...new Set(sources.map((source) => source % to))].map((from) => ({ from, to })),
        );
        const condensed = condense({ nodes, edges });
        expect(condensed.nodes.length).toBeLessThanOrEqual(nodes.length);
        for (const { from, to } of condensed.edges) {
          expect(from).toBeGreaterThanOrEqual(0);
          expect(from).toBeLessThan(to);
          expect(to).toBeLessThan(condensed.nodes.length);
        }
        // A number of equal nodes and the nodes that are drawn alone are all nodes.
        const counts = condensed.nodes.map(({ lines }) => Number(/^(\d+) × equal/.exec(elementAt(lines, 0))?.[1] ?? 1));
        expect(counts.reduce((sum, count) => sum + count, 0)).toBe(nodes.length);
      }),
    );
  });
});
