/**
 * A graph as a backend sees it: operands with typed constants, operations matched with their definitions. Constants are
 * views of their pools, or copies if the pool is not aligned for them or their type is widened.
 */
import {
  decodeTensorData,
  elementAt,
  isExtensionType,
  isView,
  type Match,
  type MaybeType,
  matchOperation,
  type OperandInfo,
  type Operation as OperationDefinition,
  operationText,
  type VendorDefinitions,
  type Vocabulary,
  vocabularyOf,
} from "@nnhal/operations";
import {
  type ExtensionNameAndPrefix,
  type Model,
  type Operand,
  OperandLifeTime,
  type Operation,
  operationTypeNames,
  type Subgraph,
} from "@nnhal/types";
import { countIn, decodeInParts } from "./codec.ts";

/** An operand of a type of the HAL, or of an extension that the engine knows. */
export interface OperandView extends OperandInfo {
  /** Its index in the subgraph. */
  readonly index: number;
  /** A code of `OperandLifeTime`. */
  readonly lifetime: number;
  readonly numberOfConsumers: number;
}

/** An operation whose operands fit its definition. */
export interface OperationView {
  /** Its index in the subgraph. */
  readonly index: number;
  readonly definition: OperationDefinition;
  /** The form and the type row that its operands fit. */
  readonly match: Match;
  readonly inputs: readonly OperandView[];
  readonly outputs: readonly OperandView[];
}

/** A subgraph. */
export interface GraphView {
  /** By index in the subgraph; undefined for operands of types of unknown extensions. */
  readonly operands: readonly (OperandView | undefined)[];
  /** In execution order. */
  readonly operations: readonly OperationView[];
  /** Indexes of the operands that are inputs, in order. */
  readonly inputs: readonly number[];
  readonly outputs: readonly number[];
  /** The subgraphs that IF and WHILE operations name by index: the same list for every subgraph of a model. */
  readonly referenced: readonly GraphView[];
  /** True if float32 results may have the range and precision of float16. */
  readonly relaxed: boolean;
}

/** An operation that has no view, with the reason. */
export interface UnknownOperation {
  readonly index: number;
  readonly unknown: string;
}

/** The source of a view: a model, and the extensions by which its codes are read. */
export interface GraphSource extends VendorDefinitions {
  readonly model: Model;
  /** The bytes of `model.pools`, in order. */
  readonly pools: readonly Uint8Array[];
  /** The matches of operations that are known already, by these definitions. Default: operations are matched when they are viewed. */
  readonly matches?: ReadonlyMap<Operation, Match> | undefined;
  /** The views that have been made of subgraphs, which are not made again. Default: none are kept. */
  readonly views?: Map<Subgraph, SubgraphView> | undefined;
}

/** A subgraph of a valid model. Some of its operations may have no view. */
export interface SubgraphView {
  /** See `GraphView.operands`. */
  readonly operands: readonly (OperandView | undefined)[];
  /** See `GraphView.operations`. */
  readonly operations: readonly (OperationView | UnknownOperation)[];
}

/** The view of a subgraph of a valid model. */
export function viewSubgraph(subgraph: Subgraph, source: GraphSource): SubgraphView {
  const known = source.views?.get(subgraph);
  if (known !== undefined) return known;
  const vocabulary = vocabularyOf(source.model.extensionNameToPrefix, source);
  const operands = subgraph.operands.map((operand, index) => viewOperand(operand, index, source, vocabulary));
  const view: SubgraphView = {
    operands,
    operations: subgraph.operations.map((operation, index) =>
      viewOperation(operation, index, operands, source, vocabulary),
    ),
  };
  source.views?.set(subgraph, view);
  return view;
}

function viewOperand(
  operand: Operand,
  index: number,
  source: GraphSource,
  { operandTypeByCode }: Vocabulary,
): OperandView | undefined {
  const type = operandTypeByCode(operand.type);
  if (type === undefined) return undefined;
  const { dimensions, scale, zeroPoint, lifetime, numberOfConsumers, extraParams } = operand;
  const view: Writable<OperandView> = {
    index,
    type,
    // A copy: arrays of a sealed model are frozen, and V8 reads those more slowly.
    dimensions: [...dimensions],
    scale,
    zeroPoint,
    lifetime,
    numberOfConsumers,
  };
  if (extraParams.kind === "channelQuant") view.channelQuant = extraParams.channelQuant;
  if (extraParams.kind === "extension" && isExtensionType(type) && type.params) {
    view.params = type.params.decode(extraParams.extension);
  }
  const bytes = constantBytes(operand, source);
  if (bytes !== undefined) addConstant(view, bytes);
  return view;
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

/** Size in bytes up to which a constant is decoded immediately: a getter would take longer. */
const fewBytes = 1024;

/** Adds a constant's elements. Those of a large constant that must be copied are decoded when they are first read. */
function addConstant(view: Writable<OperandView>, bytes: Uint8Array): void {
  const { type } = view;
  const count = countIn(type, view.dimensions, bytes);
  if (bytes.length <= fewBytes || isView(type, bytes)) {
    view.data = decodeTensorData(type, bytes, count);
    return;
  }
  let data: OperandInfo["data"];
  Object.defineProperty(view, "data", {
    enumerable: true,
    get() {
      data ??= decodeTensorData(type, bytes, count);
      return data;
    },
  });
  copied.set(view, function* () {
    data ??= yield* decodeInParts(type, bytes, count);
  });
}

/** Decoders of the constants that have not been read yet. */
const copied = new WeakMap<OperandView, () => Generator<void, void>>();

/** Decodes a constant, with pauses if it is large. Reading its `data` takes no time afterwards. */
export function* decodeConstant(operand: OperandView): Generator<void, void> {
  const decode = copied.get(operand);
  if (decode === undefined) return;
  copied.delete(operand);
  yield* decode();
}

function constantBytes(operand: Operand, { model, pools }: GraphSource): Uint8Array | undefined {
  const { poolIndex, offset, length } = operand.location;
  switch (operand.lifetime) {
    case OperandLifeTime.CONSTANT_COPY:
      return model.operandValues.subarray(offset, offset + length);
    case OperandLifeTime.CONSTANT_REFERENCE:
      return elementAt(pools, poolIndex).subarray(offset, offset + length);
    case OperandLifeTime.SUBGRAPH:
      return new Uint8Array(Uint32Array.of(offset).buffer);
    default:
      return undefined;
  }
}

/** The view of one operation, or the reason why it has none: it is an extension's, an OEM's, or unknown. */
function viewOperation(
  operation: Operation,
  index: number,
  operands: readonly (OperandView | undefined)[],
  source: GraphSource,
  vocabulary: Vocabulary,
): OperationView | UnknownOperation {
  const { type, inputs, outputs } = operation;
  const definition = vocabulary.operationByCode(type);
  if (definition === undefined) return { index, unknown: whyUnknown(type, source.model.extensionNameToPrefix) };
  const name = operationText(type, source.model.extensionNameToPrefix, vocabulary);
  const inputViews = inputs.map((input) => operands[input]);
  const outputViews = outputs.map((output) => operands[output]);
  const match =
    source.matches?.get(operation) ?? matchOperation(definition, inputViews.map(typeOf), outputViews.map(typeOf));
  if ("mismatch" in match) return { index, unknown: `${name}: ${match.mismatch}` };
  const unknown = whichUnknown("input", inputViews) ?? whichUnknown("output", outputViews);
  if (unknown !== undefined) return { index, unknown: `${name}: ${unknown}` };
  return { index, definition, match, inputs: inputViews.filter(isKnown), outputs: outputViews.filter(isKnown) };
}

/** The operand without a view. Only IF and WHILE take such operands: those of any type. */
function whichUnknown(side: string, views: readonly (OperandView | undefined)[]): string | undefined {
  const position = views.indexOf(undefined);
  return position < 0 ? undefined : `${side} ${position} is of an extension type that the engine does not know`;
}

/** Why an operation has no definition. */
function whyUnknown(type: number, prefixes: readonly ExtensionNameAndPrefix[]): string {
  const known = operationTypeNames.get(type);
  if (known !== undefined) return `${known}: the engine has no definition of this operation`;
  return `${operationText(type, prefixes)}: the engine does not have this operation`;
}

function typeOf(view: OperandView | undefined): MaybeType {
  return view?.type;
}

function isKnown(view: OperandView | undefined): view is OperandView {
  return view !== undefined;
}

/**
 * The views of the subgraphs that a model references. `isWhole`: whether the operations of one have views; those of others are left out. Default: all have, and it throws if
 * one has none.
 */
export function viewReferenced(source: GraphSource, isWhole: (index: number) => boolean = () => true): GraphView[] {
  const referenced: GraphView[] = [];
  for (const [index, subgraph] of source.model.referenced.entries())
    referenced.push(viewGraph(isWhole(index) ? subgraph : { ...subgraph, operations: [] }, source, referenced));
  return referenced;
}

/** The view of a model's main subgraph and of all subgraphs that it references. Throws if an operation has no view. */
export function viewModel(source: GraphSource): GraphView {
  return viewGraph(source.model.main, source, viewReferenced(source));
}

function viewGraph(subgraph: Subgraph, source: GraphSource, referenced: readonly GraphView[]): GraphView {
  const { operands, operations } = viewSubgraph(subgraph, source);
  return {
    operands,
    operations: operations.map((view) => {
      if ("unknown" in view) throw new TypeError(`operation ${view.index + 1} cannot be compiled: ${view.unknown}`);
      return view;
    }),
    inputs: [...subgraph.inputIndexes],
    outputs: [...subgraph.outputIndexes],
    referenced,
    relaxed: source.model.relaxComputationFloat32toFloat16,
  };
}
