/**
 * Turns a .tflite model into a HAL model.
 */
import {
  type AnyOperandType,
  type ExtensionDefinition,
  elementAt,
  ensureLoaded,
  type OptionNames,
  unknownOption,
} from "@nnhal/operations";
import { canonicalHalVersion, type HalVersion, halVersions, type Model, OperationType } from "@nnhal/types";
import { sourceArgument, type TfliteBytes } from "../arguments.ts";
import { describeValue, ensure, quote } from "../error.ts";
import type { TfliteModel, TfliteSubgraph, TfliteTensor } from "../model.ts";
import type { ReadingOptions } from "../ranges.ts";
import { readTflite } from "../read.ts";
import type { TensorTypeName } from "../schema/codes.ts";
import { type Constants, createConstants } from "./constants.ts";
import { createDialect, type Dialect } from "./dialect.ts";
import type { EmptyInputs } from "./empty-inputs.ts";
import { expanding } from "./expanding.ts";
import { tensorOf } from "./graph.ts";
import { createImporter, type Finished } from "./importer.ts";
import { createProblemList, type ProblemList } from "./problems.ts";
import type { OperatorReport } from "./reports.ts";
import { rowOf } from "./rows.ts";
import { checkShapeOptions, chosenShapes, type ShapeOptions } from "./shapes.ts";
import type { Program } from "./state/procedure.ts";
import { plainProgram, programOf } from "./state/program.ts";
import { variableNames } from "./state/state-names.ts";
import { strings } from "./string-models.ts";

/** Options of importing a model. */
export interface ImportOptions extends ShapeOptions, ReadingOptions {
  /**
   * True if operators and types that the HAL lacks become those of the extension `nnhal.tflite`, which a device must have to run the
   * model. Default: true. False: the model is of HAL 1.3 alone, and what it cannot express is a problem.
   */
  readonly extensions?: boolean;
  /**
   * The HAL version of the devices that the model is for. From `aidl2` and `aidl3` on, operations that AIDL adds are used where they have the
   * results of the operators: PACK, BATCH_MATMUL, MIRROR_PAD, REVERSE, RESHAPE of TENSOR_INT32, RSQRT of 8 bits. Default: `1.3`.
   */
  readonly halVersion?: HalVersion;
  /**
   * Form of hybrid layers, those with float inputs and 8-bit weights. "quantised": the layer quantises its input at each execution,
   * as .tflite's kernels do; an operation of the extension. "widened": the weights become floats, and the layer is computed in float by
   * an operation of the HAL, which accelerators take. Default: "quantised"; without the extension, and if it lacks the layer, "widened".
   */
  readonly hybrid?: "quantised" | "widened";
  /**
   * Extensions with operations for custom operators. A custom operator becomes the operation of its name: its tensors in order, then the
   * scalars of the operation, each the option of its name in the operator's FlexBuffer. A device must have the extension to run the model.
   * Default: none.
   */
  readonly customOperators?: readonly ExtensionDefinition[];
  /**
   * The key of the file's signature to import, such as `serving_default`: its subgraph, with inputs and outputs in its order; inputs
   * that it does not name follow. Default: the first subgraph, with inputs and outputs in the subgraph's order.
   */
  readonly signature?: string;
  /**
   * Inputs without elements, by place, with their shapes: those of an execution in which a tensor has an extent of 0. The HAL has no
   * requests with such values, so they are constants of the model, and not among its inputs. Default: none.
   */
  readonly emptyInputs?: EmptyInputs;
}

const importOptions: OptionNames<ImportOptions> = {
  extensions: true,
  halVersion: true,
  hybrid: true,
  customOperators: true,
  signature: true,
  emptyInputs: true,
  outside: true,
  inputShapes: true,
  dynamicShapes: true,
};

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

function placesOf(list: readonly number[]): ReadonlyMap<number, number> {
  return new Map(list.map((item, place) => [item, place]));
}

/** The subgraph to import, its inputs and outputs in order, and their names in a signature. */
interface Entry {
  readonly index: number;
  readonly subgraph: TfliteSubgraph;
  readonly inputNames: readonly (string | undefined)[];
  readonly outputNames: readonly (string | undefined)[];
}

/** The entry that the options choose. Throws a TfliteError if there is none. */
function entryOf(model: TfliteModel, key: string | undefined): Entry {
  const chosen = key === undefined ? undefined : model.signatures.find((signature) => signature.key === key);
  const keys = () => model.signatures.map((signature) => quote(signature.key)).slice(0, MOST_KEYS);
  ensure(
    key === undefined || chosen !== undefined,
    "options.signature",
    () =>
      `there is no signature ${quote(key ?? "")}; ${keys().length === 0 ? "the file has none" : `there are ${keys().join(", ")}`}`,
  );
  const index = chosen?.subgraph ?? 0;
  const subgraph = model.subgraphs[index];
  ensure(subgraph !== undefined, "", () => "the model has no subgraph");
  if (chosen === undefined) {
    const first = model.signatures.find((signature) => signature.subgraph === 0);
    const names = (list: "inputs" | "outputs") => {
      const byTensor = new Map(first?.[list].map(({ name, tensor }) => [tensor, name]));
      return subgraph[list].map((tensor) => byTensor.get(tensor));
    };
    return { index, subgraph, inputNames: names("inputs"), outputNames: names("outputs") };
  }
  const named = new Set(chosen.inputs.map(({ tensor }) => tensor));
  const own = new Set(subgraph.inputs);
  for (const { name, tensor } of chosen.inputs) {
    ensure(own.has(tensor), "options.signature", () => `${quote(name)} is tensor ${tensor}, which is not an input`);
  }
  const inputs = [...chosen.inputs.map(({ tensor }) => tensor), ...subgraph.inputs.filter((each) => !named.has(each))];
  return {
    index,
    subgraph: { ...subgraph, inputs, outputs: chosen.outputs.map(({ tensor }) => tensor) },
    inputNames: chosen.inputs.map(({ name }) => name),
    outputNames: chosen.outputs.map(({ name }) => name),
  };
}

/** Most signatures that a message lists. */
const MOST_KEYS = 8;

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

/** Outcome of importing a model. */
export interface ImportAttempt {
  /** Undefined if there are problems. */
  readonly imported: ImportedModel | undefined;
  readonly operators: readonly OperatorReport[];
  readonly problems: ProblemList;
  /** The extents of the entry's tensors if the caller chose shapes; undefined for one that has no operand. Absent if there are problems. */
  readonly usedShape?: (tensor: number) => readonly number[] | undefined;
}

/** Imports a model as far as possible. Throws a TfliteError for a file that is broken, or for wrong options. */
export function attemptImport(given: TfliteModel, file: Uint8Array | undefined, options: ImportOptions): ImportAttempt {
  checkShapeOptions(options);
  // The names of a mapped type are strings.
  const unknown = unknownOption(options, importOptions as Readonly<Record<string, true>>);
  ensure(unknown === undefined, "options", () => unknown ?? "");
  const { signature } = options;
  ensure(
    signature === undefined || typeof signature === "string",
    "options.signature",
    () => `expected a string, got ${describeValue(signature)}`,
  );
  const found = entryOf(given, signature);
  const { emptyInputs } = options;
  const { model, entry } =
    emptyInputs === undefined ? { model: given, entry: found } : expanding().emptyEntry(given, found, emptyInputs);
  const chosen = chosenShapes(entry.subgraph, entry.inputNames, options);
  ensureLoaded(operationsOf(model));
  const problems = createProblemList();
  const constants = createConstants(model, file);
  const dialect = createDialect({
    hasExtension: options.extensions !== false,
    quantisesInputs: hybridOf(options) === "quantised",
    halVersion: halVersionOf(options),
    custom: customOperatorsOf(options),
  });
  const threaded = problems.attempt(() => programOf(model, entry.subgraph, entry.index));
  const isConverted = options.extensions !== false && hasStrings(model);
  const program = threaded && isConverted ? strings().withStrings(threaded) : threaded;
  const shaping = { ...options, chosen };
  const importer = createImporter(model, program ?? plainProgram(model, entry), constants, shaping, dialect, problems);
  const finished = problems.attempt(() => importer.importMain());
  const imported =
    program && finished && problems.count === 0
      ? problems.attempt(() => importedModel(model, entry, program, finished, importer.referenced, constants, dialect))
      : undefined;
  const usedShape = chosen.size > 0 ? imported && finished?.graph.usedShape : undefined;
  return { imported, operators: importer.reports(), problems, ...(usedShape && { usedShape }) };
}

/** The option `hybrid`, checked. */
function hybridOf({ hybrid = "quantised" }: ImportOptions): "quantised" | "widened" {
  ensure(
    hybrid === "quantised" || hybrid === "widened",
    "options.hybrid",
    () =>
      `expected "quantised" or "widened", got ${typeof hybrid === "string" ? quote(hybrid) : describeValue(hybrid)}`,
  );
  return hybrid;
}

function halVersionOf({ halVersion = canonicalHalVersion }: ImportOptions): HalVersion {
  ensure(
    halVersions.includes(halVersion),
    "options.halVersion",
    () => `expected one of ${halVersions.join(", ")}, got ${describeValue(halVersion)}`,
  );
  return halVersion;
}

/** True if a model has strings. */
function hasStrings({ subgraphs }: TfliteModel): boolean {
  return subgraphs.some(({ tensors }) => tensors.some(({ type }) => type === "STRING"));
}

/** The codes of the HAL's operations that the operators of a model may become. */
function operationsOf({ subgraphs }: TfliteModel): readonly number[] {
  const rows = new Set(subgraphs.flatMap(({ operators }) => operators.map(rowOf)));
  return [...rows].flatMap((row) => row?.operations ?? []).map((name) => OperationType[name]);
}

/** The option `customOperators`, checked. */
function customOperatorsOf({ customOperators = [] }: ImportOptions): readonly ExtensionDefinition[] {
  const isExtension = (each: unknown) =>
    typeof each === "object" &&
    each !== null &&
    "name" in each &&
    "operations" in each &&
    Array.isArray(each.operations);
  ensure(
    Array.isArray(customOperators) && customOperators.every(isExtension),
    "options.customOperators",
    () => `expected a list of extensions, got ${describeValue(customOperators)}`,
  );
  return customOperators;
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

function importedModel(
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
  const model = given instanceof Uint8Array ? readTflite(given, options) : given;
  const { imported, problems } = attemptImport(model, file, options);
  problems.throwIfAny();
  if (imported === undefined) throw new TypeError("an import without problems has a result");
  return imported;
}
