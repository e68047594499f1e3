/**
 * Makes a wide graph legible: equal nodes of parallel branches are drawn once, with their number, and long lists of parameters and results are
 * cut.
 *
 * Nodes are equal if they have the same `kind`, and equal sources and readers: classes of nodes are divided until nothing changes. Nodes of a
 * class have the same distance from the beginning, so no edge leads from one to another.
 */
import { elementAt } from "@nnhal/operations";
import type { DrawnEdge, DrawnGraph, DrawnNode } from "./drawn-graph.ts";

/** Equal nodes that are all drawn; of more only the first is. */
const mostEqual = 16;
/** Lines of a box, and results of a node, that are all shown. */
const mostLines = 24;
const mostResults = 16;
/** Lines or results at the beginning of a longer list that are shown. */
const kept = 8;

/** Returns the graph with at most `mostEqual` nodes of a class, and with short lists. */
export function condense({ nodes, edges, ...graph }: DrawnGraph): DrawnGraph {
  const members = membersOf(classesOf(nodes, edges));
  /** By node: the one that is drawn for it. */
  const first = nodes.map((_, node) => node);
  const counts = nodes.map(() => 1);
  for (const equal of members) {
    if (equal.length <= mostEqual) continue;
    const drawn = elementAt(equal, 0);
    for (const node of equal) [first[node], counts[node]] = [drawn, equal.length];
  }
  const places: number[] = [];
  const shown: DrawnNode[] = [];
  for (const [node, each] of nodes.entries()) {
    if (first[node] !== node) continue;
    places[node] = shown.length;
    shown.push(shortLists(withCount(each, elementAt(counts, node))));
  }
  const joined = new Map<string, { readonly edge: DrawnEdge; readonly count: number }>();
  for (const [index, edge] of edges.entries()) {
    // Equal nodes have equal edges: those of the first stand for all.
    if (first[edge.to] !== edge.to) continue;
    const from = elementAt(first, edge.from);
    const isCut = (elementAt(nodes, from).results?.length ?? 0) > mostResults;
    const result = isCut ? Math.min(edge.result ?? 0, kept) : (edge.result ?? 0);
    const isShared = counts[from] !== 1 || (isCut && result === kept);
    const key = isShared ? `${from} ${edge.to} ${result}` : `edge ${index}`;
    const before = joined.get(key);
    joined.set(key, {
      edge: before?.edge ?? { ...edge, from: elementAt(places, from), to: elementAt(places, edge.to), result },
      count: (before?.count ?? 0) + 1,
    });
  }
  return {
    ...graph,
    nodes: shown,
    edges: Array.from(joined.values(), ({ edge, count }) =>
      count === 1 ? edge : { ...edge, title: `${count} edges, the first: ${edge.title ?? ""}` },
    ),
  };
}

/** The node with a line that tells for how many it is drawn. */
function withCount(node: DrawnNode, count: number): DrawnNode {
  return count === 1 ? node : { ...node, lines: [`${count} × equal, the first:`, ...node.lines] };
}

function shortLists(node: DrawnNode): DrawnNode {
  const { lines, results = [] } = node;
  return {
    ...node,
    lines: lines.length > mostLines ? [...lines.slice(0, kept), `… and ${lines.length - kept} more`] : lines,
    ...(results.length > mostResults && {
      results: [...results.slice(0, kept), [`… and ${results.length - kept} more`]],
    }),
  };
}

/** Returns the class of each node, as a number. */
function classesOf(nodes: readonly DrawnNode[], edges: readonly DrawnEdge[]): readonly number[] {
  const sources: number[][] = nodes.map(() => []);
  const readers: number[][] = nodes.map(() => []);
  for (const { from, to } of edges) {
    elementAt(sources, to).push(from);
    elementAt(readers, from).push(to);
  }
  // Distances from the beginning and to the end divide most nodes at once.
  const above: number[] = [];
  for (const node of nodes.keys()) above[node] = farthest(elementAt(sources, node), above);
  const below: number[] = [];
  for (const node of [...nodes.keys()].reverse()) below[node] = farthest(elementAt(readers, node), below);
  let { classes, count } = numberKeys(
    nodes.map(({ kind }, node) => (kind === undefined ? `alone ${node}` : `${above[node]} ${below[node]} ${kind}`)),
  );
  for (let before = 0; before !== count && membersOf(classes).some((equal) => equal.length > mostEqual); ) {
    before = count;
    const classIn = classes;
    const classOf = (node: number) => elementAt(classIn, node);
    ({ classes, count } = numberKeys(
      nodes.map((_, node) => {
        const read = elementAt(readers, node).map(classOf);
        return `${classOf(node)}|${elementAt(sources, node).map(classOf)}|${read.sort((a, b) => a - b)}`;
      }),
    ));
  }
  return classes;
}

/** Returns the greatest distance of some nodes and 1; 0 without nodes. */
function farthest(nodes: readonly number[], distances: readonly number[]): number {
  return nodes.reduce((most, node) => Math.max(most, elementAt(distances, node) + 1), 0);
}

/** Numbers different keys in the order in which they occur. */
function numberKeys(keys: readonly string[]): { readonly classes: readonly number[]; readonly count: number } {
  const numbers = new Map<string, number>();
  const classes = keys.map((key) => {
    const number = numbers.get(key) ?? numbers.size;
    numbers.set(key, number);
    return number;
  });
  return { classes, count: numbers.size };
}

/** Returns the nodes of each class, in order. */
function membersOf(classes: readonly number[]): readonly (readonly number[])[] {
  const members: number[][] = [];
  for (const [node, name] of classes.entries()) {
    const equal = members[name] ?? [];
    members[name] = equal;
    equal.push(node);
  }
  return members;
}
