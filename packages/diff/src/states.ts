/** States that a network keeps from one run to the next. */
import { elementAt } from "@nnhal/operations";
import type { DiffContext } from "./context.ts";
import { isRecorded } from "./diff-operation.ts";
import type { PreparedPart, TensorValue } from "./prepared-part.ts";

/** A result that is an input of the next run, by their places among the results and inputs of the model. */
export interface KeptState {
  readonly input: number;
  readonly output: number;
}

/** The values of the inputs of each run. */
type Inputs = readonly (readonly TensorValue[])[];

/**
 * Runs one after the other, each with what the one before left. Returns the inputs that they had, and their results. Rejects with a
 * NeuralNetworksError.
 */
export async function runInTurn(
  prepared: PreparedPart,
  inputs: Inputs,
  states: readonly KeptState[] = [],
): Promise<{ readonly inputs: Inputs; readonly outputs: Inputs }> {
  const [used, outputs]: [(readonly TensorValue[])[], (readonly TensorValue[])[]] = [[], []];
  for (const given of inputs) {
    const last = outputs.at(-1);
    const values = [...given];
    if (last !== undefined) for (const { input, output } of states) values[input] = elementAt(last, output);
    used.push(values);
    outputs.push(await prepared.run(values));
  }
  return { inputs: used, outputs };
}

/** The inputs of the judge's runs. Rejects with a RangeError if the judge does not compute, and with a NeuralNetworksError. */
export async function inputsWithStates(
  { model, judge, prepare }: DiffContext,
  inputs: Inputs,
  states: readonly KeptState[],
): Promise<Inputs> {
  if (isRecorded(judge))
    throw new RangeError(
      "states: expected a judge that computes, since it has to go on from run to run, got recorded values",
    );
  const prepared = await prepare(model, judge);
  try {
    return (await runInTurn(prepared, inputs, states)).inputs;
  } finally {
    prepared.close();
  }
}
