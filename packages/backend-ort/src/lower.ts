/**
 * Lowers operations and whole subgraphs to ONNX. The shapes of all inputs are known; those of all other tensors follow from them.
 */
import {
  bindArgumentsOf,
  type GraphView,
  isOmitted,
  type KernelTensor,
  type OperationView,
  withFacts,
} from "@nnhal/backend";
import {
  type AnyArgs,
  type AnyOperandType,
  bindOutputs,
  createData,
  elementAt,
  heldBytes,
  isInferable,
  layOut,
  OperationError,
  type TensorInfo,
  tensorInfo,
} from "@nnhal/operations";
import { OperandLifeTime } from "@nnhal/types";
import type { Forms } from "./forms.ts";
import { addWholeNumber, type Builder, cast, createBuilder, type Result, type Value } from "./graph/builder.ts";
import {
  createScope,
  isShifted,
  type Lowered,
  Refusal,
  refuse,
  resultOf,
  type Scope,
  valueType,
} from "./graph/scope.ts";
import { withSymmetricWeights } from "./graph/symmetric.ts";
import type { Lowering } from "./lowerings/_lowering.ts";
import { lowerings } from "./lowerings/index.ts";
import { tfliteExtensionName, tfliteLowerings } from "./lowerings/tflite.ts";
import type { ElementType } from "./onnx/types.ts";
import { type ModelParts, type OnnxGraph, writeModel, writeModelParts } from "./onnx/write.ts";

/** An input or output of a lowered graph. */
export interface Wire {
  /** The name of the value in the ONNX graph. */
  readonly name: string;
  /** The type of the elements as the request has them. */
  readonly type: ElementType;
  /** The extents of the value. */
  readonly dims: readonly number[];
  /** The facts of the operand. */
  readonly info: TensorInfo;
}

/** Inputs and outputs of a subgraph. */
export interface Interface {
  /** By input of the subgraph; undefined for inputs that are omitted. */
  readonly inputs: readonly (Wire | undefined)[];
  readonly outputs: readonly Wire[];
  /** The most bytes that the results of operations take at the same time, if each lives until its last use. */
  readonly peak: number;
}

/** A lowered subgraph. */
export interface LoweredGraph extends Interface {
  /** As its operations are; `modelOf` makes a faster one of it. */
  readonly onnx: OnnxGraph;
}

/**
 * Why an operation cannot be expressed; undefined if it can. Extents that only a request determines count as 8: whether an operation can
 * be expressed hardly depends on them, and a session is made when they are known.
 */
export function refusalOf(view: OperationView, forms: Forms): string | undefined {
  const { definition, match, inputs } = view;
  try {
    const scope = createScope(createBuilder(), forms);
    const params = layOut(match.form.params, match.form.counts, inputs.length) ?? [];
    const tensors = inputs.map((input, position) => {
      // An input of the model that requests may omit has no extents if they do.
      const isOpen = input.lifetime === OperandLifeTime.SUBGRAPH_INPUT && input.dimensions.includes(0);
      if (isOmitted(input) || (isOpen && params[position]?.omittable)) return undefined;
      return withExtents(withFacts(input));
    });
    for (const tensor of tensors) {
      if (tensor?.data === undefined && tensor !== undefined) {
        scope.define(tensor.index, scope.builder.input(resultOf(tensor.type, tensor.dimensions)));
      }
    }
    lowerOperation(view, tensors, scope);
    return undefined;
  } catch (error) {
    if (error instanceof Refusal || error instanceof OperationError) return `${definition.name}: ${error.message}`;
    throw error;
  }
}

/** A tensor of which all extents are known. An unknown rank stays unknown. */
function withExtents(tensor: KernelTensor): KernelTensor {
  if (!tensor.dimensions.includes(0)) return tensor;
  return { ...tensor, dimensions: tensor.dimensions.map((extent) => extent || assumedExtent) };
}

const assumedExtent = 8;

/**
 * Lowers a subgraph. `dimensions` are those of its inputs; undefined for an input that is omitted. Throws a Refusal or an OperationError.
 */
export function lowerGraph(
  graph: GraphView,
  dimensions: readonly (readonly number[] | undefined)[],
  forms: Forms,
): LoweredGraph {
  const scope = createScope(createBuilder(), forms);
  const { builder } = scope;
  /** The facts of inputs and of results; undefined for omitted inputs. */
  const known = new Map<number, TensorInfo | undefined>();
  const inputs = graph.inputs.map((index, position): Wire | undefined => {
    const operand = graph.operands[index];
    const extents = dimensions[position];
    known.set(index, undefined);
    if (operand === undefined || extents === undefined) return undefined;
    const info = tensorInfo(operand, extents);
    const port = builder.input(wireResult(info));
    scope.define(index, fromWire(builder, port, info.type));
    known.set(index, info);
    return { ...port, info };
  });
  for (const view of graph.operations) {
    const tensors = view.inputs.map((input) => {
      if (isOmitted(input) || (known.has(input.index) && known.get(input.index) === undefined)) return undefined;
      return withFacts(input, known.get(input.index));
    });
    const { infos, results } = lowerOperation(view, tensors, scope);
    for (const [position, { index }] of view.outputs.entries()) {
      known.set(index, elementAt(infos, position));
      scope.define(index, elementAt(results, position));
    }
  }
  const outputs = graph.outputs.map((index): Wire => {
    const info = known.get(index);
    if (info === undefined) throw new Error(`output operand ${index} has no value`);
    const value = toWire(builder, scope.read({ index, ...info }), info.type);
    return { name: builder.output(value), type: value.type, dims: value.dims, info };
  });
  return { onnx: builder.graph(), inputs, outputs, peak: peakOf(graph, known) };
}

/** The bytes of the model of a lowered subgraph. */
export function modelOf({ onnx }: LoweredGraph): Uint8Array<ArrayBuffer> {
  return writeModel(withSymmetricWeights(onnx));
}

/** A lowered subgraph as sessions take it. */
export interface WrittenGraph extends Interface {
  /** With large constants beside it. */
  readonly model: ModelParts;
}

/** Lowers a subgraph, as `lowerGraph` does, and writes its model. */
export function writeGraph(
  graph: GraphView,
  dimensions: readonly (readonly number[] | undefined)[],
  forms: Forms,
): WrittenGraph {
  const { onnx, ...parts } = lowerGraph(graph, dimensions, forms);
  return { ...parts, model: writeModelParts(withSymmetricWeights(onnx)) };
}

function peakOf({ operations, outputs: last }: GraphView, known: ReadonlyMap<number, TensorInfo | undefined>): number {
  const uses = new Map<number, number>();
  for (const [step, { inputs }] of operations.entries()) for (const { index } of inputs) uses.set(index, step);
  for (const index of last) uses.set(index, operations.length);
  const bytesOf = (index: number) => {
    const info = known.get(index);
    return info === undefined ? 0 : heldBytes(info);
  };
  const made = new Set<number>();
  let bytes = 0;
  let peak = 0;
  for (const [step, { inputs, outputs }] of operations.entries()) {
    for (const { index } of outputs) {
      made.add(index);
      bytes += bytesOf(index);
    }
    peak = Math.max(peak, bytes);
    for (const { index } of [...inputs, ...outputs]) {
      if ((uses.get(index) ?? step) === step && made.delete(index)) bytes -= bytesOf(index);
    }
  }
  return peak;
}

/** Adds an operation. Returns the facts and the values of its outputs. */
function lowerOperation(
  view: OperationView,
  tensors: readonly (KernelTensor | undefined)[],
  scope: Scope,
): { readonly infos: readonly TensorInfo[]; readonly results: readonly Lowered[] } {
  const { definition, match } = view;
  const lowering = findLowering(definition);
  if (lowering === undefined) return refuse(whyNone.get(definition.name) ?? "ort has no lowering of it");
  if (definition.dynamic) return refuse("the shapes of its outputs depend on the data");
  if (!isInferable(match.form, tensors)) {
    return refuse("shapes and settings must be known when the model is prepared");
  }
  const { args, outputs: infos } = bindArgumentsOf(view, tensors);
  if (infos.length > 0 && infos.every(({ dimensions }) => dimensions.includes(0))) {
    return { infos, results: infos.map((info) => emptyValue(scope.builder, info)) };
  }
  const lowered = lowering(args, bindOutputs(match.form, infos), scope);
  return { infos, results: isList(lowered) ? lowered : [lowered] };
}

/** Why some operations have no lowering. */
const whyNone: ReadonlyMap<string, string> = new Map([
  ["WHILE", "a run of onnxruntime cannot be interrupted, so a loop could not end in its time"],
  ["QUANTIZED_LSTM", "ONNX has no operator for its fixed-point arithmetic"],
  ["QUANTIZED_16BIT_LSTM", "ONNX has no operator for its fixed-point arithmetic"],
]);

function findLowering({ name, extension }: OperationView["definition"]): Lowering<AnyArgs, AnyArgs> | undefined {
  const known = extension === undefined ? lowerings : extension === tfliteExtensionName ? tfliteLowerings : {};
  // A lowering is only called with the arguments of the operation that it is listed under.
  return (known as Readonly<Record<string, Lowering<AnyArgs, AnyArgs> | undefined>>)[name];
}

function isList(lowered: Lowered | readonly Lowered[]): lowered is readonly Lowered[] {
  return Array.isArray(lowered);
}

function emptyValue(builder: Builder, { type, dimensions }: TensorInfo): Value {
  const elements = createData(type, 0);
  const { type: held, dims } = resultOf(type, dimensions);
  return builder.constant(held, dims, () => (elements instanceof Float64Array ? new Float32Array() : elements));
}

/** The type of the elements in a request. */
export function wireType(type: AnyOperandType): ElementType {
  if (type === "FLOAT16" || type === "TENSOR_FLOAT16") return "float16";
  return type === "BOOL" || type === "TENSOR_BOOL8" ? "uint8" : valueType(type);
}

/** The type and the extents of a value as requests have it. */
export function wireResult({ type, dimensions }: TensorInfo): Result {
  return { type: wireType(type), dims: resultOf(type, dimensions).dims };
}

function fromWire(builder: Builder, port: Value, type: AnyOperandType): Value {
  if (isShifted(type)) return flipTopBit(builder, port);
  return castTo(builder, port, valueType(type));
}

function toWire(builder: Builder, value: Value, type: AnyOperandType): Value {
  if (isShifted(type)) return flipTopBit(builder, value);
  return castTo(builder, value, wireType(type));
}

/** Adds 128 to bytes that are signed, or subtracts it: either changes the top bit. */
function flipTopBit(builder: Builder, value: Value): Value {
  return builder.node("BitwiseXor", [value, addWholeNumber(builder, "uint8", 128)], value);
}

function castTo(builder: Builder, value: Value, type: ElementType): Value {
  return value.type === type ? value : cast(builder, value, type);
}
