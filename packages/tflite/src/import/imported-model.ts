/**
 * A .tflite model as a HAL model: what an import returns.
 */
import { type AnyOperandType, elementAt } from "@nnhal/operations";
import type { Model } from "@nnhal/types";
import { quote } from "../error.ts";
import type { TfliteModel, TfliteTensor } from "../model.ts";
import type { TensorTypeName } from "../schema/codes.ts";
import type { Constants } from "./constants.ts";
import type { Dialect } from "./dialect.ts";
import type { Entry } from "./entry.ts";
import { tensorOf } from "./graph.ts";
import type { Finished } from "./importer.ts";
import type { Program } from "./state/procedure.ts";
import { variableNames } from "./state/state-names.ts";
import { strings } from "./string-models.ts";

/** A signature of a file: a key for a subgraph, and names for its inputs and outputs. */
export interface SignatureDescription {
  readonly key: string;
  /** In the signature's order. */
  readonly inputs: readonly string[];
  /** In the signature's order. */
  readonly outputs: readonly string[];
}

/** An input or output of an imported model. */
export interface TensorDescription {
  /** The tensor's name in the file; may be empty. */
  readonly name: string;
  /** Its name in the file's signature, if there is one. */
  readonly signatureName?: string;
  /** The element type in the file. */
  readonly tensorType: TensorTypeName;
  /** The type: one of the HAL's, or of the extension's. */
  readonly type: AnyOperandType;
  /** Extents as the HAL sees them: 0 is unknown, a scalar of the file is one element. */
  readonly shape: readonly number[];
  /** 0 if the type has none. */
  readonly scale: number;
  readonly zeroPoint: number;
}

/**
 * A value that the model carries from one execution to the next. Set the input to the first value at first, and then to the previous
 * execution's output. Imports of several signatures of a file share the states of the same name.
 */
export interface ModelState {
  /** The name of the variable, unique in the file. */
  readonly name: string;
  /** Its place among the model's inputs. */
  readonly input: number;
  /** Its place among the model's outputs; absent if the model does not change it. */
  readonly output?: number;
  /** The bytes of the first value; absent: the real value 0. */
  readonly initial?: Uint8Array;
  /** The extents of the first value, if there is one. Those of a later value may differ where the input leaves them open. */
  readonly initialShape?: readonly number[];
}

/** The operator that an operation came from. */
export interface OperatorOrigin {
  /** The operator's name; empty for a copy that the import added to make an output. */
  readonly name: string;
  /** The operator's place in the imported subgraph; -1 for such a copy. */
  readonly index: number;
}

/** Where a subgraph of a model is from. */
export interface SubgraphOrigin {
  /** Its index in the file; that of the subgraph that runs it, if the import made it. */
  readonly subgraph: number;
  /** One for each operation. */
  readonly operators: readonly OperatorOrigin[];
  /** One for each operand: the name of its tensor in the file. */
  readonly operandNames: readonly (string | undefined)[];
}

/** A .tflite model as a HAL model. */
export interface ImportedModel {
  readonly model: Model;
  /** One for each input of the model: those of the file, then one for each state. */
  readonly inputs: readonly TensorDescription[];
  /** One for each output of the model: those of the file, then one for each state. */
  readonly outputs: readonly TensorDescription[];
  readonly states: readonly ModelState[];
  /** One for each operation of the main subgraph. */
  readonly operators: readonly OperatorOrigin[];
  /** One for each operand of the main subgraph: the name of its tensor in the file. */
  readonly operandNames: readonly (string | undefined)[];
  /** One for each referenced subgraph. */
  readonly referenced: readonly SubgraphOrigin[];
  /** All signatures of the file. */
  readonly signatures: readonly SignatureDescription[];
}

/** A constant as an operand has it. */
function firstValue({ name, type, shape, data }: TfliteTensor): Required<Pick<ModelState, "initial" | "initialShape">> {
  const bytes = data ?? new Uint8Array(0);
  const extents = shape.length === 0 ? [1] : shape;
  if (type !== "STRING") return { initial: bytes, initialShape: extents };
  const count = shape.reduce((product, extent) => product * extent, 1);
  const { bytes: initial, dimensions } = strings().stringTensor(bytes, count, `the first value of ${quote(name)}`);
  return { initial, initialShape: [...extents, dimensions.at(-1) ?? 0] };
}

function originOf({ subgraphs }: TfliteModel, { subgraph: { operands }, graph }: Finished): SubgraphOrigin {
  const { index } = graph;
  return {
    subgraph: index,
    operators: graph
      .listEmitted()
      .map(({ origin }) => ({ name: subgraphs[index]?.operators[origin]?.name ?? "", index: origin })),
    operandNames: operands.map((_, operand) => graph.nameOf(operand)),
  };
}

/** Puts the results of an import together. */
export function importedModel(
  file: TfliteModel,
  { index, inputNames, outputNames }: Entry,
  { cells }: Program,
  finished: Finished,
  called: readonly Finished[],
  constants: Constants,
  dialect: Dialect,
): ImportedModel {
  const { subgraph, states, graph } = finished;
  const main = graph.subgraph;
  const { operators, operandNames } = originOf(file, finished);
  const referenced = called.map((each) => each.subgraph);
  const nameOf = variableNames(file);
  const { inputIndexes, outputIndexes } = subgraph;
  const stateTensors = states.map(({ tensor }) => tensor);
  const ownInputs = new Set(main.inputs);
  const added = stateTensors.filter((tensor) => !ownInputs.has(tensor));
  const [inputPlaces, outputPlaces] = [placesOf(inputIndexes), placesOf(outputIndexes)];
  return {
    model: {
      main: subgraph,
      referenced,
      ...constants.finish(),
      relaxComputationFloat32toFloat16: false,
      extensionNameToPrefix: dialect.prefixesOf(
        [subgraph, ...referenced].flatMap((each) => [...each.operands, ...each.operations]),
      ),
    },
    inputs: describe(finished, [...main.inputs, ...added], inputIndexes, inputNames),
    outputs: describe(finished, [...main.outputs, ...stateTensors], outputIndexes, outputNames),
    states: [
      ...cells.map(({ name, input, output, initial }) => ({
        name,
        input,
        ...(output !== undefined && { output }),
        ...(initial && firstValue(initial)),
      })),
      ...states.map(({ tensor, input, output }) => ({
        name: nameOf(index, tensor),
        input: inputPlaces.get(input) ?? -1,
        output: outputPlaces.get(output) ?? -1,
      })),
    ],
    operators,
    operandNames,
    referenced: called.map((each) => originOf(file, each)),
    signatures: file.signatures.map(({ key, inputs, outputs }) => ({
      key,
      inputs: inputs.map(({ name }) => name),
      outputs: outputs.map(({ name }) => name),
    })),
  };
}

function placesOf(list: readonly number[]): ReadonlyMap<number, number> {
  return new Map(list.map((item, place) => [item, place]));
}

function describe(
  { subgraph, graph }: Finished,
  tensors: readonly number[],
  indexes: readonly number[],
  names: readonly (string | undefined)[],
): TensorDescription[] {
  return indexes.map((index, place): TensorDescription => {
    const tensor = elementAt(tensors, place);
    const { dimensions: shape, scale, zeroPoint } = elementAt(subgraph.operands, index);
    const { type } = graph.spec(index);
    const { name, type: tensorType } = tensorOf(graph, tensor);
    const signatureName = names[place];
    return { name, ...(signatureName !== undefined && { signatureName }), tensorType, type, shape, scale, zeroPoint };
  });
}
