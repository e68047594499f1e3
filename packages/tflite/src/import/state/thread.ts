/**
 * State as dataflow: subgraphs in which resource variables and hash tables are gone, and each cell that is used is an input, and an
 * output if it is changed.
 */
import { ensure } from "../../error.ts";
import type { TfliteModel, TfliteOperator, TfliteSubgraph, TfliteTensor } from "../../model.ts";
import { operatorWhere } from "../lowering/place.ts";
import { checkOperatorTensors } from "../operator-tensors.ts";
import {
  addOperator,
  addTensor,
  type Body,
  openBody,
  type Passing,
  plainTensors,
  presentOf,
  realTensor,
  type Threads,
} from "./body.ts";
import { emitCall, emitOnce, emitTable, type Use } from "./calls.ts";
import { isResourceOperator } from "./has-resources.ts";
import type { Initial } from "./initial.ts";
import type { Procedure } from "./procedure.ts";
import { calleesOf, type Resource, type Resources, resourceOf, resourcesIn } from "./resources.ts";

/** Most subgraphs, tensors and operators that are made; a file that asks for more is made to exhaust memory. */
const MOST_MADE = 2 ** 21;

/** The subgraphs that state makes necessary. */
export interface Threading {
  /** The main subgraph with inputs and outputs for its cells. */
  main(subgraph: TfliteSubgraph, index: number, passing: Passing): Procedure;
  /** Those of the file, and those that were made. */
  readonly procedures: readonly Procedure[];
}

/** The size of a hash table that no operator fills. */
const noKeys: TfliteTensor = { name: "", type: "INT64", shape: [1], data: new Uint8Array(8), isVariable: false };

/** The inputs of operators on hash tables. */
const tableInputs: Readonly<Record<string, number>> = {
  HASHTABLE_FIND: 3,
  HASHTABLE_IMPORT: 3,
  HASHTABLE_SIZE: 1,
};

const empty: TfliteSubgraph = { name: "", tensors: [], operators: [], inputs: [], outputs: [] };

/** Starts to make subgraphs. `constants`: cells that are constants. */
export function createThreading(
  model: TfliteModel,
  resources: Resources,
  initial: Initial,
  constants: ReadonlySet<string>,
  mainIndex: number,
): Threading {
  const made = new Map<string, number>();
  let size = 0;
  const threads: Threads = {
    ...{ model, resources, initial, constants, mainIndex },
    procedures: model.subgraphs.map((subgraph, index) => ({ subgraph, index })),
    specialise(index, passing) {
      const { bound, cells, written } = passing;
      const id = JSON.stringify([index, bound.map((resource) => resource?.key ?? null), cells, written]);
      const known = made.get(id);
      const subgraph = model.subgraphs[index];
      if (known !== undefined) return known;
      // Its index may be that of a subgraph that was made.
      ensure(subgraph !== undefined, "subgraphs", () => `there is no subgraph ${index} that an operator may run`);
      // One that runs itself refers to the file's subgraph, and is refused.
      made.set(id, index);
      const place = threads.procedures.push(thread(subgraph, index, passing)) - 1;
      made.set(id, place);
      return place;
    },
    passThrough: (index, cells, written) =>
      threads.procedures.push(thread(empty, index, { bound: [], cells, written })) - 1,
  };

  function thread(source: TfliteSubgraph, index: number, passing: Passing): Procedure {
    size += source.tensors.length + source.operators.length + passing.cells.length + 1;
    const most = () => `subgraphs with state take more than ${MOST_MADE} tensors and operators`;
    ensure(size <= MOST_MADE, `subgraphs[${index}]`, most);
    return threadSubgraph(openBody(threads, source, index, passing), passing);
  }
  return { main: thread, procedures: threads.procedures };
}

/** The subgraph without resources. */
function threadSubgraph(body: Body, { bound, written }: Passing): Procedure {
  const { source, index, tensors, operators, origins, carried, cellInputs, threads } = body;
  for (const [origin, operator] of source.operators.entries()) threadOperator(body, operator, origin);
  const inputs = source.inputs.filter((_, place) => bound[place] === undefined);
  const results = plainTensors(body, source.outputs).map((tensor) => realTensor(body, tensor));
  const outputs = [...results, ...written.map((key) => presentOf(body, key))];
  return {
    subgraph: { ...source, tensors, operators, inputs: [...inputs, ...cellInputs], outputs },
    ...{ index, origins, carried },
    ...(index !== threads.mainIndex && { returnsStates: true }),
  };
}

function threadOperator(body: Body, operator: TfliteOperator, origin: number): void {
  const { index, known, threads } = body;
  const place = () => operatorWhere({ path: `subgraphs[${index}]`, index }, operator, origin);
  if (isResourceOperator(operator)) checkOperatorTensors(operator, place);
  const resource = resourceOf(operator, known);
  const { used, written } = threads.resources.effectsAt(index, operator, known);
  // A part of a hash table that no operator fills has no type.
  const isCell = (key: string) => !threads.constants.has(key) && threads.resources.cell(key) !== undefined;
  const use = { operator, origin, keys: [...used].filter(isCell), changed: [...written].filter(isCell) };
  const isDescribed = [...used].every((key) => threads.constants.has(key) || isCell(key));
  if (carryOperator(body, use, resource)) return;
  if (resource?.kind === "table" && !isDescribed) {
    const { name, outputs } = operator;
    ensure(name === "HASHTABLE_SIZE", place, () => `no operator fills ${resource.name}, so it has no keys`);
    body.aliases.set(outputs[0] ?? -1, addTensor(body, noKeys));
    body.carried.add(origin);
  } else if (!emitWithCells(body, use, resource, used.size > 0)) {
    const inputs = operator.inputs.map((tensor) => realTensor(body, tensor));
    addOperator(body, { ...operator, inputs }, origin);
  }
}

/** Makes an operator a value. False if it is none of those that only name, read or change a cell. */
function carryOperator(body: Body, { operator, origin }: Use, resource: Resource | undefined): boolean {
  const { name, inputs, outputs } = operator;
  const { aliases, current, threads } = body;
  if (name === "READ_VARIABLE" && resource !== undefined) {
    aliases.set(outputs[0] ?? -1, presentOf(body, resource.key));
  } else if (name === "ASSIGN_VARIABLE" && resource !== undefined) {
    current.set(resource.key, realTensor(body, inputs[1] ?? -1));
  } else {
    const isHandle = name === "VAR_HANDLE" || name === "HASHTABLE";
    const isFilled = resource !== undefined && threads.initial.filled.has(resource.key);
    if (!isHandle && !(name === "HASHTABLE_IMPORT" && isFilled)) return false;
  }
  body.carried.add(origin);
  return true;
}

/** Emits an operator with the cells that it uses. False if it is emitted as it is. */
function emitWithCells(body: Body, use: Use, resource: Resource | undefined, usesCells: boolean): boolean {
  const { operator, origin } = use;
  const { name, inputs, options } = operator;
  const { model } = body.threads;
  if (resource?.kind === "table" && inputs.length === tableInputs[name]) {
    emitTable(body, operator, origin, resource);
  } else if (name === "CALL_ONCE") {
    if (model.subgraphs[Number(options["initSubgraphIndex"] ?? 0)] === undefined) addOperator(body, operator, origin);
    else if (usesCells) emitOnce(body, use);
    else body.carried.add(origin);
  } else {
    const isAffected = usesCells || inputs.some((tensor) => body.known.has(tensor));
    const isCall = calleesOf(operator).options.length > 0;
    if (!isCall || !isAffected || !keepsResources(body, operator)) return false;
    emitCall(body, use);
  }
  return true;
}

/** True if each resource that is a loop variable stays the same one. */
function keepsResources({ threads, known }: Body, { name, options, inputs }: TfliteOperator): boolean {
  const body = name === "WHILE" ? threads.model.subgraphs[Number(options["bodySubgraphIndex"] ?? 0)] : undefined;
  if (body === undefined) return true;
  const bound = inputs.map((tensor) => known.get(tensor));
  const inside = resourcesIn(body, bound);
  return bound.every((resource, place) => resource?.key === inside.get(body.outputs[place] ?? -1)?.key);
}
