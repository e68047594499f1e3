/**
 * State in a file: resource variables, hash tables and variable tensors are cells, each with a key. Which cells a subgraph reads and
 * writes, also through the subgraphs that it runs.
 */
import { ensure, quote } from "../../error.ts";
import type { TfliteModel, TfliteOperator, TfliteSubgraph, TfliteTensor } from "../../model.ts";
import { MOST_NESTED } from "../graph.ts";
import { operatorWhere } from "../lowering/place.ts";
import { variableNames } from "./state-names.ts";

/** Resource that a RESOURCE tensor refers to. */
export interface Resource {
  readonly kind: "variable" | "table";
  readonly key: string;
  readonly name: string;
}

/** A value that is kept from one execution to the next. */
export interface Cell {
  readonly key: string;
  /** The name for users. */
  readonly name: string;
  /** Its type and shape. */
  readonly tensor: TfliteTensor;
}

/** The cells of a hash table. */
export interface TableCells {
  /** True if the table has its contents: BOOL. */
  readonly isImported: string;
  readonly keys: string;
  readonly values: string;
}

/** The cells that a subgraph uses, in the order of their first use. */
export interface Effects {
  readonly used: ReadonlySet<string>;
  /** Those of `used` that it may change. */
  readonly written: ReadonlySet<string>;
}

/** Resources that the inputs of a subgraph refer to, by index. */
export type Bound = readonly (Resource | undefined)[];

/** The analysis of a model. */
export interface Resources {
  /** The effects of a subgraph whose inputs refer to resources. The subgraph that is the model keeps its variable tensors to itself. */
  effectsOf(subgraph: number, bound: Bound): Effects;
  /** The effects of one operator. */
  effectsAt(subgraph: number, operator: TfliteOperator, resources: ReadonlyMap<number, Resource>): Effects;
  /** A cell that `effectsOf` has found; undefined for a part of a hash table that no operator fills. */
  cell(key: string): Cell | undefined;
}

/** Facts that are known before any execution. */
export interface Known {
  /** True if the effects of a CALL_ONCE are first values: its subgraph need not run. */
  isDone(initSubgraph: number): boolean;
  /** True if the contents of a hash table are constants. */
  isFilled(table: Resource): boolean;
}

/** More subgraphs, each counted once for each list of resources that it gets, are a file that is made to exhaust memory. */
const MOST_ANALYSED = 2 ** 12;

const nothing: Effects = { used: new Set(), written: new Set() };

/** The key of the flag that a CALL_ONCE has run. */
export function onceKey(initSubgraph: number): string {
  return `once ${initSubgraph}`;
}

/** The key of a variable tensor. */
export function variableTensorKey(subgraph: number, tensor: number): string {
  return `tensor ${subgraph} ${tensor}`;
}

/** The cells of a table. */
export function tableCells({ key }: Resource): TableCells {
  return { isImported: `${key} imported`, keys: `${key} keys`, values: `${key} values` };
}

/** The options of operators that name the subgraphs that they run with their inputs, each one index or a list of them. */
const calleeOptions: Readonly<Record<string, readonly string[]>> = {
  IF: ["thenSubgraphIndex", "elseSubgraphIndex"],
  WHILE: ["condSubgraphIndex", "bodySubgraphIndex"],
  CALL: ["subgraph"],
  STABLEHLO_COMPOSITE: ["decompositionSubgraphIndex"],
  STABLEHLO_CASE: ["branchSubgraphIndices"],
};

/** Operators whose first input tells which subgraph runs, and is not passed to it. */
const choosing: ReadonlySet<string> = new Set(["IF", "STABLEHLO_CASE"]);

/** The options of an operator that name subgraphs, with the subgraphs, and the inputs that these get. */
export function calleesOf({ name, options, inputs }: TfliteOperator): {
  readonly options: readonly (readonly [name: string, subgraphs: readonly number[]])[];
  readonly passed: readonly number[];
} {
  const named = calleeOptions[name] ?? [];
  return {
    options: named.map((option) => {
      const value = options[option] ?? (name === "STABLEHLO_CASE" ? [] : 0);
      return [option, typeof value === "object" ? value : [Number(value)]];
    }),
    passed: named.length === 0 ? [] : choosing.has(name) ? inputs.slice(1) : inputs,
  };
}

/** Resources that the tensors of a subgraph refer to, by tensor. */
export function resourcesIn({ inputs, operators }: TfliteSubgraph, bound: Bound): ReadonlyMap<number, Resource> {
  const resources = new Map<number, Resource>();
  for (const [place, tensor] of inputs.entries()) {
    const resource = bound[place];
    if (resource !== undefined) resources.set(tensor, resource);
  }
  for (const { name, options, inputs: read, outputs } of operators) {
    const [result] = outputs;
    if (result === undefined) continue;
    if (name === "VAR_HANDLE") {
      const [container, shared] = [String(options["container"] ?? ""), String(options["sharedName"] ?? "")];
      const text = container === "" ? shared : `${container}/${shared}`;
      resources.set(result, { kind: "variable", key: `variable ${container}/${shared}`, name: text });
    } else if (name === "HASHTABLE") {
      const id = String(options["tableId"] ?? 0);
      resources.set(result, { kind: "table", key: `table ${id}`, name: `table ${id}` });
    } else if (name === "WHILE") {
      for (const [place, tensor] of outputs.entries()) {
        const resource = resources.get(read[place] ?? -1);
        if (resource !== undefined) resources.set(tensor, resource);
      }
    }
  }
  return resources;
}

/** The resource that an operator uses, if it uses one of that kind. */
export function resourceOf(
  { name, inputs }: TfliteOperator,
  resources: ReadonlyMap<number, Resource>,
): Resource | undefined {
  const kind = name.startsWith("HASHTABLE_") ? "table" : "variable";
  const resource = resources.get(inputs[0] ?? -1);
  return resource?.kind === kind ? resource : undefined;
}

/** Two descriptions of one cell: extents that differ are open. */
function merge(first: TfliteTensor, second: TfliteTensor): TfliteTensor | undefined {
  const [shape, other] = [openShape(first), openShape(second)];
  if (first.type !== second.type || shape.length !== other.length) return undefined;
  const known = first.quantization === undefined ? { ...second, shape: first.shape } : first;
  if (shape.every((extent, i) => extent === other[i])) return known;
  return { ...known, shapeSignature: shape.map((extent, i) => (extent === other[i] ? extent : -1)) };
}

function openShape({ shape, shapeSignature }: TfliteTensor): readonly number[] {
  return shapeSignature?.length === shape.length ? shapeSignature : shape;
}

/** Starts the analysis of a model. `main`: the subgraph that is the model. */
export function createResources(model: TfliteModel, main: number, { isDone, isFilled }: Known): Resources {
  const nameOf = variableNames(model);
  const cells = new Map<string, Cell>();
  const known = new Map<string, Effects | "open">();
  let depth = 0;

  function declare(
    key: string,
    name: string,
    tensor: TfliteTensor,
    place: () => ReturnType<typeof operatorWhere>,
  ): void {
    const before = cells.get(key);
    const { data: _data, ...given } = { ...tensor, name, isVariable: false };
    const both = before === undefined ? given : merge(before.tensor, given);
    ensure(both !== undefined, place, () => {
      const show = ({ type, shape }: TfliteTensor) => `${type}[${shape.join(", ")}]`;
      return `${quote(name)} is ${show(tensor)} here and ${before && show(before.tensor)} elsewhere`;
    });
    cells.set(key, { key, name, tensor: both });
  }

  function flag(key: string, name: string): void {
    if (cells.has(key)) return;
    cells.set(key, { key, name, tensor: { name, type: "BOOL", shape: [1], isVariable: false } });
  }

  function effectsAt(index: number, operator: TfliteOperator, resources: ReadonlyMap<number, Resource>): Effects {
    const { tensors = [], operators = [] } = model.subgraphs[index] ?? {};
    const place = () => operatorWhere({ path: `subgraphs[${index}]`, index }, operator, operators.indexOf(operator));
    const { name, inputs, outputs, options } = operator;
    const resource = resourceOf(operator, resources);
    const describe = (key: string, text: string, tensor: number | undefined) => {
      const found = tensors[tensor ?? -1];
      if (found !== undefined) declare(key, text, found, place);
    };
    if (name === "CALL_ONCE") {
      const init = Number(options["initSubgraphIndex"] ?? 0);
      if (isDone(init)) return nothing;
      const { used, written } = effectsOf(init, []);
      if (used.size === 0) return nothing;
      flag(onceKey(init), `initialised by subgraph ${init}`);
      return { used: new Set([onceKey(init), ...used]), written: new Set([onceKey(init), ...written]) };
    }
    if (resource?.kind === "variable" && (name === "READ_VARIABLE" || name === "ASSIGN_VARIABLE")) {
      const isRead = name === "READ_VARIABLE";
      describe(resource.key, resource.name, isRead ? outputs[0] : inputs[1]);
      if (!cells.has(resource.key)) return nothing;
      return { used: new Set([resource.key]), written: new Set(isRead ? [] : [resource.key]) };
    }
    if (resource?.kind === "table") {
      const table = tableCells(resource);
      flag(table.isImported, `${resource.name} is filled`);
      if (name === "HASHTABLE_IMPORT") {
        describe(table.keys, `keys of ${resource.name}`, inputs[1]);
        describe(table.values, `values of ${resource.name}`, inputs[2]);
      }
      const used = new Set([table.isImported, table.keys, table.values]);
      return { used, written: name === "HASHTABLE_IMPORT" && !isFilled(resource) ? used : new Set() };
    }
    const { options: callees, passed } = calleesOf(operator);
    const bound = passed.map((tensor) => resources.get(tensor));
    const effects = callees.flatMap(([, subgraphs]) => subgraphs).map((callee) => effectsOf(callee, bound));
    const own = index === main ? [] : inputs.filter((tensor) => tensors[tensor]?.isVariable);
    if (effects.length === 0 && own.length === 0) return nothing;
    const keys = own.map((tensor) => {
      const key = variableTensorKey(index, tensor);
      describe(key, nameOf(index, tensor), tensor);
      return key;
    });
    return {
      used: new Set([...effects.flatMap(({ used }) => [...used]), ...keys]),
      written: new Set([...effects.flatMap(({ written }) => [...written]), ...keys]),
    };
  }

  function effectsOf(index: number, bound: Bound): Effects {
    const id = JSON.stringify([index, bound.map((resource) => resource?.key ?? null)]);
    const before = known.get(id);
    const subgraph = model.subgraphs[index];
    const path = `subgraphs[${index}]`;
    ensure(before !== "open", path, () => `subgraph ${index} runs itself`);
    ensure(depth < MOST_NESTED, path, () => `subgraphs name each other more than ${MOST_NESTED} deep`);
    // One that is missing is refused when it is imported.
    if (before !== undefined || subgraph === undefined) return before ?? nothing;
    const most = () => `subgraphs get more than ${MOST_ANALYSED} lists of resources`;
    ensure(known.size < MOST_ANALYSED, path, most);
    known.set(id, "open");
    depth++;
    const used = new Set<string>();
    const written = new Set<string>();
    const resources = resourcesIn(subgraph, bound);
    for (const operator of subgraph.operators) {
      const effects = effectsAt(index, operator, resources);
      for (const key of effects.used) used.add(key);
      for (const key of effects.written) written.add(key);
    }
    depth--;
    const effects = { used, written };
    known.set(id, effects);
    return effects;
  }

  return {
    effectsOf,
    effectsAt,
    cell: (key) => cells.get(key),
  };
}
