import { elementAt } from "@nnhal/operations";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Point } from "./fold.ts";
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

  it("puts what depends on nothing above its first reader", () => {
    const edges = [
      { from: 0, to: 1 },
      { from: 1, to: 3 },
      { from: 2, to: 3 },
    ];
    const { nodes } = layOutGraph([size, size, size, size], edges);
    expect(elementAt(nodes, 2).y).toBe(elementAt(nodes, 1).y);
  });

  /** A chain, and an edge from every tenth node to the one behind the next nine. */
  const long = (count: number): Edge[] =>
    Array.from({ length: count - 1 }, (_, from) => ({ from, to: from + 1 })).flatMap((edge) =>
      edge.from % 10 === 0 && edge.from + 10 < count ? [edge, { from: edge.from, to: edge.from + 10 }] : [edge],
    );

  it("keeps a short graph in one column, and folds a long one into a picture of good proportions", () => {
    const columnsOf = (count: number) => {
      const { nodes, width, height } = layOutGraph(
        Array.from({ length: count }, () => size),
        long(count),
      );
      const columns = nodes.filter((node) => node.y === elementAt(nodes, 0).y).length;
      return { columns, proportion: width / height };
    };
    expect(columnsOf(43)).toMatchObject({ columns: 1 });
    const { columns, proportion } = columnsOf(2000);
    expect(columns).toBeGreaterThan(20);
    expect(proportion).toBeGreaterThan(0.8);
    expect(proportion).toBeLessThan(3);
  });

  it("leads the edges of a folded graph around all nodes", () => {
    const count = 300;
    const edges = long(count);
    const {
      nodes,
      edges: routes,
      width,
      height,
    } = layOutGraph(
      Array.from({ length: count }, () => size),
      edges,
    );
    const crosses = (one: Point, other: Point) =>
      nodes.filter(
        ({ x, y }) =>
          Math.min(one.x, other.x) < x + 50 &&
          Math.max(one.x, other.x) > x - 50 &&
          Math.min(one.y, other.y) < y + 40 &&
          Math.max(one.y, other.y) > y,
      );
    for (const route of routes) {
      route.forEach(({ x, y }, place) => {
        expect([x >= 0, x <= width, y >= 0, y <= height]).toEqual([true, true, true, true]);
        const next = route[place + 1];
        // Between rows there are no nodes; all else is straight.
        if (next !== undefined && (next.x === x || next.y === y)) expect(crosses({ x, y }, next)).toEqual([]);
      });
    }
  });

  it("limits how wide rows are", () => {
    const count = 500;
    const edges = Array.from({ length: count - 1 }, (_, index) => ({ from: 0, to: index + 1 }));
    const { width } = layOutGraph(
      Array.from({ length: count }, () => size),
      edges,
    );
    expect(width).toBeLessThan(6000);
  });

  it("limits how wide rows are where one node reads all, and where all that it reads depends on nothing", () => {
    const count = 500;
    const branches = Array.from({ length: count }, (_, index): Edge[] => [
      { from: 0, to: index + 1 },
      { from: index + 1, to: count + 1 },
    ]);
    const fan = layOutGraph(
      Array.from({ length: count + 2 }, () => size),
      branches.flat(),
    );
    expect(fan.width).toBeLessThan(6000);
    expect(fan.height).toBeLessThan(6000);
    const inputs = Array.from({ length: count }, (_, from): Edge => ({ from, to: count }));
    const gathered = layOutGraph(
      Array.from({ length: count + 1 }, () => size),
      inputs,
    );
    expect(gathered.width).toBeLessThan(6000);
    // Each edge ends at its node, and leads down.
    for (const { edges, nodes } of [fan, gathered]) {
      for (const route of edges) {
        expect(route.at(-1)?.y).toBeLessThanOrEqual(elementAt(nodes, nodes.length - 1).y);
        route.slice(1).forEach(({ y }, place) => {
          expect(y).toBeGreaterThanOrEqual(elementAt(route, place).y);
        });
      }
    }
  });

  it("leaves out the way of long edges if there are too many", () => {
    const count = 700;
    const chain = Array.from({ length: count - 1 }, (_, from) => ({ from, to: from + 1 }));
    const far = Array.from({ length: count / 2 }, (_, from) => ({ from, to: from + count / 2 }));
    const { edges } = layOutGraph(
      Array.from({ length: count }, () => size),
      [...chain, ...far],
    );
    expect(edges.slice(0, chain.length).every((route) => route.length > 0)).toBe(true);
    expect(edges.slice(chain.length)).toEqual(far.map(() => []));
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
