/**
 * Small .tflite models for tests, and imported ones as readable lines: `ADD(in0, in1, 0) -> out0`.
 */

import { decodeTensorData, encodeTensorData, viewModel } from "@nnhal/backend";
import { createReferenceBackend } from "@nnhal/backend-reference";
import { tfliteExtension } from "@nnhal/extension-tflite";
import { type AnyTensorData, byteLength, elementAt, elementCount, splitExtensionCode } from "@nnhal/operations";
import {
  ErrorStatus,
  ExecutionPreference,
  type Model,
  type Operand,
  OperandLifeTime,
  operandTypeNames,
  operandTypes,
  operationTypeNames,
  Priority,
  type Subgraph,
} from "@nnhal/types";
import { modelIssues } from "@nnhal/validation";
import { expect } from "vitest";
import { TfliteError } from "./error.ts";
import { importTflite } from "./import/import.ts";
import type { ImportedModel } from "./import/imported-model.ts";
import type { ImportOptions } from "./import/options.ts";
import type {
  TfliteBlocks,
  TfliteModel,
  TfliteOperator,
  TfliteSparsity,
  TfliteSubgraph,
  TfliteTensor,
} from "./model.ts";
import type { TensorTypeName } from "./schema/codes.ts";

/** A tensor of a test model: type, shape, and fields that differ from the defaults. */
export interface TensorGiven {
  readonly type?: TensorTypeName;
  readonly blocks?: TfliteBlocks;
  readonly shape?: readonly number[];
  /** Values of a constant. */
  readonly data?: readonly number[];
  /** Values of a constant of type STRING. */
  readonly strings?: readonly string[];
  readonly scale?: number | readonly number[];
  readonly zeroPoint?: number | readonly number[];
  readonly quantizedDimension?: number;
  readonly isVariable?: boolean;
  readonly shapeSignature?: readonly number[];
  readonly hasRank?: true;
  readonly sparsity?: TfliteSparsity;
}

/** An operator of a test model; tensors by name, "" is an omitted one. */
export interface OperatorGiven {
  readonly name: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly options?: TfliteOperator["options"];
  readonly version?: number;
  readonly customCode?: string;
  readonly intermediates?: readonly string[];
}

export interface SubgraphGiven {
  readonly tensors: Readonly<Record<string, TensorGiven>>;
  readonly operators: readonly OperatorGiven[];
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
}

const arrays: { readonly [Name in TensorTypeName]?: (data: readonly number[]) => ArrayBufferView } = {
  FLOAT32: (data) => Float32Array.from(data),
  INT32: (data) => Int32Array.from(data),
  INT64: (data) => BigInt64Array.from(data, BigInt),
  UINT8: (data) => Uint8Array.from(data),
  INT4: (data) => Uint8Array.from(data),
  INT2: (data) => Uint8Array.from(data),
  INT8: (data) => Int8Array.from(data),
  INT16: (data) => Int16Array.from(data),
  BOOL: (data) => Uint8Array.from(data),
};

/** The bytes of elements of a type. FLOAT16 elements are given as their bits. */
export function bytesOf(type: TensorTypeName, data: readonly number[]): Uint8Array {
  const view = arrays[type]?.(data) ?? Uint16Array.from(data);
  return new Uint8Array(view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength));
}

/** Strings as a file has them: their number, where each begins and the end, and their bytes. */
export function bytesOfStrings(strings: readonly string[]): Uint8Array {
  const rows = strings.map((text) => new TextEncoder().encode(text));
  const head = 4 * (rows.length + 2);
  const bytes = new Uint8Array(rows.reduce((size, { length }) => size + length, head));
  const view = new DataView(bytes.buffer);
  view.setInt32(0, rows.length, true);
  let place = head;
  for (const [index, row] of rows.entries()) {
    view.setInt32(4 * (index + 1), place, true);
    bytes.set(row, place);
    place += row.length;
  }
  view.setInt32(4 * (rows.length + 1), place, true);
  return bytes;
}

function listOf(value: number | readonly number[]): readonly number[] {
  return typeof value === "number" ? [value] : value;
}

function tensorOf(name: string, given: TensorGiven): TfliteTensor {
  const { type = "FLOAT32", shape = [], data, scale, zeroPoint = 0, quantizedDimension = 0 } = given;
  const { shapeSignature, hasRank, sparsity, blocks } = given;
  const scales = scale === undefined ? [] : listOf(scale).map(Math.fround);
  return {
    name,
    shape,
    type,
    isVariable: given.isVariable ?? false,
    ...(shapeSignature && { shapeSignature }),
    ...(hasRank && { hasRank }),
    ...(sparsity && { sparsity }),
    ...(blocks && { blocks }),
    ...(data && data.length > 0 && { data: bytesOf(type, data) }),
    ...(given.strings && { data: bytesOfStrings(given.strings) }),
    ...(scales.length > 0 && {
      quantization: {
        scale: scales,
        zeroPoint: typeof zeroPoint === "number" ? scales.map(() => zeroPoint) : zeroPoint,
        quantizedDimension,
      },
    }),
  };
}

function subgraphOf({ tensors, operators, inputs, outputs }: SubgraphGiven): TfliteSubgraph {
  const names = Object.keys(tensors);
  const indexOf = (name: string) => {
    const index = names.indexOf(name);
    if (name !== "" && index < 0) throw new TypeError(`the test has no tensor ${name}`);
    return index;
  };
  return {
    name: "",
    tensors: Object.entries(tensors).map(([name, given]) => tensorOf(name, given)),
    operators: operators.map((operator) => ({
      name: operator.name,
      ...(operator.customCode !== undefined && { customCode: operator.customCode }),
      version: operator.version ?? 1,
      inputs: operator.inputs.map(indexOf),
      outputs: operator.outputs.map(indexOf),
      options: operator.options ?? {},
      ...(operator.intermediates && { intermediates: operator.intermediates.map(indexOf) }),
    })),
    inputs: inputs.map(indexOf),
    outputs: outputs.map(indexOf),
  };
}

/** A model of these subgraphs. */
export function modelOf(...subgraphs: readonly SubgraphGiven[]): TfliteModel {
  return { version: 3, description: "", subgraphs: subgraphs.map(subgraphOf), metadata: [], signatures: [] };
}

/** The first subgraph of a model. */
export function firstSubgraph({ subgraphs }: TfliteModel): TfliteSubgraph {
  return elementAt(subgraphs, 0);
}

/** The first operator of a model's first subgraph. */
export function firstOperator(model: TfliteModel): TfliteOperator {
  return elementAt(firstSubgraph(model).operators, 0);
}

/** A model with its first subgraph changed. */
export function changeModel(
  model: TfliteModel,
  change: (subgraph: TfliteSubgraph) => Partial<TfliteSubgraph>,
): TfliteModel {
  const [first, ...others] = model.subgraphs;
  if (first === undefined) throw new TypeError("the model has no subgraph");
  return { ...model, subgraphs: [{ ...first, ...change(first) }, ...others] };
}

/** A model of one operator: `inputs` without data are the model's inputs, all `outputs` its outputs. */
export function oneOperator(
  name: string,
  inputs: Readonly<Record<string, TensorGiven>>,
  outputs: Readonly<Record<string, TensorGiven>>,
  options: TfliteOperator["options"] = {},
  more: Partial<OperatorGiven> = {},
): TfliteModel {
  const given = Object.entries(inputs).filter(
    ([input, { data, strings, isVariable, shape }]) =>
      input !== "" && !data && !strings && !isVariable && !shape?.includes(0),
  );
  const { "": _omitted, ...tensors } = inputs;
  return modelOf({
    tensors: { ...tensors, ...outputs },
    operators: [{ name, inputs: Object.keys(inputs), outputs: Object.keys(outputs), options, ...more }],
    inputs: given.map(([input]) => input),
    outputs: Object.keys(outputs),
  });
}

function constantOf(model: Model, { lifetime, location }: Operand): Uint8Array {
  if (lifetime === OperandLifeTime.CONSTANT_COPY) {
    return model.operandValues.subarray(location.offset, location.offset + location.length);
  }
  const handle = model.pools[location.poolIndex]?.handle;
  if (handle?.kind !== "buffer") throw new TypeError("the pool is not a buffer");
  return new Uint8Array(handle.buffer, handle.byteOffset + location.offset, location.length);
}

function showType({ type, dimensions, scale, zeroPoint, extraParams }: Operand): string {
  const name = operandTypeNames.get(type) ?? `${type}`;
  const shape = operandTypes[operandTypeNames.get(type) ?? "OEM"].kind === "tensor" ? `[${dimensions.join()}]` : "";
  const quantisation = scale === 0 ? "" : `*${scale}${zeroPoint === 0 ? "" : `@${zeroPoint}`}`;
  const channels =
    extraParams.kind === "channelQuant"
      ? `*{${extraParams.channelQuant.scales.join()}}d${extraParams.channelQuant.channelDim}`
      : "";
  return `${name.replace("TENSOR_", "")}${shape}${quantisation}${channels}`;
}

/** The value of a constant or scalar: a bare number for a scalar, type and values for a tensor. */
function showConstant(model: Model, operand: Operand): string {
  const name = operandTypeNames.get(operand.type);
  if (name === undefined) return "?";
  const values = Array.from(
    decodeTensorData(name, constantOf(model, operand).slice(), elementCount(operand.dimensions)),
  );
  return operandTypes[name].kind === "scalar" ? `${values[0]}` : `${showType(operand)}(${values.join()})`;
}

/** The operations of a subgraph as lines. Temporaries are t0, t1, … with their type at the operation that writes them. */
export function showSubgraph(model: Model, { operands, operations, inputIndexes, outputIndexes }: Subgraph): string[] {
  const temporaries: number[] = [];
  const show = (index: number, isWritten: boolean): string => {
    const operand = elementAt(operands, index);
    switch (operand.lifetime) {
      case OperandLifeTime.SUBGRAPH_INPUT:
        return `in${inputIndexes.indexOf(index)}`;
      case OperandLifeTime.SUBGRAPH_OUTPUT:
        return `out${outputIndexes.indexOf(index)}`;
      case OperandLifeTime.NO_VALUE:
        return `no ${showType(operand)}`;
      case OperandLifeTime.SUBGRAPH:
        return `subgraph ${operand.location.offset}`;
      case OperandLifeTime.TEMPORARY_VARIABLE: {
        if (!temporaries.includes(index)) temporaries.push(index);
        return `t${temporaries.indexOf(index)}${isWritten ? `:${showType(operand)}` : ""}`;
      }
      default:
        return showConstant(model, operand);
    }
  };
  return operations.map(({ type, inputs, outputs }) => {
    const read = inputs.map((index) => show(index, false)).join(", ");
    return `${nameOf(type)}(${read}) -> ${outputs.map((index) => show(index, true)).join(", ")}`;
  });
}

/** The name of an operation; one of the extension has the extension's name before it. */
function nameOf(type: number): string {
  const { code } = splitExtensionCode(type);
  const extended = tfliteExtension.operations.find((operation) => type > 0xffff && operation.code === code);
  return operationTypeNames.get(type) ?? `${tfliteExtension.name} ${extended?.name}`;
}

/** Imports a model, expects it to be valid by the rules of the HAL with no operand to spare, and shows its operations. */
export function importLines(model: TfliteModel, options?: ImportOptions): string[] {
  const imported = importTflite(model, options);
  expectValid(imported);
  return showSubgraph(imported.model, imported.model.main);
}

/** Expects a model that the HAL accepts, in which every operand is used. */
export function expectValid({ model, inputs, outputs, operators }: ImportedModel): void {
  expect(modelIssues(model, { extensions: [tfliteExtension] })).toEqual([]);
  for (const { operands, operations, inputIndexes, outputIndexes } of [model.main, ...model.referenced]) {
    const used = new Set([
      ...inputIndexes,
      ...outputIndexes,
      ...operations.flatMap((one) => [...one.inputs, ...one.outputs]),
    ]);
    expect(operands.flatMap((_, index) => (used.has(index) ? [] : [index]))).toEqual([]);
  }
  expect(inputs).toHaveLength(model.main.inputIndexes.length);
  expect(outputs).toHaveLength(model.main.outputIndexes.length);
  expect(operators).toHaveLength(model.main.operations.length);
}

/** Sets an element; the value is of the kind that the array holds. */
function assign(data: AnyTensorData, index: number, value: number | bigint): void {
  (data as { [index: number]: number | bigint })[index] = value;
}

/** True if elements are 64-bit integers. */
function isLong(data: AnyTensorData): boolean {
  return data instanceof BigInt64Array || data instanceof BigUint64Array;
}

/** Runs an imported model on the reference kernels. Elements in, elements out; what is not given is the real value 0. */
export async function execute(
  { model, inputs, outputs }: ImportedModel,
  given: readonly (readonly number[])[],
  backend = createReferenceBackend({ extensions: [tfliteExtension] }),
): Promise<number[][]> {
  const session = await backend.open();
  if ("unavailable" in session) throw new TypeError(session.unavailable);
  const pools = model.pools.map(({ handle, size }) => {
    if (handle?.kind !== "buffer") throw new TypeError("the pool is not a buffer");
    return new Uint8Array(handle.buffer, handle.byteOffset, size);
  });
  const executable = await session.compile(viewModel({ model, pools, extensions: session.extensions }), {
    preference: ExecutionPreference.FAST_SINGLE_ANSWER,
    priority: Priority.MEDIUM,
  });
  const bytesFor = ({ type, shape }: (typeof inputs)[number]) => new Uint8Array(byteLength(type, elementCount(shape)));
  const arguments_ = inputs.map((info, place) => {
    const bytes = bytesFor(info);
    const data: AnyTensorData = decodeTensorData(info.type, bytes, elementCount(info.shape)).slice();
    const values = given[place] ?? new Array<number>(data.length).fill(info.zeroPoint);
    for (const [index, value] of values.entries()) assign(data, index, isLong(data) ? BigInt(value) : value);
    encodeTensorData(info.type, data, bytes);
    return { bytes, dimensions: info.shape };
  });
  const results = outputs.map((info) => ({ bytes: bytesFor(info), dimensions: info.shape }));
  const { status, message } = await executable.run(arguments_, results, {
    now: () => process.hrtime.bigint(),
    loopTimeoutDuration: 2_000_000_000n,
    measure: false,
    random: () => 0.5,
  });
  expect({ status, message }).toEqual({ status: ErrorStatus.NONE, message: undefined });
  return results.map(({ bytes }, place) => {
    const { type, shape } = elementAt(outputs, place);
    return Array.from(decodeTensorData(type, bytes, elementCount(shape)), Number);
  });
}

/** The bytes of a tensor, and its dimensions. */
export interface Elements {
  readonly bytes: Uint8Array;
  readonly dimensions: readonly number[];
}

/** Runs an imported model on the reference kernels, with inputs and outputs of any shape. */
export async function executeBytes({ model, outputs }: ImportedModel, given: readonly Elements[]): Promise<Elements[]> {
  const session = await createReferenceBackend({ extensions: [tfliteExtension] }).open();
  if ("unavailable" in session) throw new TypeError(session.unavailable);
  const pools = model.pools.map(({ handle, size }) => {
    if (handle?.kind !== "buffer") throw new TypeError("the pool is not a buffer");
    return new Uint8Array(handle.buffer, handle.byteOffset, size);
  });
  const executable = await session.compile(viewModel({ model, pools, extensions: session.extensions }), {
    preference: ExecutionPreference.FAST_SINGLE_ANSWER,
    priority: Priority.MEDIUM,
  });
  const places = outputs.map(({ type, shape }) => {
    const least = byteLength(type, elementCount(shape));
    return { bytes: new Uint8Array(Math.max(least, 1 << 20)), dimensions: shape };
  });
  const result = await executable.run(given, places, {
    now: () => process.hrtime.bigint(),
    loopTimeoutDuration: 2_000_000_000n,
    measure: false,
    random: () => 0.5,
  });
  if (result.status !== ErrorStatus.NONE) throw new Error(result.message);
  return outputs.map(({ type }, place) => {
    const { dimensions } = elementAt(result.outputShapes, place);
    const { bytes } = elementAt(places, place);
    return { bytes: bytes.slice(0, byteLength(type, elementCount(dimensions))), dimensions };
  });
}

/** An ADD of tensors by name. */
export function add(inputs: readonly string[], output: string): OperatorGiven {
  return { name: "ADD", inputs, outputs: [output] };
}

/** A model of one subgraph. */
export function ofOperators(
  tensors: Readonly<Record<string, TensorGiven>>,
  operators: readonly OperatorGiven[],
  inputs: readonly string[],
  outputs: readonly string[],
): TfliteModel {
  return modelOf({ tensors, operators, inputs, outputs });
}

/** Why a model cannot be imported as one of the HAL alone. */
export function problemOf(model: TfliteModel, options = {}): string {
  try {
    importTflite(model, { extensions: false, ...options });
  } catch (error) {
    expect(error).toBeInstanceOf(TfliteError);
    return String(error);
  }
  return "no error";
}
