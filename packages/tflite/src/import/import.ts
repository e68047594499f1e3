/**
 * Turns a .tflite model into a HAL model.
 */
import { type AnyOperandType, elementAt } from "@nnhal/operations";
import type { Model, Subgraph } from "@nnhal/types";
import { sourceArgument, type TfliteBytes } from "../arguments.ts";
import type { TfliteModel } from "../model.ts";
import { readTflite } from "../read.ts";
import type { TensorTypeName } from "../schema/codes.ts";
import { type Constants, createConstants } from "./constants.ts";
import { extensionDialect, halDialect, prefixesOf } from "./dialect.ts";
import { createImporter, type Finished, type OperatorReport } from "./importer.ts";
import { createProblemList, type ProblemList } from "./problems.ts";
import { checkShapeOptions, type ShapeOptions } from "./shapes.ts";

/** How to import a model. */
export interface ImportOptions extends ShapeOptions {
  /**
   * Whether operators and types that the HAL lacks become those of the extension `nnhal.tflite`, which a device must have to run the
   * model. Default: true. False: the model is of HAL 1.3 alone, and what it cannot express is a problem.
   */
  readonly extensions?: boolean;
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
    const { dimensions: shape, scale, zeroPoint } = elementAt(subgraph.operands, index);
    const { type } = graph.spec(index);
    const { name, type: tensorType } = elementAt(graph.subgraph.tensors, tensor);
    const signatureName = names.get(tensor);
    return { name, ...(signatureName !== undefined && { signatureName }), tensorType, type, shape, scale, zeroPoint };
  });
}

/** What importing a model has led to. */
export interface ImportAttempt {
  /** Undefined if there are problems. */
  readonly imported: ImportedModel | undefined;
  readonly operators: readonly OperatorReport[];
  readonly problems: ProblemList;
}

/** Imports a model as far as possible. Throws a TfliteError for a file that is broken, or for wrong options. */
export function attemptImport(model: TfliteModel, file: Uint8Array | undefined, options: ImportOptions): ImportAttempt {
  checkShapeOptions(options);
  const problems = createProblemList();
  const constants = createConstants(model, file);
  const dialect = options.extensions === false ? halDialect : extensionDialect;
  const importer = createImporter(model, constants, options, dialect, problems);
  const finished = problems.attempt(() => importer.importMain(0));
  const imported =
    finished && problems.count === 0
      ? problems.attempt(() => importedModel(model, finished, importer.referenced, constants))
      : undefined;
  return { imported, operators: importer.reports(), problems };
}

function importedModel(
  model: TfliteModel,
  finished: Finished,
  referenced: readonly Subgraph[],
  constants: Constants,
): ImportedModel {
  const { subgraph, states, graph } = finished;
  const main = graph.subgraph;
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
      extensionNameToPrefix: prefixesOf(
        [subgraph, ...referenced].flatMap((each) => [...each.operands, ...each.operations]),
      ),
    },
    inputs: describe(finished, [...main.inputs, ...added], inputIndexes, signatureNames(model, "inputs")),
    outputs: describe(finished, [...main.outputs, ...stateTensors], outputIndexes, signatureNames(model, "outputs")),
    states: states.map(({ tensor, input, output }) => ({
      name: elementAt(main.tensors, tensor).name,
      input: inputPlaces.get(input) ?? -1,
      output: outputPlaces.get(output) ?? -1,
    })),
    operators: graph.emitted.map(({ origin }) => ({ name: main.operators[origin]?.name ?? "", index: origin })),
  };
}

/**
 * Turns a .tflite model into a HAL model. Constants of the file are not copied: they are operands in one pool, which is the
 * memory that `source` lies in, and which must not change while the model is in use.
 *
 * @throws TfliteError if the file is broken, or with all reasons why the HAL cannot express the model, each with its operator or
 * tensor.
 */
export function importTflite(source: TfliteBytes | TfliteModel, options: ImportOptions = {}): ImportedModel {
  const given = sourceArgument(source, "importTflite");
  const file = given instanceof Uint8Array ? given : undefined;
  const model = given instanceof Uint8Array ? readTflite(given) : given;
  const { imported, problems } = attemptImport(model, file, options);
  problems.throwIfAny();
  if (imported === undefined) throw new TypeError("an import without problems has a result");
  return imported;
}
