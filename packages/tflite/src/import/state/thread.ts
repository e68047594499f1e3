/**
 * State as dataflow: subgraphs in which resource variables and hash tables are gone, and each cell that is used is an input, and an
 * output if it is changed.
 */

import { elementAt } from "@nnhal/operations";
import { ensure } from "../../error.ts";
import type { TfliteModel, TfliteOperator, TfliteSubgraph, TfliteTensor } from "../../model.ts";
import type { OptionValue } from "../../schema/options.ts";
import { operatorWhere } from "../lowering/place.ts";
import { checkOperatorTensors } from "../operator-tensors.ts";
import { type Called, callOf, changingLoop, tensorLike } from "./changing-loop.ts";
import { isResourceOperator } from "./has-resources.ts";
import type { Initial } from "./initial.ts";
import type { Procedure } from "./procedure.ts";
import {
  type Bound,
  calleesOf,
  onceKey,
  type Resource,
  type Resources,
  resourceOf,
  resourcesIn,
  tableCells,
  variableTensorKey,
} from "./resources.ts";

/** Values that a subgraph passes in and out beside its own inputs and outputs. */
interface Passing {
  readonly bound: Bound;
  /** The cells that are inputs after its own. */
  readonly cells: readonly string[];
  /** The cells whose last value is an output after its own. */
  readonly written: readonly string[];
}

/** The cells of a loop: those that it may change come first. */
interface LoopCells {
  readonly ordered: readonly string[];
  readonly changed: readonly string[];
  /** The place of the subgraph that an option names, with cells as results. */
  callee(option: string, results: readonly string[]): number;
}

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

/** Starts to make subgraphs. `constants`: cells that are constants. */
export function createThreading(
  model: TfliteModel,
  resources: Resources,
  initial: Initial,
  constants: ReadonlySet<string>,
  mainIndex: number,
): Threading {
  const procedures: Procedure[] = model.subgraphs.map((subgraph, index) => ({ subgraph, index }));
  const made = new Map<string, number>();
  let size = 0;

  /** A subgraph of the file with these inputs and outputs; its index among the procedures. */
  function specialised(index: number, passing: Passing): number {
    const { bound, cells, written } = passing;
    const id = JSON.stringify([index, bound.map((resource) => resource?.key ?? null), cells, written]);
    const known = made.get(id);
    const subgraph = model.subgraphs[index];
    if (known !== undefined) return known;
    // Its index may be that of a subgraph that was made.
    ensure(subgraph !== undefined, "subgraphs", () => `there is no subgraph ${index} that an operator may run`);
    // One that runs itself refers to the file's subgraph, and is refused.
    made.set(id, index);
    const procedure = threaded(subgraph, index, passing);
    procedures.push(procedure);
    made.set(id, procedures.length - 1);
    return procedures.length - 1;
  }

  /** The subgraph that stands for one that need not run: it returns the cells as they are. */
  function passed(index: number, cells: readonly string[], written: readonly string[]): number {
    const empty: TfliteSubgraph = { name: "", tensors: [], operators: [], inputs: [], outputs: [] };
    procedures.push(threaded(empty, index, { bound: [], cells, written }));
    return procedures.length - 1;
  }

  /** True if each resource that is a loop variable stays the same one. */
  function keepsResources({ name, options, inputs }: TfliteOperator, known: ReadonlyMap<number, Resource>): boolean {
    const body = name === "WHILE" ? model.subgraphs[Number(options["bodySubgraphIndex"] ?? 0)] : undefined;
    if (body === undefined) return true;
    const bound = inputs.map((tensor) => known.get(tensor));
    const inside = resourcesIn(body, bound);
    return bound.every((resource, place) => resource?.key === inside.get(body.outputs[place] ?? -1)?.key);
  }

  function threaded(source: TfliteSubgraph, index: number, { bound, cells, written }: Passing): Procedure {
    size += source.tensors.length + source.operators.length + cells.length + 1;
    const most = () => `subgraphs with state take more than ${MOST_MADE} tensors and operators`;
    ensure(size <= MOST_MADE, `subgraphs[${index}]`, most);
    const tensors = [...source.tensors];
    const operators: TfliteOperator[] = [];
    const origins: number[] = [];
    const carried = new Set<number>();
    const current = new Map<string, number>();
    const aliases = new Map<number, number>();
    const known = resourcesIn(source, bound);

    const add = (tensor: TfliteTensor): number => tensors.push(tensor) - 1;
    const real = (tensor: number): number => aliases.get(tensor) ?? tensor;
    const constant = (name: string): TfliteTensor => ({
      name,
      type: "BOOL",
      shape: [1],
      data: Uint8Array.of(1),
      isVariable: false,
    });

    /** A new tensor for the value of a cell; variable tensors of this subgraph represent themselves. */
    function tensorOf(key: string): number {
      const cell = resources.cell(key);
      if (cell === undefined) throw new TypeError(`no operator describes the cell ${key}`);
      return add(cell.tensor);
    }
    function own(key: string): number | undefined {
      const place = source.tensors.findIndex((tensor, i) => tensor.isVariable && variableTensorKey(index, i) === key);
      return index === mainIndex || place < 0 ? undefined : place;
    }

    /** The tensor with the present value of a cell. */
    function presentOf(key: string): number {
      const present = current.get(key);
      if (present !== undefined) return present;
      const value = constants.has(key) ? initial.values.get(key) : undefined;
      if (value === undefined) throw new TypeError(`the cell ${key} is not passed to subgraph ${index}`);
      const tensor = add(value);
      current.set(key, tensor);
      return tensor;
    }

    const cellInputs = cells.map((key) => {
      const tensor = own(key) ?? tensorOf(key);
      current.set(key, tensor);
      return tensor;
    });

    function emit(operator: TfliteOperator, origin: number): void {
      operators.push(operator);
      origins.push(origin);
    }

    /** Runs subgraphs that use cells or get resources: `inputs` include resources, which are not passed. */
    function emitCall(operator: TfliteOperator, origin: number, keys: readonly string[], changed: readonly string[]) {
      const { inputs, outputs, options, name } = operator;
      const { options: named, passed: given } = calleesOf(operator);
      const bindings = given.map((tensor) => known.get(tensor));
      // The cells that a WHILE only reads come last.
      const ordered = [...changed, ...keys.filter((key) => !changed.includes(key))];
      const runs = (subgraph: number, results: readonly string[]) =>
        specialised(subgraph, { bound: bindings, cells: ordered, written: results });
      const callee = (option: string, results: readonly string[]) => runs(Number(options[option] ?? 0), results);
      const changes: Record<string, OptionValue> = {};
      if (name === "WHILE") {
        const condition = resources.effectsOf(Number(options["condSubgraphIndex"] ?? 0), bindings);
        if (condition.written.size > 0 && emitChangingLoop(operator, origin, { ordered, changed, callee })) return;
        changes["condSubgraphIndex"] = callee("condSubgraphIndex", []);
        changes["bodySubgraphIndex"] = callee("bodySubgraphIndex", changed);
        changes["readOnlyInputs"] = ordered.length - changed.length;
      } else {
        for (const [option, subgraphs] of named) {
          const made = subgraphs.map((subgraph) => runs(subgraph, changed));
          changes[option] = typeof options[option] === "object" ? made : elementAt(made, 0);
        }
      }
      const results = changed.map(tensorOf);
      emit(
        {
          ...operator,
          inputs: [...inputs.filter((tensor) => !known.has(tensor)).map(real), ...ordered.map((key) => presentOf(key))],
          outputs: [...outputs.filter((tensor) => !known.has(tensor)), ...results],
          options: { ...options, ...changes },
        },
        origin,
      );
      for (const [place, key] of changed.entries()) current.set(key, elementAt(results, place));
    }

    /** Runs a WHILE whose condition changes cells. False if its subgraphs do not fit each other, which is refused later. */
    function emitChangingLoop(
      operator: TfliteOperator,
      origin: number,
      { ordered, changed, callee }: LoopCells,
    ): boolean {
      const called = ["condSubgraphIndex", "bodySubgraphIndex"].map((option): Called | undefined => {
        const place = callee(option, changed);
        const subgraph = procedures[place]?.subgraph;
        return subgraph && { place, subgraph };
      });
      const [condition, body] = called;
      if (condition === undefined || body === undefined) return false;
      const loop = changingLoop(condition, body, changed.length);
      const flag = condition.subgraph.tensors[condition.subgraph.outputs[0] ?? -1];
      if (loop === undefined || flag === undefined) return false;
      const values = operator.inputs.filter((tensor) => !known.has(tensor)).map(real);
      const [first, last] = [add(tensorLike(flag)), add(tensorLike(flag))];
      const [before, after] = [changed.map(tensorOf), changed.map(tensorOf)];
      emit(callOf(condition.place, [...values, ...ordered.map(presentOf)], [first, ...before]), origin);
      const place = (option: string, subgraph: TfliteSubgraph) => {
        const file = Number(operator.options[option] ?? 0);
        return procedures.push({ subgraph, index: file, origins: subgraph.operators.map(() => -1) }) - 1;
      };
      const readOnly = ordered.slice(changed.length);
      emit(
        {
          ...operator,
          inputs: [first, ...values, ...before, ...readOnly.map(presentOf)],
          outputs: [last, ...operator.outputs.filter((tensor) => !known.has(tensor)), ...after],
          options: {
            condSubgraphIndex: place("condSubgraphIndex", loop.test),
            bodySubgraphIndex: place("bodySubgraphIndex", loop.step),
            readOnlyInputs: readOnly.length,
          },
        },
        origin,
      );
      for (const [index, key] of changed.entries()) current.set(key, elementAt(after, index));
      return true;
    }

    function emitOnce(operator: TfliteOperator, origin: number, keys: readonly string[], changed: readonly string[]) {
      const init = Number(operator.options["initSubgraphIndex"] ?? 0);
      const flag = onceKey(init);
      const others = changed.filter((key) => key !== flag);
      const inputs = keys.filter((key) => key !== flag);
      const results = others.map(tensorOf);
      emit(
        {
          ...operator,
          inputs: [presentOf(flag), ...inputs.map(presentOf)],
          outputs: results,
          options: {
            initSubgraphIndex: specialised(init, { bound: [], cells: inputs, written: others }),
            doneSubgraphIndex: passed(init, inputs, others),
          },
        },
        origin,
      );
      for (const [place, key] of others.entries()) current.set(key, elementAt(results, place));
      current.set(flag, add(constant(resources.cell(flag)?.name ?? "")));
    }

    function emitTable(operator: TfliteOperator, origin: number, table: Resource): void {
      const keys = tableCells(table);
      const { name, inputs, outputs } = operator;
      const rest = inputs.slice(1).map(real);
      const cellsOf = [keys.isImported, keys.keys, keys.values].map(presentOf);
      if (name !== "HASHTABLE_IMPORT") {
        const read = name === "HASHTABLE_SIZE" ? cellsOf.slice(0, 2) : cellsOf;
        emit({ ...operator, inputs: [...read, ...rest], outputs }, origin);
        return;
      }
      const results = [tensorOf(keys.keys), tensorOf(keys.values)];
      emit({ ...operator, inputs: [...cellsOf, ...rest], outputs: results }, origin);
      current.set(keys.keys, elementAt(results, 0)).set(keys.values, elementAt(results, 1));
      current.set(keys.isImported, add(constant(table.name)));
    }

    for (const [origin, operator] of source.operators.entries()) {
      const { name, inputs, outputs } = operator;
      if (isResourceOperator(operator)) {
        checkOperatorTensors(operator, () => operatorWhere({ path: `subgraphs[${index}]`, index }, operator, origin));
      }
      const resource = resourceOf(operator, known);
      const { used, written: changes } = resources.effectsAt(index, operator, known);
      // A part of a hash table that no operator fills has no type.
      const isCell = (key: string) => !constants.has(key) && resources.cell(key) !== undefined;
      const keys = [...used].filter(isCell);
      const changed = [...changes].filter(isCell);
      const isDescribed = [...used].every((key) => constants.has(key) || isCell(key));
      if (name === "VAR_HANDLE" || name === "HASHTABLE") carried.add(origin);
      else if (name === "READ_VARIABLE" && resource !== undefined) {
        aliases.set(outputs[0] ?? -1, presentOf(resource.key));
        carried.add(origin);
      } else if (name === "ASSIGN_VARIABLE" && resource !== undefined) {
        current.set(resource.key, real(inputs[1] ?? -1));
        carried.add(origin);
      } else if (name === "HASHTABLE_IMPORT" && resource !== undefined && initial.filled.has(resource.key)) {
        carried.add(origin);
      } else if (resource?.kind === "table" && isDescribed && inputs.length === tableInputs[name])
        emitTable(operator, origin, resource);
      else if (resource?.kind === "table" && !isDescribed) {
        const place = () => operatorWhere({ path: `subgraphs[${index}]`, index }, operator, origin);
        ensure(name === "HASHTABLE_SIZE", place, () => `no operator fills ${resource.name}, so it has no keys`);
        aliases.set(outputs[0] ?? -1, add(noKeys));
        carried.add(origin);
      } else if (name === "CALL_ONCE") {
        const init = Number(operator.options["initSubgraphIndex"] ?? 0);
        if (model.subgraphs[init] === undefined) emit(operator, origin);
        else if (used.size === 0) carried.add(origin);
        else emitOnce(operator, origin, keys, changed);
      } else if (calleesOf(operator).options.length > 0) {
        const isAffected = used.size > 0 || inputs.some((tensor) => known.has(tensor));
        if (isAffected && keepsResources(operator, known)) emitCall(operator, origin, keys, changed);
        else emit({ ...operator, inputs: inputs.map(real) }, origin);
      } else emit({ ...operator, inputs: inputs.map(real) }, origin);
    }
    const inputs = source.inputs.filter((_, place) => bound[place] === undefined);
    return {
      subgraph: {
        ...source,
        tensors,
        operators,
        inputs: [...inputs, ...cellInputs],
        outputs: [...source.outputs.filter((tensor) => !known.has(tensor)).map(real), ...written.map(presentOf)],
      },
      index,
      origins,
      carried,
      ...(index !== mainIndex && { returnsStates: true }),
    };
  }

  return {
    main: (subgraph, index, passing) => threaded(subgraph, index, passing),
    procedures,
  };
}
