/** Operators that use state: those that run subgraphs get cells and return them, those of hash tables get the parts of their tables. */
import { elementAt } from "@nnhal/operations";
import type { TfliteOperator, TfliteSubgraph } from "../../model.ts";
import type { OptionValue } from "../../schema/options.ts";
import { addCell, addOperator, addTensor, type Body, plainTensors, presentOf, realTensor, trueFlag } from "./body.ts";
import { type Called, callOf, changingLoop, tensorLike } from "./changing-loop.ts";
import { calleesOf, onceKey, type Resource, tableCells } from "./resources.ts";

/** An operator, its place in the file, the cells that it uses and those of them that it changes. */
export interface Use {
  readonly operator: TfliteOperator;
  readonly origin: number;
  readonly keys: readonly string[];
  readonly changed: readonly string[];
}

/** The cells of a loop: those that it may change come first. */
interface LoopCells {
  readonly ordered: readonly string[];
  readonly changed: readonly string[];
  /** The place of the subgraph that an option names, with cells as results. */
  callee(option: string, results: readonly string[]): number;
}

/** Runs subgraphs that use cells or get resources: the operator's inputs include resources, which are not passed. */
export function emitCall(body: Body, { operator, origin, keys, changed }: Use): void {
  const { known, threads, current } = body;
  const { inputs, outputs, options, name } = operator;
  const { options: named, passed: given } = calleesOf(operator);
  const bound = given.map((tensor) => known.get(tensor));
  // The cells that a WHILE only reads come last.
  const ordered = [...changed, ...keys.filter((key) => !changed.includes(key))];
  const runs = (subgraph: number, results: readonly string[]) =>
    threads.specialise(subgraph, { bound, cells: ordered, written: results });
  const callee = (option: string, results: readonly string[]) => runs(Number(options[option] ?? 0), results);
  const changes: Record<string, OptionValue> = {};
  if (name === "WHILE") {
    const condition = threads.resources.effectsOf(Number(options["condSubgraphIndex"] ?? 0), bound);
    const isChanging = condition.written.size > 0;
    if (isChanging && emitChangingLoop(body, operator, origin, { ordered, changed, callee })) return;
    changes["condSubgraphIndex"] = callee("condSubgraphIndex", []);
    changes["bodySubgraphIndex"] = callee("bodySubgraphIndex", changed);
    changes["readOnlyInputs"] = ordered.length - changed.length;
  } else {
    for (const [option, subgraphs] of named) {
      const made = subgraphs.map((subgraph) => runs(subgraph, changed));
      changes[option] = typeof options[option] === "object" ? made : elementAt(made, 0);
    }
  }
  const results = changed.map((key) => addCell(body, key));
  const values = plainTensors(body, inputs).map((tensor) => realTensor(body, tensor));
  const call = {
    ...operator,
    inputs: [...values, ...ordered.map((key) => presentOf(body, key))],
    outputs: [...plainTensors(body, outputs), ...results],
    options: { ...options, ...changes },
  };
  addOperator(body, call, origin);
  for (const [place, key] of changed.entries()) current.set(key, elementAt(results, place));
}

/** Runs a WHILE whose condition changes cells. False if its subgraphs do not fit each other, which is refused later. */
function emitChangingLoop(
  body: Body,
  operator: TfliteOperator,
  origin: number,
  { ordered, changed, callee }: LoopCells,
): boolean {
  const { procedures } = body.threads;
  const [condition, step] = ["condSubgraphIndex", "bodySubgraphIndex"].map((option): Called | undefined => {
    const place = callee(option, changed);
    const subgraph = procedures[place]?.subgraph;
    return subgraph && { place, subgraph };
  });
  if (condition === undefined || step === undefined) return false;
  const loop = changingLoop(condition, step, changed.length);
  const flag = condition.subgraph.tensors[condition.subgraph.outputs[0] ?? -1];
  if (loop === undefined || flag === undefined) return false;
  const cellsOf = (keys: readonly string[]) => keys.map((key) => presentOf(body, key));
  const make = () => changed.map((key) => addCell(body, key));
  const values = plainTensors(body, operator.inputs).map((tensor) => realTensor(body, tensor));
  const [first, last] = [addTensor(body, tensorLike(flag)), addTensor(body, tensorLike(flag))];
  const [before, after] = [make(), make()];
  addOperator(body, callOf(condition.place, [...values, ...cellsOf(ordered)], [first, ...before]), origin);
  const place = (option: string, subgraph: TfliteSubgraph) => {
    const file = Number(operator.options[option] ?? 0);
    return procedures.push({ subgraph, index: file, origins: subgraph.operators.map(() => -1) }) - 1;
  };
  const readOnly = ordered.slice(changed.length);
  const call = {
    ...operator,
    inputs: [first, ...values, ...before, ...cellsOf(readOnly)],
    outputs: [last, ...plainTensors(body, operator.outputs), ...after],
    options: {
      condSubgraphIndex: place("condSubgraphIndex", loop.test),
      bodySubgraphIndex: place("bodySubgraphIndex", loop.step),
      readOnlyInputs: readOnly.length,
    },
  };
  addOperator(body, call, origin);
  for (const [index, key] of changed.entries()) body.current.set(key, elementAt(after, index));
  return true;
}

/** Runs the subgraph of a CALL_ONCE unless a flag says that it has run. */
export function emitOnce(body: Body, { operator, origin, keys, changed }: Use): void {
  const { threads, current } = body;
  const init = Number(operator.options["initSubgraphIndex"] ?? 0);
  const flag = onceKey(init);
  const others = changed.filter((key) => key !== flag);
  const cells = keys.filter((key) => key !== flag);
  const results = others.map((key) => addCell(body, key));
  const inputs = [flag, ...cells].map((key) => presentOf(body, key));
  const options = {
    initSubgraphIndex: threads.specialise(init, { bound: [], cells, written: others }),
    doneSubgraphIndex: threads.passThrough(init, cells, others),
  };
  addOperator(body, { ...operator, inputs, outputs: results, options }, origin);
  for (const [place, key] of others.entries()) current.set(key, elementAt(results, place));
  current.set(flag, addTensor(body, trueFlag(threads.resources.cell(flag)?.name ?? "")));
}

/** Emits an operator on a hash table, whose parts are its first inputs. */
export function emitTable(body: Body, operator: TfliteOperator, origin: number, table: Resource): void {
  const { current } = body;
  const { isImported, keys, values } = tableCells(table);
  const { name, inputs, outputs } = operator;
  const rest = inputs.slice(1).map((tensor) => realTensor(body, tensor));
  const parts = [isImported, keys, values].map((key) => presentOf(body, key));
  if (name !== "HASHTABLE_IMPORT") {
    const read = name === "HASHTABLE_SIZE" ? parts.slice(0, 2) : parts;
    addOperator(body, { ...operator, inputs: [...read, ...rest], outputs }, origin);
    return;
  }
  const results = [addCell(body, keys), addCell(body, values)];
  addOperator(body, { ...operator, inputs: [...parts, ...rest], outputs: results }, origin);
  current.set(keys, elementAt(results, 0)).set(values, elementAt(results, 1));
  current.set(isImported, addTensor(body, trueFlag(table.name)));
}
