import { describe, expect, it } from "vitest";
import { manyOperators } from "../files.test-helper.ts";
import { createEngine } from "./engine.ts";
import type { SubgraphView } from "./file-view.ts";
import { foldGroup, type Group, groupAround, groupsAt, levelsOf, unfoldGroup } from "./groups.ts";

/** Operators whose results have these names. */
function nameAll(...names: readonly string[]): Pick<SubgraphView, "operators" | "tensors"> {
  const rows = names.map((name, index) => ({ name, outputs: [index], index }));
  return { operators: rows, tensors: rows } as unknown as Pick<SubgraphView, "operators" | "tensors">;
}

const shortOf = (groups: readonly Group[]) => groups.map(({ name, from, to }) => [name, from, to]);

const network = nameAll("in", "a/b/x", "a/b/y;q/r", "a/c/x", "a/c/y", "d/x", "a/b/z", "out");

describe("groups", () => {
  it("are runs of at least two operators in one scope", () => {
    expect(shortOf(groupsAt(network, 1))).toEqual([["a", 1, 5]]);
    expect(shortOf(groupsAt(network, 2))).toEqual([
      ["a/b", 1, 3],
      ["a/c", 3, 5],
    ]);
    expect(groupsAt(network, 3)).toEqual([]);
  });

  it("have levels, from few boxes to many", () => {
    expect(levelsOf(network).map(({ boxes, groups }) => [boxes, groups.length])).toEqual([
      [5, 1],
      [6, 2],
    ]);
    expect(levelsOf(nameAll("x", "y"))).toEqual([]);
    // One box for all would show nothing.
    expect(levelsOf(nameAll("a/x", "a/y"))).toEqual([]);
    expect(levelsOf(nameAll("a/b/x", "a/b/y", "a/c")).map(({ boxes }) => boxes)).toEqual([2]);
  });

  it("open to the groups in them, and these to operators", () => {
    const [a] = groupsAt(network, 1);
    const opened = a ? unfoldGroup(network, [a], a) : [];
    expect(shortOf(opened)).toEqual([
      ["a/b", 1, 3],
      ["a/c", 3, 5],
    ]);
    const [b] = opened;
    expect(b && shortOf(unfoldGroup(network, opened, b))).toEqual([["a/c", 3, 5]]);
    const only = nameAll("a/b/c/x", "a/b/c/y");
    const [outer] = groupsAt(only, 1);
    expect(outer && unfoldGroup(only, [outer], outer)).toEqual([]);
  });

  it("are folded again around an operator or a group", () => {
    const inner = groupAround(network, 3, 4);
    expect(inner && shortOf([inner])).toEqual([["a/c", 3, 5]]);
    const outer = groupAround(network, 3, 5);
    expect(outer && shortOf(foldGroup(groupsAt(network, 2), outer))).toEqual([["a", 1, 5]]);
    expect(groupAround(network, 1, 5)).toBeUndefined();
    expect(groupAround(network, 7, 8)).toBeUndefined();
  });
});

describe("a graph with groups", () => {
  it("has one box for each, with the edges that lead in and out", async () => {
    const engine = createEngine();
    const { file } = await engine.open(manyOperators(20), "twenty.tflite");
    const [part] = file.subgraphs;
    const groups = part === undefined ? [] : groupsAt(part, 1);
    // The results are named from 1 on, eight to a block.
    expect(shortOf(groups)).toEqual([
      ["block_0", 0, 7],
      ["block_1", 7, 15],
      ["block_2", 15, 20],
    ]);
    const { nodes, edges } = await engine.graph(0, groups);
    expect(nodes.map(({ type, title, detail }) => [type, title, detail])).toEqual([
      ["input", "block_0/value_0", "float32 1×8"],
      ["group", "block_0", "7 operators"],
      ["group", "block_1", "8 operators"],
      ["group", "block_2", "5 operators"],
      ["output", "block_2/value_20", "float32 1×8"],
    ]);
    expect(edges.map(({ from, to, tensor }) => [from, to, tensor])).toEqual([
      [0, 1, 0],
      [1, 2, 7],
      [1, 2, 1],
      [2, 3, 15],
      [2, 3, 9],
      [3, 4, 20],
    ]);
  });
});
