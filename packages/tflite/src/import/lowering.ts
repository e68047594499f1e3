/**
 * The context of a mapping row: one operator of the file, its tensors and options, and functions that emit the HAL operations for it.
 */
import {
  type AnyOperandType,
  elementAt,
  isSameType,
  layOut,
  type Operation,
  type Param,
  typesOfRow,
} from "@nnhal/operations";
import type { OperandTypeName, OperationTypeName, Subgraph } from "@nnhal/types";
import { ensure, fail, listText, type ProblemOperator, quoted, type Where } from "../error.ts";
import type { Field } from "../flatbuffer/table.ts";
import type { TfliteOperator, TfliteTensor } from "../model.ts";
import { builtinOperators } from "../schema/builtin-operators.ts";
import { type OptionValue, optionsLayout } from "../schema/options.ts";
import { bytesOfFloat, bytesOfIntegers, integersOf } from "./bytes.ts";
import { customOptions } from "./custom-options.ts";
import { type Dialect, halOperation, isBuiltinForm } from "./dialect.ts";
import type { Graph, StateOperands } from "./graph.ts";
import { inferredShapes, otherQuantisations, shapeProblem } from "./infer.ts";
import { movingOperators } from "./moving.ts";
import { describeTensor, isQuant8, isQuantised, type OperandSpec, quantisationOf } from "./operand-types.ts";
import { signatureProblem } from "./signature.ts";

/** Quantisation that an operation's result has to have. */
export interface Quantisation {
  readonly scale: number;
  readonly zeroPoint: number;
}

/** One operator that is being lowered to HAL operations. Operands are given by their indexes, tensors by their place in a list. */
export interface Lowering {
  readonly operator: TfliteOperator;
  /** The operator's place in its subgraph. */
  readonly index: number;
  readonly graph: Graph;
  /** Throws a TfliteError for the operator. `problem` names the rule and the actual value; `help`: what a user can do. */
  fail(problem: string, help?: string): never;
  /** Throws a TfliteError for the operator unless the condition holds. */
  ensure(condition: boolean, problem: () => string, help?: string): asserts condition;

  /** Whether input `place` is there and not omitted. */
  has(place: number): boolean;
  /** The index of the tensor that is input `place`. */
  inputIndex(place: number): number;
  inputTensor(place: number): TfliteTensor;
  /** The operand of input `place`. */
  input(place: number): number;
  /** The operand of input `place`, with 64-bit integers if the file has them. */
  asInFile(place: number): number;
  /** The description of input `place`; does not make the operand. */
  inputSpec(place: number): OperandSpec;
  outputIndex(place: number): number;
  /** The tensor that is an output, the first one by default. */
  outputTensor(place?: number): TfliteTensor;
  /** The operand of an output, the first one by default. */
  output(place?: number): number;
  outputSpec(place?: number): OperandSpec;
  /** The integers of a constant input; undefined if it is not constant. */
  constantIntegers(place: number): readonly number[] | undefined;
  /** The integers of an input that has to be a constant. */
  integers(place: number, meaning: string): readonly number[];
  /** The one integer of an input that has to be a constant. */
  integer(place: number, meaning: string): number;
  /** An axis counted from the front. */
  axis(axis: number, rank: number): number;

  /** The value of an option, whatever its kind: that of the file, else the schema's default. */
  option(name: string): OptionValue | undefined;
  number(option: string): number;
  flag(option: string): boolean;
  text(option: string): string;
  list(option: string): readonly number[] | undefined;

  int32(value: number): number;
  bool(value: boolean): number;
  /** A float scalar of the precision of operand `like`'s elements. */
  float(value: number, like: OperandSpec): number;
  /** A one-dimensional TENSOR_INT32 constant. */
  int32Tensor(values: readonly number[]): number;

  /** Emits an operation of the HAL, or the extension's of that name if the HAL's does not accept the operands. */
  emit(operation: OperationTypeName, inputs: readonly number[], outputs: readonly number[]): void;
  /** Emits the extension's operation of a name. False if there is none, or if it does not accept the operands. */
  emitExtended(operation: OperationTypeName, inputs: readonly number[], outputs: readonly number[]): boolean;
  /**
   * Emits the extension's operation for the builtin operator: its tensors, then its options; then its results, and the new values of its
   * variable tensors. False if the extension has none. Throws a TfliteError if it does not accept the tensors. `derived`: scalars of the
   * operation that are not options of the schema.
   */
  emitBuiltin(derived?: Readonly<Record<string, number>>): boolean;
  /** Whether the layer has float inputs and weights `place` of 8 bits, and quantises its inputs at each execution. */
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
  /** Subgraphs of the file, which are imported on their first use. */
  subgraphs(indexes: readonly number[]): readonly Callee[];
  /** Whether an operator reads a tensor. */
  isRead(tensor: number): boolean;
  /** The code of a type in the imported model. */
  typeCode(type: AnyOperandType): number;
}

/** A subgraph that an operator runs. */
export interface Callee {
  /** The operand that refers to it. */
  readonly reference: number;
  readonly subgraph: Subgraph;
}

/** Information for lowering from outside the subgraph. */
export interface Surroundings {
  readonly dialect: Dialect;
  /** Imports subgraphs of the file; `place` is the one among the model's referenced subgraphs. */
  importSubgraphs(indexes: readonly number[]): readonly { readonly place: number; readonly subgraph: Subgraph }[];
  isRead(tensor: number): boolean;
  /** Whether shapes that the file leaves open follow from those of the inputs; else they stay as they are. */
  readonly infersShapes: boolean;
}

/** Most tensors that a message names. */
const MOST_NAMED = 6;

/** The place of an operator in messages. */
export function operatorPath(graphPath: string, operator: TfliteOperator, index: number): string {
  return `${graphPath}.operators[${index}] (${operator.name} version ${operator.version})`;
}

/** An operator as problems describe it. */
export function problemOperator(
  { name, customCode, version }: TfliteOperator,
  index: number,
  subgraph: number,
): ProblemOperator {
  return { subgraph, index, name, ...(customCode !== undefined && { customCode }), version };
}

/** The place of an operator in problems. */
export function operatorWhere(graph: Pick<Graph, "path" | "index">, operator: TfliteOperator, index: number): Where {
  return { path: operatorPath(graph.path, operator, index), operator: problemOperator(operator, index, graph.index) };
}

/** The value of an option in a message. */
function optionText(value: OptionValue | undefined): string {
  if (typeof value === "string") return quoted(value);
  return typeof value === "object" ? listText(value) : String(value);
}

/** The field of an operator's option; undefined if the operator does not have the option. */
function fieldOf(operator: TfliteOperator, option: string): Field<OptionValue | undefined> | undefined {
  const table = builtinOperators.find(({ name }) => name === operator.name)?.options;
  if (table === undefined) return undefined;
  const fields: Readonly<Record<string, Field<OptionValue | undefined>>> = optionsLayout(table);
  return fields[option];
}

/** Opens an operator for lowering. */
export function createLowering(
  graph: Graph,
  operator: TfliteOperator,
  index: number,
  surroundings: Surroundings,
): Lowering {
  const { subgraph } = graph;
  const place = () => operatorWhere(graph, operator, index);

  const refuse: Lowering["fail"] = (problem, help) => fail(place, problem, help);
  function check(condition: boolean, problem: () => string, help?: string): asserts condition {
    ensure(condition, place, problem, help);
  }

  function inputIndex(place: number): number {
    const tensor = operator.inputs[place] ?? -1;
    check(
      tensor >= 0,
      () => `input ${place} is omitted, and the HAL needs it; it has inputs ${listText(operator.inputs)}`,
    );
    return tensor;
  }
  function outputIndex(place: number): number {
    const tensor = operator.outputs[place] ?? -1;
    check(tensor >= 0, () => `output ${place} is missing; it has outputs ${listText(operator.outputs)}`);
    return tensor;
  }
  const input = (place: number) => graph.operand(inputIndex(place));
  const inputSpec = (place: number) => graph.tensorSpec(inputIndex(place));
  const output = (place = 0) => graph.operand(outputIndex(place));
  const outputSpec = (place = 0) => graph.tensorSpec(outputIndex(place));

  function option(name: string): OptionValue | undefined {
    return operator.options[name] ?? fieldOf(operator, name)?.absent;
  }
  function optionOf<T extends OptionValue>(name: string, is: (value: unknown) => value is T, kind: string): T {
    const value = option(name);
    if (!is(value)) refuse(`option ${name} has to be ${kind}, it is ${optionText(value)}`);
    return value;
  }

  function constantIntegers(place: number): readonly number[] | undefined {
    const tensor = inputIndex(place);
    const bytes = graph.constantBytes(tensor);
    return bytes && integersOf(elementAt(subgraph.tensors, tensor).type, bytes, graph.tensorPath(tensor));
  }
  function integers(place: number, meaning: string): readonly number[] {
    const values = constantIntegers(place);
    if (values === undefined) {
      const help = "convert the model with fixed shapes, or import it with inputShapes";
      refuse(`the HAL needs ${meaning} (input ${place}) as a constant, and it is computed`, help);
    }
    return values;
  }

  function scalar(type: OperandTypeName, value: number, bytes: Uint8Array): number {
    return graph.shared(
      `${type} ${Object.is(value, -0) ? "-0" : value}`,
      { type, dimensions: [], scale: 0, zeroPoint: 0 },
      bytes,
    );
  }

  /** The operator's tensors, the first few of them, for a message. */
  function describeTensors(): string {
    const listed = [...operator.inputs, ...operator.outputs].filter((tensor) => tensor >= 0);
    const named = listed
      .slice(0, MOST_NAMED)
      .map((tensor) => describeTensor(elementAt(subgraph.tensors, tensor), tensor));
    return named.join(", ") + (listed.length > MOST_NAMED ? ", …" : "");
  }

  function emit(name: OperationTypeName, inputs: readonly number[], outputs: readonly number[]): void {
    const operation = halOperation(name);
    check(operation !== undefined, () => `no definition of the HAL's ${name} is known`);
    adoptShapes(operation, inputs, outputs);
    const problem = signatureProblem(operation, inputs.map(graph.spec), outputs.map(graph.spec));
    const extended = problem === undefined ? "" : emitExtension(name, inputs, outputs);
    if (extended === "emitted") return;
    const isSixteenBit = [...inputs, ...outputs].some((operand) => graph.spec(operand).type === "TENSOR_QUANT16_SYMM");
    const help = isSixteenBit ? "convert the model with 8-bit activations, or with floats" : undefined;
    check(problem === undefined, () => `${problem}${extended}. The tensors are ${describeTensors()}`, help);
    emitChecked(operation, inputs, outputs);
  }

  /** Emits an operation with the right signature. Shapes that the file leaves open become those that follow from the inputs. */
  function emitChecked(operation: Operation, inputs: readonly number[], outputs: readonly number[]): void {
    graph.emit(operation, inputs, outputs, index);
    adoptShapes(operation, inputs, outputs);
  }

  function adoptShapes(operation: Operation, inputs: readonly number[], outputs: readonly number[]): void {
    if (!surroundings.infersShapes || !outputs.some(graph.isOpen)) return;
    const given = inputs.map((input) => ({ ...graph.spec(input), value: graph.valueOf(input) }));
    const shapes = inferredShapes(operation, given, outputs.map(graph.spec));
    for (const [place, output] of outputs.entries()) {
      const inferred = shapes?.[place];
      if (inferred === undefined || !graph.isOpen(output)) continue;
      if (inferred.join() !== graph.spec(output).dimensions.join()) graph.reshape(output, inferred);
    }
  }

  /**
   * Emits the extension's operation of a name, if it accepts the operands, or would accept constants as they are in the file. Otherwise
   * returns why not, as the end of a message; empty if there is no such operation.
   */
  function emitExtension(name: string, inputs: readonly number[], outputs: readonly number[]): "emitted" | string {
    const operation = surroundings.dialect.operationOf(name);
    return operation === undefined ? "" : emitIfAccepted(operation, inputs, outputs);
  }

  function emitIfAccepted(
    operation: Operation,
    inputs: readonly number[],
    outputs: readonly number[],
  ): "emitted" | string {
    let problem: string | undefined;
    for (const candidate of [inputs, inputsAsInFile(operation, inputs)]) {
      adoptShapes(operation, candidate, outputs);
      const given = outputs.map(graph.spec);
      const specs = candidate.map(graph.spec);
      problem = signatureProblem(operation, specs, given) ?? problemOfShapes(operation, candidate, given);
      if (problem !== undefined) continue;
      problem = emitMoving(operation, candidate, outputs);
      if (problem !== undefined) continue;
      return "emitted";
    }
    return `; ${problem}`;
  }

  /** Emits an operation of the extension; one that moves elements may have results of another quantisation. Returns why not. */
  function emitMoving(operation: Operation, inputs: readonly number[], outputs: readonly number[]): string | undefined {
    const valued = inputs.map((input) => ({ ...graph.spec(input), value: graph.valueOf(input) }));
    const others = otherQuantisations(operation, valued, outputs.map(graph.spec));
    const [first] = others;
    if (first !== undefined && !movingOperators.has(operator.name)) {
      const [place, { scale, zeroPoint }] = first;
      return `the extension's ${operation.name} cannot compute it: output ${place} needs scale ${scale} and zero point ${zeroPoint}`;
    }
    const results = outputs.map((output, place) => {
      const needed = others.get(place);
      return needed === undefined ? output : graph.temporary({ ...graph.spec(output), ...needed });
    });
    emitChecked(operation, inputs, results);
    for (const place of others.keys()) copyStored(elementAt(results, place), elementAt(outputs, place));
    return undefined;
  }

  /** Copies elements as they are stored to an operand of another quantisation. False if only the extension could do that. */
  function copyStored(from: number, to: number): boolean {
    const operation = surroundings.dialect.operationOf("BITCAST");
    if (operation === undefined) return false;
    emitChecked(operation, [from], [to]);
    return true;
  }

  function problemOfShapes(operation: Operation, inputs: readonly number[], outputs: readonly OperandSpec[]) {
    const valued = inputs.map((input) => ({ ...graph.spec(input), value: graph.valueOf(input) }));
    const problem = shapeProblem(operation, valued, outputs);
    return problem && `the extension's ${operation.name} cannot compute it: ${problem}`;
  }

  function asWide(operand: number): number {
    return graph.widened(operand) ?? operand;
  }

  /** Inputs with the 64-bit integers of the file, except where the operation has a fixed type. */
  function inputsAsInFile({ forms }: Operation, inputs: readonly number[]): readonly number[] {
    const params = forms.flatMap(({ params, counts }) => [layOut(params, counts, inputs.length) ?? []]);
    const [positions = []] = params.filter((list) => list.length > 0);
    return inputs.map((input, place) => (positions[place]?.type === undefined ? asWide(input) : input));
  }

  const isCustom = operator.name === "CUSTOM";

  /** The operation that has the operator's own tensors and options as its operands. */
  function ownOperation(): Operation | undefined {
    const { dialect } = surroundings;
    if (isCustom) return dialect.customOf(operator.customCode ?? "");
    const operation = dialect.operationOf(operator.name);
    return operation !== undefined && isBuiltinForm(operation) ? operation : undefined;
  }

  /** The value of an option of a custom operator. */
  function customOption({ name, default: absent }: Param): number | boolean {
    const value = customOptions(operator.customOptions)(name) ?? absent;
    check(value !== undefined, () => `the custom option ${name} is missing`);
    return value;
  }

  function emitBuiltin(derived: Readonly<Record<string, number>> = {}): boolean {
    const operation = ownOperation();
    if (operation === undefined) return false;
    const states: StateOperands[] = [];
    const [{ params }] = operation.forms;
    const options = params.filter(({ name, kind }) =>
      isCustom ? kind !== "tensor" : fieldOf(operator, name) !== undefined || derived[name] !== undefined,
    );
    const tensors = params.filter((param) => !options.includes(param));
    // A scalar that is not an option needs a row that knows its value.
    if (tensors.some(({ kind }) => kind !== "tensor")) return false;
    const { inputs } = operator;
    const omittedTypes = typesOfOmitted(operation, tensors);
    const omitted = (place: number) => {
      const rule = operation.ranks[tensors[place]?.name ?? ""] ?? 1;
      return graph.omitted(omittedTypes[place] ?? "TENSOR_FLOAT32", typeof rule === "number" ? rule : rule[0]);
    };
    const operands = inputs.map((tensor, place) => {
      if (tensor >= 0 && graph.subgraph.tensors[tensor]?.isVariable) {
        const state = graph.state(tensor);
        states.push(state);
        return state.input;
      }
      if (tensor >= 0) return graph.operand(tensor);
      return omitted(place);
    });
    // Omitted tensors at the end are not in every file.
    for (let place = inputs.length; place < tensors.length; place++) operands.push(omitted(place));
    for (const param of options) operands.push(optionOperand(param, derived));
    // New values of states are outputs after the operator's own.
    const outputs = [...operator.outputs.map(graph.operand), ...states.map((state) => state.output)];
    const problem = emitIfAccepted(operation, operands, outputs);
    check(problem === "emitted", () => `${problem.slice(2)}. The tensors are ${describeTensors()}`);
    return true;
  }

  /** A type for each tensor of the operator: those of a row that has the types of the tensors that are there, if there is one. */
  function typesOfOmitted({ forms: [form] }: Operation, tensors: readonly Param[]): AnyOperandType[] {
    const given = tensors.map((_, place) => {
      const tensor = operator.inputs[place] ?? -1;
      return tensor < 0 ? undefined : graph.tensorSpec(tensor).type;
    });
    const rows = form.types.map((row) => typesOfRow(form, row));
    const typeIn = (row: (typeof rows)[number] | undefined, param: Param) => row?.get(param) ?? "TENSOR_FLOAT32";
    const fitting = rows.find((row) =>
      tensors.every((param, place) => given[place] === undefined || isSameType(given[place], typeIn(row, param))),
    );
    return tensors.map((param) => typeIn(fitting ?? rows[0], param));
  }

  /** An option as an operand: a scalar, or a list as a tensor. */
  function optionOperand(param: Param, derived: Readonly<Record<string, number>>): number {
    const { name, type } = param;
    const value = derived[name] ?? (isCustom ? customOption(param) : option(name));
    if (typeof value === "boolean") return scalar("BOOL", Number(value), Uint8Array.of(Number(value)));
    if (typeof value === "object") return type === "TENSOR_FLOAT32" ? float32Tensor(value) : int32Tensor(value);
    if (type === "FLOAT32") return scalar("FLOAT32", Number(value), bytesOfFloat(Number(value), "TENSOR_FLOAT32"));
    const { codes = [], size } = fieldOf(operator, name) ?? {};
    // Options of 64 bits are seeds, of which .tflite uses 32.
    if (size === 8) return seedOperand(value);
    const code = typeof value === "string" && codes.includes(value) ? codes.indexOf(value) : Number(value);
    check(
      Number.isInteger(code) && Math.abs(code) <= 0x7fff_ffff,
      () => `option ${name} is ${value}, not a 32-bit integer`,
    );
    return scalar("INT32", code, bytesOfIntegers([code]));
  }

  function seedOperand(value: OptionValue | undefined): number {
    const code = Number(BigInt.asIntN(32, BigInt(String(value ?? 0))));
    return scalar("INT32", code, bytesOfIntegers([code]));
  }

  function int32Tensor(values: readonly number[]): number {
    return graph.shared(
      `TENSOR_INT32 ${values.join()}`,
      { type: "TENSOR_INT32", dimensions: [values.length], scale: 0, zeroPoint: 0 },
      bytesOfIntegers(values),
    );
  }

  function float32Tensor(values: readonly number[]): number {
    const spec: OperandSpec = { type: "TENSOR_FLOAT32", dimensions: [values.length], scale: 0, zeroPoint: 0 };
    return graph.constant(spec, new Uint8Array(Float32Array.from(values).buffer));
  }

  function requantise(from: number, to: number): void {
    const isEightBit = isQuant8(graph.spec(from).type) && isQuant8(graph.spec(to).type);
    if (!isEightBit && emitExtension("QUANTIZE", [from], [to]) === "emitted") return;
    const { dimensions } = graph.spec(from);
    const real = graph.temporary({ type: "TENSOR_FLOAT32", dimensions, scale: 0, zeroPoint: 0 });
    emit("DEQUANTIZE", [from], [real]);
    emit("QUANTIZE", [real], [to]);
  }

  /** An operand as float elements; a scalar, or one that is not quantised, as it is. */
  function widened(operand: number): number {
    const { type, dimensions } = graph.spec(operand);
    const quantisation = quantisationOf(type);
    if (type !== "TENSOR_FLOAT16" && (quantisation === "none" || quantisation === "bias")) return operand;
    const real: OperandSpec = { type: "TENSOR_FLOAT32", dimensions, scale: 0, zeroPoint: 0 };
    return graph.derived(`${operand} as float`, real, (result) =>
      emit(type === "TENSOR_FLOAT16" ? "CAST" : "DEQUANTIZE", [operand], [result]),
    );
  }

  function inFloat(compute: (result: number) => void): void {
    const { dimensions } = outputSpec();
    const real = graph.temporary({ type: "TENSOR_FLOAT32", dimensions, scale: 0, zeroPoint: 0 });
    compute(real);
    emit("QUANTIZE", [real], [output()]);
  }

  return {
    operator,
    index,
    graph,
    fail: refuse,
    ensure: check,
    has: (place) => (operator.inputs[place] ?? -1) >= 0,
    inputIndex,
    inputTensor: (place) => elementAt(subgraph.tensors, inputIndex(place)),
    input,
    asInFile: (place) => asWide(input(place)),
    inputSpec,
    outputIndex,
    outputTensor: (place = 0) => elementAt(subgraph.tensors, outputIndex(place)),
    output,
    outputSpec,
    constantIntegers,
    integers,
    integer(place, meaning) {
      const values = integers(place, meaning);
      const [value, ...more] = values;
      check(
        value !== undefined && more.length === 0,
        () => `${meaning} (input ${place}) has to be one integer, it is ${listText(values)}`,
      );
      return value;
    },
    axis(axis, rank) {
      check(axis >= -rank && axis < rank, () => `axis ${axis} is not within the ${rank} dimensions`);
      return axis < 0 ? axis + rank : axis;
    },
    option,
    number: (name) => optionOf(name, (value): value is number => typeof value === "number", "a number"),
    flag: (name) => optionOf(name, (value): value is boolean => typeof value === "boolean", "a boolean"),
    text: (name) => optionOf(name, (value): value is string => typeof value === "string", "a known member"),
    list(name) {
      const value = option(name);
      if (value !== undefined && typeof value !== "object") refuse(`option ${name} has to be a list, it is ${value}`);
      return value;
    },
    int32(value) {
      check(Number.isInteger(value) && Math.abs(value) <= 0x7fff_ffff, () => `${value} is not a 32-bit integer`);
      return scalar("INT32", value, bytesOfIntegers([value]));
    },
    bool: (value) => scalar("BOOL", Number(value), Uint8Array.of(Number(value))),
    float: (value, { type }) =>
      scalar(type === "TENSOR_FLOAT16" ? "FLOAT16" : "FLOAT32", value, bytesOfFloat(value, type)),
    int32Tensor,
    emit,
    emitExtended: (name, inputs, outputs) => emitExtension(name, inputs, outputs) === "emitted",
    emitBuiltin,
    quantisesInput(inputPlace, weightPlace) {
      const weights = inputSpec(weightPlace);
      const isHybrid = isQuant8(weights.type) || weights.channelQuant !== undefined;
      return surroundings.dialect.quantisesInputs && inputSpec(inputPlace).type === "TENSOR_FLOAT32" && isHybrid;
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
      check(copyStored(computed, result), () => "only the extension copies elements as they are stored");
    },
    emitComputed(name, inputs, fixed) {
      const { type, scale, zeroPoint } = outputSpec();
      const isEightBit = isQuant8(type) && inputs.every((input) => graph.spec(input).type !== "TENSOR_QUANT16_SYMM");
      const hasFixed = fixed === undefined || (fixed.scale === scale && fixed.zeroPoint === zeroPoint);
      const result = output();
      const operation = hasFixed ? halOperation(name) : undefined;
      const isDirect =
        operation !== undefined &&
        signatureProblem(operation, inputs.map(graph.spec), [graph.spec(result)]) === undefined;
      if (isDirect) emitChecked(operation, inputs, [result]);
      else if (!isEightBit) emit(name, inputs, [result]);
      else inFloat((real) => emit(name, inputs.map(widened), [real]));
    },
    inFloat,
    requantise,
    asFloat: (place) => widened(input(place)),
    state: (place) => graph.state(inputIndex(place)),
    subgraphs: (others) =>
      surroundings
        .importSubgraphs(others)
        .map(({ place: callee, subgraph: inner }) => ({ reference: graph.subgraphReference(callee), subgraph: inner })),
    isRead: surroundings.isRead,
    typeCode: surroundings.dialect.typeCode,
  };
}
