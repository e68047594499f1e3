/**
 * Circles of imports among the files of a package, types included: such files can only be understood together. The same holds
 * for its folders, which stand on floors: those of one floor import only those of lower ones. Known circles are in lists, which
 * must be exact. A file that another names by its URL, such as a worker, counts as imported: a bundler that follows it would
 * put a worker that starts itself into itself, endlessly.
 */
import { importedModules } from "./import-rules.ts";
import { knownCircles, knownFolderCircles } from "./known-circles.ts";
import { isTest, type WorkspacePackage } from "./workspace.ts";

type Sources = Pick<WorkspacePackage, "folder" | "manifest" | "sources">;

/** The files of the same package that each file imports, or the folders and files that each folder and file does. */
type Graph = ReadonlyMap<string, readonly string[]>;

function graphOf({ folder, manifest, sources }: Sources): Graph {
  const paths = new Set(sources.map(({ path }) => path));
  const own = new Map(
    Object.entries(manifest.imports ?? {}).map(([name, target]) => [name, sourcesNamedBy(target)] as const),
  );
  return new Map(
    sources.map(({ path, text }) => {
      const urls = [...text.matchAll(/new URL\("(\.[^"]*\.ts)", import\.meta\.url\)/g)].map(([, url = ""]) => url);
      const targets = [...importedModules(text), ...urls].flatMap((specifier) => {
        if (specifier.startsWith(".")) return [new URL(specifier, `file:///${path}`).pathname.slice(1)];
        return (own.get(specifier) ?? []).map((source) => source.replace(".", folder));
      });
      return [path, [...new Set(targets)].filter((target) => paths.has(target)).sort()];
    }),
  );
}

/**
 * Builds the same graph of the folders in `src`, with the files next to them, as nodes: `packages/one/src/guard/`. Tests do not
 * count, which may use the floors above.
 */
function folderGraphOf(one: Sources): Graph {
  const place = (path: string) => {
    const [inside = "", ...deeper] = path.slice(`${one.folder}/src/`.length).split("/");
    return `${one.folder}/src/${inside}${deeper.length > 0 ? "/" : ""}`;
  };
  const graph = new Map<string, Set<string>>();
  const sources = one.sources.filter(({ path }) => path.startsWith(`${one.folder}/src/`) && !isTest(path));
  for (const [path, targets] of graphOf({ ...one, sources })) {
    const from = place(path);
    const to = graph.get(from) ?? new Set();
    graph.set(from, to);
    for (const target of targets.map(place)) if (target !== from) to.add(target);
  }
  return new Map([...graph].map(([from, targets]) => [from, [...targets].sort()]));
}

/** The sources that an entry of the field "imports" names, on every platform. */
function sourcesNamedBy(target: unknown): string[] {
  if (typeof target !== "object" || target === null) return [];
  return Object.entries(target).flatMap(([condition, value]) =>
    condition === "@nnhal/source" ? [String(value)] : sourcesNamedBy(value),
  );
}

/** The shortest way along imports from a file to another, both included; undefined if there is none. */
function shortestWay(graph: Graph, from: string, to: string): readonly string[] | undefined {
  const before = new Map<string, string | undefined>([[from, undefined]]);
  for (const file of before.keys()) {
    if (file === to) {
      const way: string[] = [];
      for (let at: string | undefined = file; at !== undefined; at = before.get(at)) way.unshift(at);
      return way;
    }
    for (const next of graph.get(file) ?? []) if (!before.has(next)) before.set(next, file);
  }
  return undefined;
}

/** A circle as text that is the same for each file of it: it starts at the first one by name. */
function textOf(circle: readonly string[]): string {
  const [least = ""] = circle.toSorted();
  const start = circle.indexOf(least);
  return [...circle.slice(start), ...circle.slice(0, start), least].join(" → ");
}

/** Files that import each other, directly or through others. */
export interface Knot {
  /** By name. */
  readonly files: readonly string[];
  /** For each import among the files the shortest circle that it is part of, shortest first: `a.ts → b.ts → a.ts`. */
  readonly circles: readonly string[];
}

/** Every knot of the files of some packages, by the name of its first file. */
export function findKnots(packages: readonly Sources[]): Knot[] {
  return knotsOf(packages.map(graphOf));
}

/** Every knot that has a folder in it. Knots of files alone are found by `findKnots`. */
export function findFolderKnots(packages: readonly Sources[]): Knot[] {
  return knotsOf(packages.map(folderGraphOf)).filter(({ files }) => files.some((file) => file.endsWith("/")));
}

function knotsOf(graphs: readonly Graph[]): Knot[] {
  const knots: { files: Set<string>; circles: Set<string> }[] = [];
  for (const graph of graphs) {
    for (const [file, targets] of graph) {
      for (const target of targets) {
        const circle = shortestWay(graph, target, file);
        if (circle === undefined) continue;
        // Two circles with a file in common are one knot, and so are those that this one joins.
        const joined = knots.filter(({ files }) => circle.some((each) => files.has(each)));
        const files = new Set([...circle, ...joined.flatMap((knot) => [...knot.files])]);
        const circles = new Set([textOf(circle), ...joined.flatMap((knot) => [...knot.circles])]);
        for (const knot of joined) knots.splice(knots.indexOf(knot), 1);
        knots.push({ files, circles });
      }
    }
  }
  const length = (circle: string) => circle.split(" → ").length;
  return knots
    .map(({ files, circles }) => ({
      files: [...files].sort(),
      circles: [...circles].sort((a, b) => length(a) - length(b) || (a < b ? -1 : 1)),
    }))
    .sort((a, b) => ((a.files[0] ?? "") < (b.files[0] ?? "") ? -1 : 1));
}

/** Returns the faults in the imports of some packages; the lists of known circles must match. */
export function checkCircles(
  packages: readonly Sources[],
  known: readonly (readonly string[])[] = knownCircles,
  knownFolders: readonly (readonly string[])[] = knownFolderCircles,
): string[] {
  return [
    ...checkKnots(findKnots(packages), known, "files"),
    ...checkKnots(findFolderKnots(packages), knownFolders, "folders"),
  ];
}

/** Every circle of a knot that is not in the list as it is, and every entry of the list that is not a knot any more. */
function checkKnots(
  found: readonly Knot[],
  known: readonly (readonly string[])[],
  members: "files" | "folders",
): string[] {
  const key = (files: readonly string[]) => files.toSorted().join(" ");
  const foundKeys = new Set(found.map(({ files }) => key(files)));
  const knownKeys = new Set(known.map(key));
  const problems: string[] = [];
  for (const files of known) {
    if (foundKeys.has(key(files))) continue;
    problems.push(
      `tools/repo/src/known-circles.ts: these ${members} are not a circle of imports, or not all of it: delete them from the list: ${files.join(", ")}`,
    );
  }
  for (const { files, circles } of found) {
    if (knownKeys.has(key(files))) continue;
    for (const circle of circles) problems.push(`${members} import each other in a circle: ${circle}`);
  }
  return problems;
}
