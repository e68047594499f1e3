/**
 * First values of cells: what CALL_ONCE and HASHTABLE_IMPORT at the beginning of a model make of constants. Other forms run at
 * execution.
 */
import type { TfliteModel, TfliteTensor } from "../../model.ts";
import { packedRange } from "../packed-types.ts";
import { type Resource, resourceOf, resourcesIn, tableCells } from "./resources.ts";

/** First values, each a constant tensor, by the key of its cell. */
export interface Initial {
  readonly values: ReadonlyMap<string, TfliteTensor>;
  /** The subgraphs of CALL_ONCE that need not run. */
  readonly done: ReadonlySet<number>;
  /** The keys of hash tables whose contents are constants. */
  readonly filled: ReadonlySet<string>;
}

/** Operators that end the beginning of a model, as they may use state. */
const users: ReadonlySet<string> = new Set([
  "READ_VARIABLE",
  "ASSIGN_VARIABLE",
  "HASHTABLE_FIND",
  "HASHTABLE_SIZE",
  "IF",
  "WHILE",
  "CALL",
  "STABLEHLO_COMPOSITE",
  "STABLEHLO_CASE",
]);

const isTrue: TfliteTensor = { name: "", type: "BOOL", shape: [1], data: Uint8Array.of(1), isVariable: false };

/** Nothing is known before any execution. */
export const noInitial: Initial = { values: new Map(), done: new Set(), filled: new Set() };

/** The first values that the given subgraphs determine. */
export function initialOf(model: TfliteModel, entries: readonly number[]): Initial {
  const values = new Map<string, TfliteTensor>();
  const done = new Set<number>();
  const filled = new Set<string>();
  const imports = importsOf(model);

  function fill(table: Resource, keys: TfliteTensor, content: TfliteTensor, into: Map<string, TfliteTensor>): boolean {
    if (imports.get(table.key) !== 1) return false;
    const cells = tableCells(table);
    into.set(cells.isImported, isTrue).set(cells.keys, keys).set(cells.values, content);
    return true;
  }

  /** Effects of a subgraph without inputs that only assigns constants; undefined if it does more. */
  function effectsOf(index: number): { values: Map<string, TfliteTensor>; filled: string[] } | undefined {
    const subgraph = model.subgraphs[index];
    if (subgraph === undefined) return undefined;
    const found = new Map<string, TfliteTensor>();
    const tables: string[] = [];
    const resources = resourcesIn(subgraph, []);
    for (const operator of subgraph.operators) {
      const { name, inputs } = operator;
      if (name === "VAR_HANDLE" || name === "HASHTABLE") continue;
      const resource = resourceOf(operator, resources);
      const [, first, second] = inputs.map((tensor) => constantAt(subgraph.tensors, tensor));
      if (resource === undefined || first === undefined) return undefined;
      if (name === "ASSIGN_VARIABLE") found.set(resource.key, first);
      else if (name === "HASHTABLE_IMPORT" && second !== undefined) {
        if (!fill(resource, first, second, found)) return undefined;
        tables.push(resource.key);
      } else return undefined;
    }
    return { values: found, filled: tables };
  }

  function runOnce(init: number): boolean {
    if (done.has(init)) return true;
    const effects = effectsOf(init);
    if (effects === undefined || [...effects.values.keys()].some((key) => values.has(key))) return false;
    for (const [key, value] of effects.values) values.set(key, value);
    for (const key of effects.filled) filled.add(key);
    done.add(init);
    return true;
  }

  for (const index of entries) {
    const subgraph = model.subgraphs[index];
    if (subgraph === undefined) continue;
    const resources = resourcesIn(subgraph, []);
    for (const operator of subgraph.operators) {
      const { name, inputs, options } = operator;
      if (name === "CALL_ONCE" && !runOnce(Number(options["initSubgraphIndex"] ?? 0))) break;
      if (users.has(name)) break;
      if (name !== "HASHTABLE_IMPORT") continue;
      const resource = resourceOf(operator, resources);
      const [, keys, content] = inputs.map((tensor) => constantAt(subgraph.tensors, tensor));
      if (resource === undefined || keys === undefined || content === undefined) break;
      if (!fill(resource, keys, content, values)) break;
      filled.add(resource.key);
    }
  }
  return { values, done, filled };
}

function constantAt(tensors: readonly TfliteTensor[], index: number): TfliteTensor | undefined {
  const tensor = tensors[index];
  if (tensor?.data === undefined || tensor.isVariable) return undefined;
  // A tensor that is not stored one element after the other is expanded when the subgraph is imported.
  return tensor.sparsity === undefined && packedRange(tensor.type) === undefined ? tensor : undefined;
}

/** Number of HASHTABLE_IMPORT operators per table; empty if one of them fills a table that is passed in. */
function importsOf({ subgraphs }: TfliteModel): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const subgraph of subgraphs) {
    const resources = resourcesIn(subgraph, []);
    for (const operator of subgraph.operators) {
      if (operator.name !== "HASHTABLE_IMPORT") continue;
      const resource = resourceOf(operator, resources);
      if (resource === undefined) return new Map();
      counts.set(resource.key, (counts.get(resource.key) ?? 0) + 1);
    }
  }
  return counts;
}
