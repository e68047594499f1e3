/**
 * The context of a mapping row: one operator of the file, its tensors and options, and functions that emit the HAL operations for it.
 */
import type { AnyOperandType } from "@nnhal/operations";
import type { HalVersion, OperationTypeName, Subgraph } from "@nnhal/types";
import type { TfliteOperator, TfliteSubgraph } from "../model.ts";
import type { OptionValue } from "../schema/options.ts";
import { halOperation } from "./dialect.ts";
import type { Graph, StateOperands } from "./graph.ts";
import { accessOperator, type OperatorAccess } from "./lowering/access.ts";
import { emitBuiltin } from "./lowering/builtin.ts";
import { type AddedConstants, addedConstants } from "./lowering/constants.ts";
import { createEmission, type Emission, type EmissionOptions } from "./lowering/emission.ts";
import { isQuant8, isQuantised, type OperandSpec, quantisationOf } from "./operand-types.ts";
import type { Varying } from "./varying.ts";

/** Quantisation that an operation's result has to have. */
export interface Quantisation {
  readonly scale: number;
  readonly zeroPoint: number;
}

/** One operator that is being lowered to HAL operations: what the file says of it, and the ways to emit operations for it. */
export interface Lowering extends OperatorAccess, AddedConstants, Pick<Emission, "emit"> {
  /** Emits the extension's operation of a name. False if there is none, or if it does not accept the operands. */
  emitExtended(operation: string, inputs: readonly number[], outputs: readonly number[]): boolean;
  /** Emits the extension's operation for the builtin operator, as lowering/builtin.ts says. `derived`: none by default. */
  emitBuiltin(derived?: Readonly<Record<string, OptionValue>>): boolean;
  /** True if the layer has float inputs and weights `place` of 8 bits, and quantises its inputs at each execution. */
  quantisesInput(inputPlace: number, weightPlace: number): boolean;
  /**
   * Emits an operation that moves elements of `like`, or chooses some of them: its result is quantised as `like` is. If the tensor
   * is quantised in another way, it has the same elements all the same, as in TensorFlow Lite; without the extension, which copies them,
   * the result is converted by way of float.
   */
  emitMoved(operation: OperationTypeName, inputs: readonly number[], like: Quantisation): void;
  /**
   * Emits an operation whose stored elements become those of `result`, the only output by default, although it is quantised in another way
   * than `like`. Throws a TfliteError without the extension, which copies them.
   */
  emitStored(operation: OperationTypeName, inputs: readonly number[], like: Quantisation, result?: number): void;
  /**
   * Emits an operation that computes its only result. If the HAL has it for 8-bit tensors only with another quantisation of the
   * result (`fixed`), or only for floats, it is computed in float, so that the result is rounded once, at its own scale.
   */
  emitComputed(operation: OperationTypeName, inputs: readonly number[], fixed?: Quantisation): void;
  /** Computes an 8-bit result in float: `compute` emits the operations that write the float operand it gets. */
  inFloat(compute: (result: number) => void): void;
  /** Converts between two 8-bit quantisations, by way of float. */
  requantise(from: number, to: number): void;
  /** Input `place` as float elements: one that is quantised or float16 is widened first. */
  asFloat(place: number): number;
  state(place: number): StateOperands;
  /** Subgraphs of the file, which are imported on their first use. `inputs`: the shapes of what they get. */
  subgraphs(indexes: readonly number[], inputs: readonly Varying[]): readonly Callee[];
  /** A subgraph of the file as it is stored; undefined if there is none. */
  storedSubgraph(index: number): TfliteSubgraph | undefined;
  /**
   * A subgraph that the import makes for this operator, once for each `key`; returns its index for `subgraphs`. `like`: the index of a
   * subgraph that it runs, whose place its problems have.
   */
  addSubgraph(key: string, like: number, make: () => TfliteSubgraph): number;
  settleShapes: Surroundings["settleShapes"];
  /** True if an operator reads a tensor. */
  isRead(tensor: number): boolean;
  /** The HAL version that the model is for. */
  readonly halVersion: HalVersion;
  /** The code of a type in the imported model. */
  typeCode(type: AnyOperandType): number;
}

/** A subgraph that an operator runs. */
export interface Callee {
  /** The operand that refers to it. */
  reference(): number;
  readonly subgraph: Subgraph;
  /** The shapes of its outputs. */
  readonly results: readonly Varying[];
}

/** A subgraph of the model. */
export interface ImportedSubgraph extends Pick<Callee, "subgraph" | "results"> {
  /** Its place among the model's referenced subgraphs. */
  readonly place: number;
}

/** Information for lowering from outside the subgraph. */
export interface Surroundings extends EmissionOptions {
  /** Imports subgraphs of the file; `inputs`: the shapes of what they get. */
  importSubgraphs(indexes: readonly number[], inputs: readonly Varying[]): readonly ImportedSubgraph[];
  storedSubgraph: Lowering["storedSubgraph"];
  /** Adds a subgraph, once for each operator and key, as Lowering says. */
  addSubgraph(operator: TfliteOperator, key: string, like: number, make: () => TfliteSubgraph): number;
  /**
   * Runs `work`, which imports subgraphs that get values of the given shapes, and returns the shapes of these values afterwards; again with
   * those, and without what was imported, until they are the same.
   */
  settleShapes(given: readonly Varying[], work: (given: readonly Varying[]) => readonly Varying[]): void;
  isRead(tensor: number): boolean;
}

/** Opens an operator for lowering. */
export function createLowering(
  graph: Graph,
  operator: TfliteOperator,
  index: number,
  surroundings: Surroundings,
): Lowering {
  const { dialect } = surroundings;
  const access: OperatorAccess = accessOperator(graph, operator, index);
  const { input, inputSpec, output, outputSpec } = access;
  const constants = addedConstants(access);
  const emission = createEmission(access, surroundings);
  const { emit, emitChecked, emitExtension, copyStored } = emission;

  function requantise(from: number, to: number): void {
    const isEightBit = isQuant8(graph.spec(from).type) && isQuant8(graph.spec(to).type);
    if (!isEightBit && emitExtension("QUANTIZE", [from], [to]) === "emitted") return;
    const real = graph.temporary(floatsOf(graph.spec(from)));
    emit("DEQUANTIZE", [from], [real]);
    emit("QUANTIZE", [real], [to]);
  }

  /** An operand as float elements; a scalar, or one that is not quantised, as it is. */
  function widen(operand: number): number {
    const spec = graph.spec(operand);
    const quantisation = quantisationOf(spec.type);
    if (spec.type !== "TENSOR_FLOAT16" && (quantisation === "none" || quantisation === "bias")) return operand;
    return graph.derive(`${operand} as float`, floatsOf(spec), (result) =>
      emit(spec.type === "TENSOR_FLOAT16" ? "CAST" : "DEQUANTIZE", [operand], [result]),
    );
  }

  function inFloat(compute: (result: number) => void): void {
    const real = graph.temporary(floatsOf(outputSpec()));
    compute(real);
    emit("QUANTIZE", [real], [output()]);
  }

  // By name: spreading so many members takes several times as long, for each operator.
  return {
    operator,
    index,
    graph,
    fail: access.fail,
    ensure: access.ensure,
    has: access.has,
    inputIndex: access.inputIndex,
    inputTensor: access.inputTensor,
    input,
    asInFile: access.asInFile,
    inputSpec,
    outputIndex: access.outputIndex,
    outputTensor: access.outputTensor,
    output,
    outputSpec,
    constantIntegers: access.constantIntegers,
    integers: access.integers,
    integer: access.integer,
    axis: access.axis,
    option: access.option,
    number: access.number,
    flag: access.flag,
    text: access.text,
    list: access.list,
    int32: constants.int32,
    bool: constants.bool,
    float: constants.float,
    int32Tensor: constants.int32Tensor,
    emit,
    emitExtended: (name, inputs, outputs) => emitExtension(name, inputs, outputs) === "emitted",
    emitBuiltin: (derived = {}) => emitBuiltin(access, constants, emission, dialect, derived),
    quantisesInput(inputPlace, weightPlace) {
      const weights = inputSpec(weightPlace);
      const isHybrid = isQuant8(weights.type) || weights.channelQuant !== undefined;
      return dialect.quantisesInputs && inputSpec(inputPlace).type === "TENSOR_FLOAT32" && isHybrid;
    },
    emitMoved(operation, inputs, { scale, zeroPoint }) {
      const spec = outputSpec();
      if (!isQuantised(spec.type) || (spec.scale === scale && spec.zeroPoint === zeroPoint)) {
        emit(operation, inputs, [output()]);
        return;
      }
      const { type, dimensions } = spec;
      const result = graph.temporary({ type, dimensions, scale, zeroPoint });
      emit(operation, inputs, [result]);
      if (!copyStored(result, output())) requantise(result, output());
    },
    emitStored(operation, inputs, { scale, zeroPoint }, result = output()) {
      const { type, dimensions } = graph.spec(result);
      const computed = graph.temporary({ type, dimensions, scale, zeroPoint });
      emit(operation, inputs, [computed]);
      access.ensure(copyStored(computed, result), () => "only the extension copies elements as they are stored");
    },
    emitComputed(name, inputs, fixed) {
      const { type, scale, zeroPoint } = outputSpec();
      const isEightBit = isQuant8(type) && inputs.every((input) => graph.spec(input).type !== "TENSOR_QUANT16_SYMM");
      const hasFixed = fixed === undefined || (fixed.scale === scale && fixed.zeroPoint === zeroPoint);
      const result = output();
      const operation = hasFixed ? halOperation(name) : undefined;
      const isDirect = operation !== undefined && emission.problemOf(operation, inputs, [result]) === undefined;
      if (isDirect) emitChecked(operation, inputs, [result]);
      else if (!isEightBit) emit(name, inputs, [result]);
      else inFloat((real) => emit(name, inputs.map(widen), [real]));
    },
    inFloat,
    requantise,
    asFloat: (place) => widen(input(place)),
    state: (place) => graph.state(access.inputIndex(place)),
    subgraphs: (others, inputs) =>
      surroundings
        .importSubgraphs(others, inputs)
        .map(({ place, ...callee }) => ({ ...callee, reference: () => graph.subgraphReference(place) })),
    storedSubgraph: surroundings.storedSubgraph,
    addSubgraph: (key, like, make) => surroundings.addSubgraph(operator, key, like, make),
    settleShapes: surroundings.settleShapes,
    isRead: surroundings.isRead,
    halVersion: dialect.halVersion,
    typeCode: dialect.typeCode,
  };
}

/** Float elements of the same shape. */
function floatsOf({ dimensions }: OperandSpec): OperandSpec {
  return { type: "TENSOR_FLOAT32", dimensions, scale: 0, zeroPoint: 0 };
}
