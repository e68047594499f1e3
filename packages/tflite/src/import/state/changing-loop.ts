/**
 * A WHILE whose condition changes state. The HAL's condition has one result, so the condition runs before the loop and at the end of each
 * step, and the loop carries its result.
 */
import type { TfliteOperator, TfliteSubgraph, TfliteTensor } from "../../model.ts";

/** A subgraph with its cells as inputs and outputs, and its index among the procedures. */
export interface Called {
  readonly subgraph: TfliteSubgraph;
  readonly place: number;
}

/** The subgraphs of the loop. Their first loop variable is the condition's last result. */
export interface ChangingLoop {
  /** Returns the condition's last result. */
  readonly test: TfliteSubgraph;
  /** Runs the body, then the condition. */
  readonly step: TfliteSubgraph;
}

/** A tensor of this kind without a value. */
export function tensorLike({ name, type, shape, shapeSignature, quantization }: TfliteTensor): TfliteTensor {
  return {
    ...{ name, type, shape, isVariable: false },
    ...(shapeSignature && { shapeSignature }),
    ...(quantization && { quantization }),
  };
}

/** The operator that runs a subgraph. */
export function callOf(place: number, inputs: readonly number[], outputs: readonly number[]): TfliteOperator {
  return { name: "CALL", version: 1, inputs, outputs, options: { subgraph: place } };
}

/**
 * The subgraphs of the loop; undefined if the two do not fit each other. Both take the loop variables, then `changed` cells that are
 * results as well, then those that are only read.
 */
export function changingLoop(condition: Called, body: Called, changed: number): ChangingLoop | undefined {
  const tensors: TfliteTensor[] = [];
  const copies = ({ subgraph }: Called, list: "inputs" | "outputs") =>
    subgraph[list].flatMap((tensor) => {
      const source = subgraph.tensors[tensor];
      return source === undefined ? [] : [tensors.push(tensorLike(source)) - 1];
    });
  const [flag, ...others] = copies(condition, "outputs");
  const values = copies(body, "inputs");
  const results = copies(body, "outputs");
  const isFitting =
    flag !== undefined && others.length === changed && values.length === condition.subgraph.inputs.length;
  if (!isFitting || results.length > values.length) return undefined;
  const [next, ...last] = copies(condition, "outputs");
  if (next === undefined) return undefined;
  const read = values.slice(results.length);
  const inputs = [flag, ...values];
  const operators = [
    callOf(body.place, values, results),
    callOf(condition.place, [...results, ...read], [next, ...last]),
  ];
  const kept = results.slice(0, results.length - changed);
  return {
    test: { name: "", tensors, operators: [], inputs, outputs: [flag] },
    step: { name: "", tensors, operators, inputs, outputs: [next, ...kept, ...last] },
  };
}
