/**
 * A plain interpreter of examples: each operation on its reference kernel, each result in separate memory. It is the judge of
 * random graphs, so it shares only the kernels with the executor of the reference backend.
 */
import { decodeTensorData, elementAt, elementCount, type Operation, type Tensor } from "@nnhal/operations";
import type { OperationTypeName } from "@nnhal/types";
import type { RandomOperation } from "../random/draw.ts";
import { kernelOperations } from "../random/examples.ts";
import type { Random } from "../random/random.ts";
import { runRandomOperation } from "../random/run.ts";
import { signatureFor } from "../random/signature.ts";
import type { Example, ExampleOperand, ExampleOperation, ExampleSubgraph } from "../vectors/example.ts";

/** Deviations of an interpreter from the reference. */
export interface Deviation {
  /** The operands of an operation as it sees them. Default: as they are. */
  inputs?(drawn: RandomOperation): RandomOperation;
  /** The results of an operation. Default: as they are. */
  outputs?(drawn: RandomOperation, outputs: readonly Tensor[]): readonly Tensor[];
}

/** The values of a subgraph's operands, or why there are none. */
export type Evaluation = { readonly values: readonly (Tensor | undefined)[] } | { readonly refused: string };

/** The most runs of a loop's body. */
const mostRuns = 64;

class Refused extends Error {}

/** Computes the values of all operands of the main subgraph, from the inputs that the example has. `random`: of operations that draw. */
export function evaluate(example: Example, random: Random, deviation: Deviation = {}): Evaluation {
  const { main } = example;
  const inputs = main.inputIndexes.map((index) => tensorOf(elementAt(main.operands, index)));
  return evaluateSubgraph(example, main, inputs, random, deviation);
}

/** The same for any subgraph of an example. */
export function evaluateSubgraph(
  { referenced }: Pick<Example, "referenced">,
  subgraph: ExampleSubgraph,
  inputs: readonly (Tensor | undefined)[],
  random: Random,
  deviation: Deviation = {},
): Evaluation {
  try {
    return { values: run(subgraph, inputs) };
  } catch (error) {
    if (error instanceof Refused) return { refused: error.message };
    throw error;
  }

  function run(
    { operands, operations, inputIndexes }: ExampleSubgraph,
    given: readonly (Tensor | undefined)[],
  ): (Tensor | undefined)[] {
    const values = operands.map((operand) => (isConstant(operand) ? tensorOf(operand) : undefined));
    for (const [position, index] of inputIndexes.entries()) values[index] = given[position];
    for (const operation of operations) {
      const results = resultsOf(operation, operands, values);
      for (const [position, index] of operation.outputs.entries()) {
        values[index] = results[position];
        checkExtents(elementAt(operands, index), results[position]);
      }
    }
    return values;
  }

  function resultsOf(
    operation: ExampleOperation,
    operands: readonly ExampleOperand[],
    values: readonly (Tensor | undefined)[],
  ): readonly (Tensor | undefined)[] {
    const given = operation.inputs.map((index) => values[index]);
    const referencedBy = (position: number) => {
      const { data } = elementAt(operands, elementAt(operation.inputs, position));
      return elementAt(referenced, new DataView((data ?? new Uint8Array(4)).slice().buffer).getUint32(0, true));
    };
    if (operation.type === "IF") {
      return outputsOf(referencedBy((given[0]?.data[0] ?? 0) === 0 ? 2 : 1), given.slice(3));
    }
    if (operation.type === "WHILE") {
      const [condition, body] = [referencedBy(0), referencedBy(1)];
      let state = given.slice(2);
      for (let runs = 0; outputsOf(condition, state)[0]?.data[0] !== 0; runs++) {
        if (runs === mostRuns) throw new Refused("a loop does not end");
        const next = outputsOf(body, state);
        state = [...next, ...state.slice(next.length)];
      }
      return state.slice(0, operation.outputs.length);
    }
    return compute(operation, operands, given);
  }

  function outputsOf(called: ExampleSubgraph, given: readonly (Tensor | undefined)[]): readonly (Tensor | undefined)[] {
    const values = run(called, given);
    return called.outputIndexes.map((index) => values[index]);
  }

  function compute(
    operation: ExampleOperation,
    operands: readonly ExampleOperand[],
    given: readonly (Tensor | undefined)[],
  ): readonly Tensor[] {
    const drawn = operationOf(operation, operands, given);
    if (drawn === undefined) throw new Refused(`${operation.type} does not take these types`);
    const outcome = runRandomOperation(deviation.inputs?.(drawn) ?? drawn, random, false);
    if (outcome.kind !== "computed") throw new Refused(`${operation.type} is ${outcome.kind}`);
    return deviation.outputs?.(drawn, outcome.outputs) ?? outcome.outputs;
  }
}

/** The model's statement on a result's shape must hold, whatever the inputs of a loop's body are. */
function checkExtents({ dimensions, isUnspecified }: ExampleOperand, result: Tensor | undefined): void {
  const isKnown = !isUnspecified && dimensions.length > 0;
  if (!isKnown || dimensions.every((extent, axis) => extent === 0 || extent === result?.dimensions[axis])) return;
  throw new Refused(`a result has shape [${result?.dimensions}] where [${dimensions}] is declared`);
}

/** The definition of an operation of this name; undefined for IF and WHILE. */
export function definitionOf(type: OperationTypeName): Operation | undefined {
  return definitions.get(type);
}

const definitions: ReadonlyMap<string, Operation> = new Map(
  kernelOperations().map((operation) => [operation.name, operation]),
);

/** An operation with operands that have values; undefined if it does not take their types. */
export function operationOf(
  { type, inputs, outputs }: ExampleOperation,
  operands: readonly ExampleOperand[],
  values: readonly (Tensor | undefined)[],
): RandomOperation | undefined {
  const definition = definitions.get(type);
  const typesOf = (indexes: readonly number[]) => indexes.map((index) => elementAt(operands, index).type);
  const signature = definition && signatureFor(definition, typesOf(inputs), typesOf(outputs));
  return (
    signature && {
      signature,
      inputs: values,
      outputs: outputs.map((index) => ({ ...infoOf(elementAt(operands, index)), dimensions: [] })),
    }
  );
}

export function isConstant({ lifetime }: ExampleOperand): boolean {
  return lifetime === "CONSTANT_COPY" || lifetime === "CONSTANT_REFERENCE";
}

function infoOf({ type, dimensions, scale, zeroPoint, channelQuant }: ExampleOperand): Omit<Tensor, "data"> {
  return { type, dimensions, scale, zeroPoint, ...(channelQuant && { channelQuant }) };
}

/** The value that an example states for an operand; undefined if there is none. */
export function tensorOf(operand: ExampleOperand): Tensor | undefined {
  const { data } = operand;
  if (data === null) return undefined;
  const info = infoOf(operand);
  // Decoded data may be a view, so an aligned copy is made.
  return { ...info, data: decodeTensorData(info.type, data.slice(), elementCount(info.dimensions)) };
}
