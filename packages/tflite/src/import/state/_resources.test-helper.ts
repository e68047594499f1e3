/**
 * Parts of models with state, and their runs.
 */
import { execute, expectValid, type OperatorGiven, type SubgraphGiven } from "../../_model.test-helper.ts";
import type { ImportedModel } from "../imported-model.ts";

export const f = { type: "FLOAT32", shape: [2] } as const;
export const resource = { type: "RESOURCE", shape: [] } as const;
export const flag = { type: "BOOL", shape: [] } as const;

export const handle = (to: string, sharedName = "v"): OperatorGiven => ({
  name: "VAR_HANDLE",
  inputs: [],
  outputs: [to],
  options: { container: "", sharedName },
});
export const read = (from: string, to: string): OperatorGiven => ({
  name: "READ_VARIABLE",
  inputs: [from],
  outputs: [to],
});
export const assign = (to: string, value: string): OperatorGiven => ({
  name: "ASSIGN_VARIABLE",
  inputs: [to, value],
  outputs: [],
});
export const binary = (name: string, inputs: readonly string[], to: string): OperatorGiven => ({
  name,
  inputs,
  outputs: [to],
});
export const once = (initSubgraphIndex: number): OperatorGiven => ({
  name: "CALL_ONCE",
  inputs: [],
  outputs: [],
  options: { initSubgraphIndex },
});

/** v += x; y = v. */
export const accumulate: SubgraphGiven = {
  tensors: { x: f, h: resource, old: f, y: f },
  operators: [handle("h"), read("h", "old"), binary("ADD", ["old", "x"], "y"), assign("h", "y")],
  inputs: ["x"],
  outputs: ["y"],
};

/** v = data. */
export const initialise = (data: readonly number[]): SubgraphGiven => ({
  tensors: { h: resource, c: { ...f, data } },
  operators: [handle("h"), assign("h", "c")],
  inputs: [],
  outputs: [],
});

/** Runs a model several times; its states follow. The other outputs of each run. */
export async function runs(imported: ImportedModel, given: readonly (readonly number[][])[]): Promise<number[][][]> {
  expectValid(imported);
  const { states, inputs, outputs } = imported;
  const values = new Map<number, number[]>();
  for (const { input, initial } of states) {
    const { shape, tensorType } = inputs[input] ?? {};
    const bytes = initial?.slice().buffer;
    const zeros = new Array<number>((shape ?? []).reduce((size, extent) => size * extent, 1)).fill(0);
    values.set(input, bytes && tensorType === "FLOAT32" ? [...new Float32Array(bytes)] : zeros);
  }
  const own = [...inputs.keys()].filter((place) => !values.has(place));
  const kept = new Set(states.map(({ output }) => output));
  const results: number[][][] = [];
  for (const round of given) {
    const args = inputs.map((_, place) => values.get(place) ?? round[own.indexOf(place)] ?? []);
    const result = await execute(imported, args);
    for (const { input, output } of states) if (output !== undefined) values.set(input, result[output] ?? []);
    results.push(outputs.flatMap((_, place) => (kept.has(place) ? [] : [result[place] ?? []])));
  }
  return results;
}
