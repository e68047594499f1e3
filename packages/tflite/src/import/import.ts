/**
 * Turns a .tflite model into a HAL model.
 */
import { elementAt } from "@nnhal/operations";
import { type Model, type OperandTypeName, operandTypeNames, type Subgraph } from "@nnhal/types";
import { sourceArgument, type TfliteBytes } from "../arguments.ts";
import { ensure, fail, TfliteError } from "../error.ts";
import type { TfliteModel, TfliteSubgraph } from "../model.ts";
import { readTflite } from "../read.ts";
import type { TensorTypeName } from "../schema/codes.ts";
import { createConstants } from "./constants.ts";
import { createGraph, type Graph, type StateOperands } from "./graph.ts";
import { createLowering, type Lowering, operatorPath } from "./lowering.ts";
import { rowOf } from "./rows.ts";
import { scheduleOperators } from "./schedule.ts";
import { checkShapeOptions, type ShapeOptions, shapesOf } from "./shapes.ts";

/** How to import a model. */
export type ImportOptions = ShapeOptions;

/** An input or output of an imported model. */
export interface TensorDescription {
  /** The tensor's name in the file; may be empty. */
  readonly name: string;
  /** Its name in the file's signature, if there is one. */
  readonly signatureName?: string;
  /** The element type in the file. */
  readonly tensorType: TensorTypeName;
  /** The HAL's type. */
  readonly type: OperandTypeName;
  /** Extents as the HAL sees them: 0 is unknown, a scalar of the file is one element. */
  readonly shape: readonly number[];
  /** 0 if the type has none. */
  readonly scale: number;
  readonly zeroPoint: number;
}

/**
 * A value that the model carries from one execution to the next. Set the input to the real value 0 first (the zero point, if
 * quantised), and then to the previous execution's output.
 */
export interface ModelState {
  readonly name: string;
  /** Its place among the model's inputs. */
  readonly input: number;
  /** Its place among the model's outputs. */
  readonly output: number;
}

/** The operator that an operation came from. */
export interface OperatorOrigin {
  /** The operator's name; empty for a copy that the import added to make an output. */
  readonly name: string;
  /** The operator's place in the file's first subgraph; -1 for such a copy. */
  readonly index: number;
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
}

/** Greatest depth of subgraphs that name others; a greater one could exhaust the stack of recursive code. */
const MOST_NESTED = 32;

function lower(op: Lowering): void {
  const { name, version, customCode } = op.operator;
  const row = rowOf(name);
  if (row === undefined) {
    const which = name === "CUSTOM" ? `the custom operator ${JSON.stringify(customCode ?? "")}` : `operator ${name}`;
    op.fail(`the HAL has no counterpart of ${which}`);
  }
  op.ensure(version <= row.version, () => `version ${version} is not supported, only 1 to ${row.version}`);
  try {
    row.lower(op);
  } catch (error) {
    const place = operatorPath(op.graph.path, op.operator, op.index);
    if (!(error instanceof TfliteError) || error.path.startsWith(op.graph.path.concat(".operators["))) throw error;
    throw new TfliteError(place, error.message);
  }
}

interface Finished {
  readonly subgraph: Subgraph;
  readonly states: readonly StateOperands[];
  readonly graph: Graph;
}

function placesOf(list: readonly number[]): ReadonlyMap<number, number> {
  return new Map(list.map((item, place) => [item, place]));
}

/** Names of a signature's tensors, by tensor. */
function signatureNames(model: TfliteModel, list: "inputs" | "outputs"): ReadonlyMap<number, string> {
  const signature = model.signatures.find(({ subgraph }) => subgraph === 0);
  return new Map(signature?.[list].map(({ name, tensor }) => [tensor, name]));
}

function describe(
  { subgraph, graph }: Finished,
  tensors: readonly number[],
  indexes: readonly number[],
  names: ReadonlyMap<number, string>,
): TensorDescription[] {
  return indexes.map((index, place): TensorDescription => {
    const tensor = elementAt(tensors, place);
    const { type: code, dimensions: shape, scale, zeroPoint } = elementAt(subgraph.operands, index);
    const type = operandTypeNames.get(code);
    if (type === undefined) fail(graph.tensorPath(tensor), `operand type ${code} is not known`);
    const { name, type: tensorType } = elementAt(graph.subgraph.tensors, tensor);
    const signatureName = names.get(tensor);
    return { name, ...(signatureName !== undefined && { signatureName }), tensorType, type, shape, scale, zeroPoint };
  });
}

/**
 * Turns a .tflite model into a HAL model. Constants of the file are not copied: they are operands in one pool, which is the
 * memory that `source` lies in, and which must not change while the model is in use.
 *
 * @throws TfliteError if the file is broken or the HAL cannot express the model, naming the operator or tensor.
 */
export function importTflite(source: TfliteBytes | TfliteModel, options: ImportOptions = {}): ImportedModel {
  const given = sourceArgument(source, "importTflite");
  checkShapeOptions(options);
  const file = given instanceof Uint8Array ? given : undefined;
  const model = given instanceof Uint8Array ? readTflite(given) : given;
  const constants = createConstants(model, file);
  const referenced: Subgraph[] = [];
  const imported = new Map<number, { readonly place: number; readonly subgraph: Subgraph } | "open">();

  function importSubgraph(subgraph: TfliteSubgraph, index: number, depth: number): Finished {
    const path = `subgraphs[${index}]`;
    ensure(depth <= MOST_NESTED, path, () => `subgraphs name each other more than ${MOST_NESTED} deep`);
    const shapes = shapesOf(subgraph, options, index === 0);
    const { order, read } = scheduleOperators(subgraph, shapes, path);
    const graph = createGraph(subgraph, shapes, constants, path);
    const surroundings = {
      isRead: (tensor: number) => read.has(tensor),
      importSubgraph: (other: number) => importReferenced(other, depth + 1, path),
    };
    for (const each of order) {
      lower(createLowering(graph, elementAt(subgraph.operators, each), each, surroundings));
    }
    return { ...graph.finish(), graph };
  }

  function importReferenced(index: number, depth: number, path: string): { place: number; subgraph: Subgraph } {
    const subgraph = model.subgraphs[index];
    ensure(subgraph !== undefined && index !== 0, path, () => `there is no subgraph ${index} that an operator may run`);
    const known = imported.get(index);
    ensure(known !== "open", path, () => `subgraph ${index} runs itself`);
    if (known !== undefined) return known;
    imported.set(index, "open");
    const finished = importSubgraph(subgraph, index, depth);
    ensure(
      finished.states.length === 0,
      `subgraphs[${index}]`,
      () => "keeps state, which the HAL cannot do inside control flow",
    );
    referenced.push(finished.subgraph);
    const done = { place: referenced.length - 1, subgraph: finished.subgraph };
    imported.set(index, done);
    return done;
  }

  const [main] = model.subgraphs;
  ensure(main !== undefined, "", () => "the model has no subgraph");
  const finished = importSubgraph(main, 0, 1);
  const { subgraph, states, graph } = finished;
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
      extensionNameToPrefix: [],
    },
    inputs: describe(finished, [...main.inputs, ...added], inputIndexes, signatureNames(model, "inputs")),
    outputs: describe(finished, [...main.outputs, ...stateTensors], outputIndexes, signatureNames(model, "outputs")),
    states: states.map(({ tensor, input, output }) => ({
      name: elementAt(main.tensors, tensor).name,
      input: inputPlaces.get(input) ?? -1,
      output: outputPlaces.get(output) ?? -1,
    })),
    operators: graph.origins.map((index) => ({ name: main.operators[index]?.name ?? "", index })),
  };
}
