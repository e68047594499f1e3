import { elementAt } from "@nnhal/operations";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ranges } from "./explain-report.ts";
import { type Edge, layOutGraph, type NodeSize } from "./layout.ts";

const size: NodeSize = { width: 100, height: 40 };

describe("layOutGraph", () => {
  it("puts a chain in one column", () => {
    const { nodes, width } = layOutGraph(
      [size, size, size],
      [
        { from: 0, to: 1 },
        { from: 1, to: 2 },
      ],
    );
    expect(new Set(nodes.map(({ x }) => x))).toEqual(new Set([50]));
    expect(elementAt(nodes, 0).y).toBeLessThan(elementAt(nodes, 1).y);
    expect(width).toBe(100);
  });

  it("has nothing to do without nodes", () => {
    expect(layOutGraph([], [])).toEqual({ width: 0, height: 0, nodes: [], edges: [] });
  });

  it("keeps nodes apart and within the picture, and every edge leads down", () => {
    const graphs = fc.array(fc.tuple(fc.integer({ min: 1, max: 200 }), fc.array(fc.nat(), { maxLength: 4 })), {
      minLength: 1,
      maxLength: 30,
    });
    fc.assert(
      fc.property(graphs, (rows) => {
        const sizes = rows.map(([width]): NodeSize => ({ width, height: 40 }));
        const edges = rows.flatMap(([, sources], to): Edge[] =>
          to === 0 ? [] : [...new Set(sources.map((source) => source % to))].map((from) => ({ from, to })),
        );
        const { nodes, edges: routes, width, height } = layOutGraph(sizes, edges);
        nodes.forEach(({ x, y }, node) => {
          expect(x - elementAt(sizes, node).width / 2).toBeGreaterThanOrEqual(-1e-6);
          expect(x + elementAt(sizes, node).width / 2).toBeLessThanOrEqual(width + 1e-6);
          expect(y + 40).toBeLessThanOrEqual(height);
          nodes.slice(0, node).forEach((other, index) => {
            const gap = Math.abs(other.x - x) - (elementAt(sizes, index).width + elementAt(sizes, node).width) / 2;
            if (other.y === y) expect(gap).toBeGreaterThan(0);
          });
        });
        routes.forEach((route, index) => {
          expect(elementAt(route, 0).y).toBe(elementAt(nodes, elementAt(edges, index).from).y + 40);
          expect(route.at(-1)).toEqual(nodes[elementAt(edges, index).to]);
          route.slice(1).forEach(({ y }, place) => {
            expect(y).toBeGreaterThanOrEqual(elementAt(route, place).y);
          });
        });
      }),
    );
  });
});

describe("ranges", () => {
  it.each([
    [[], ""],
    [[4], "5"],
    [[4, 5], "5, 6"],
    [[4, 5, 6], "5 to 7"],
    [[0, 2, 3, 4, 9], "1, 3 to 5, 10"],
  ])("%j is %j", (numbers, text) => {
    expect(ranges(numbers)).toBe(text);
  });
});
