/**
 * A model under construction: its operands with their values, its operations, inputs and outputs.
 */
import { type ExtensionOperandType, elementAt, extensionCode, splitExtensionCode } from "@nnhal/operations";
import {
  type Model as HalModel,
  type Operand,
  OperandLifeTime,
  type Operation,
  OperationType,
  type OperationTypeName,
  type SymmPerChannelQuantParams,
} from "@nnhal/types";
import { isExtensionOperationType } from "@nnhal/utils";
import { expectRight } from "./checks.ts";
import { createConstants } from "./constants.ts";
import {
  channelQuantOf,
  type DraftOperand,
  draftOperand,
  encodeParams,
  expectLength,
  extensionDataOf,
  nowhere,
  type OperandDescription,
} from "./draft-operand.ts";
import { type ModelExtensions, takePrefix, usedExtensions } from "./extensions.ts";
import { describe, expectGiven, expectKind, expectList } from "./given.ts";
import type { Memory } from "./memory.ts";
import { withReferenced } from "./merge-models.ts";
import { expect, NeuralNetworksError, ResultCode } from "./result-code.ts";
import { sortOperations } from "./sort.ts";
import { bytesOf, type OperandValue } from "./value.ts";

/** A model that another one can refer to. */
interface ReferencedModel {
  readonly isFinished: boolean;
  readonly hal: HalModel;
}

/** A type or an operation of an extension, as a caller gives it: its code within the extension is not checked yet. */
export interface ExtensionType {
  readonly extension: string;
  readonly code: unknown;
}

/** The model that a draft describes. */
interface Drafted {
  readonly model: HalModel;
  /** By operation of the model, the order in which it was added; undefined if the order is the same. */
  readonly order: readonly number[] | undefined;
}

/**
 * See the file's head. Methods throw a NeuralNetworksError: BAD_DATA for an argument that breaks a rule, UNEXPECTED_NULL for one that is
 * missing. `what`: the call, with which messages begin.
 */
export class DraftModel {
  readonly #extensions: ModelExtensions;
  readonly #operands: DraftOperand[] = [];
  readonly #operations: Operation[] = [];
  readonly #constants = createConstants();
  readonly #referenced: ReferencedModel[] = [];
  #inputs: readonly number[] = [];
  #outputs: readonly number[] = [];

  constructor(extensions: ModelExtensions) {
    this.#extensions = extensions;
  }

  /** Returns the index of the operand. */
  addOperand(description: OperandDescription, what: string): number {
    return this.#operands.push(draftOperand(description, this.#extensions, what)) - 1;
  }

  setValue(index: number, value: OperandValue | null, what: string): void {
    const operand = operandAt(this.#operands, index, what);
    if (value === null) {
      operand.lifetime = OperandLifeTime.NO_VALUE;
      operand.location = nowhere;
      return;
    }
    expectGiven(value, what, "value");
    const bytes = bytesOf(value, operand.facts.name, what);
    expectLength(operand, bytes.length, what);
    Object.assign(operand, this.#constants.add(bytes));
  }

  setValueFromMemory(index: number, memory: Memory, offset: number, length: number, what: string): void {
    const operand = operandAt(this.#operands, index, what);
    expectKind(memory, "Memory", what, "memory");
    expectLength(operand, length, what);
    const content = memory.content(what);
    const place = content.locate(undefined, { offset, length }, []);
    if (typeof place === "string") throw new NeuralNetworksError(ResultCode.BAD_DATA, `${what}: ${place}`);
    const { plain } = content;
    expect(plain !== undefined, ResultCode.BAD_DATA, () => `${what}: the memory belongs to a device`);
    memory.keep();
    Object.assign(operand, this.#constants.refer(plain, place.offset, place.length));
  }

  setValueFromModel(index: number, model: ReferencedModel, what: string): void {
    const operand = operandAt(this.#operands, index, what);
    expectKind(model, "Model", what, "model");
    const { facts } = operand;
    expect(facts.kind === "subgraph", ResultCode.BAD_DATA, () => `${what}: the operand is a ${facts.name}`);
    expect(model.isFinished, ResultCode.BAD_STATE, () => `${what}: the model given is not finished`);
    operand.lifetime = OperandLifeTime.SUBGRAPH;
    operand.location = { poolIndex: 0, offset: this.#referenced.push(model) - 1, length: 0 };
  }

  setChannelQuant(index: number, channelQuant: SymmPerChannelQuantParams, what: string): void {
    const operand = operandAt(this.#operands, index, what);
    operand.extraParams = channelQuantOf(operand, channelQuant, what);
  }

  setExtensionData(
    index: number,
    given: ExtensionOperandType | ArrayBufferView | null,
    params: unknown,
    what: string,
  ): void {
    const operand = operandAt(this.#operands, index, what);
    const data = isDescription(given)
      ? encodeParams(operand, given, this.extensionCodeOf(given, what), params, what)
      : given;
    operand.extraParams = extensionDataOf(operand, data, what);
  }

  /** The code of a type or an operation of an extension in this model. */
  extensionCodeOf({ extension, code }: ExtensionType, what: string): number {
    expectGiven(extension, what, "extensionName");
    const isCode = typeof code === "number" && code >>> 0 === code && code <= 0xffff;
    expectRight(isCode, what, "a code within an extension, an integer within [0, 65535]", code);
    return extensionCode(takePrefix(this.#extensions, extension, what), code);
  }

  addOperation(
    type: OperationTypeName | number,
    inputs: readonly number[],
    outputs: readonly number[],
    what: string,
  ): void {
    expectList(inputs, what, "inputs");
    expectList(outputs, what, "outputs");
    const code = typeof type === "number" ? type : OperationType[type];
    const isOne = typeof type === "number" ? isExtensionOperation(type, this.#extensions) : code !== undefined;
    expect(isOne, ResultCode.BAD_DATA, () => `${what}: expected an operation, got ${describe(type)}`);
    for (const index of [...inputs, ...outputs]) operandAt(this.#operands, index, what);
    this.#operations.push({ type: code, inputs: [...inputs], outputs: [...outputs] });
  }

  identifyInputsAndOutputs(inputs: readonly number[], outputs: readonly number[], what: string): void {
    expectList(inputs, what, "inputs");
    expectList(outputs, what, "outputs");
    const isFirst = this.#inputs.length + this.#outputs.length === 0;
    expect(isFirst, ResultCode.BAD_STATE, () => `${what}: inputs and outputs were identified before`);
    const seen = new Set<number>();
    for (const index of [...inputs, ...outputs]) {
      const isConstant = operandAt(this.#operands, index, what).lifetime !== OperandLifeTime.TEMPORARY_VARIABLE;
      expect(!seen.has(index), ResultCode.BAD_DATA, () => `${what}: operand ${index} is listed twice`);
      expect(!isConstant, ResultCode.BAD_DATA, () => `${what}: operand ${index} is a constant`);
      seen.add(index);
    }
    for (const index of inputs) operandAt(this.#operands, index, what).lifetime = OperandLifeTime.SUBGRAPH_INPUT;
    for (const index of outputs) operandAt(this.#operands, index, what).lifetime = OperandLifeTime.SUBGRAPH_OUTPUT;
    this.#inputs = [...inputs];
    this.#outputs = [...outputs];
  }

  /** Sorts the operations. The model is not validated. Throws BAD_DATA if operations wait for each other. */
  build(relaxComputationFloat32toFloat16: boolean, what: string): Drafted {
    const operations = sortOperations(this.#operations);
    const isSorted = operations !== undefined;
    expect(isSorted, ResultCode.BAD_DATA, () => `${what}: operations wait for each other in a circle`);
    const operands = withConsumers(this.#operands, operations);
    const own: HalModel = {
      main: { operands, operations, inputIndexes: this.#inputs, outputIndexes: this.#outputs },
      referenced: [],
      operandValues: this.#constants.operandValues(),
      pools: this.#constants.pools,
      relaxComputationFloat32toFloat16,
      extensionNameToPrefix: usedExtensions([...this.#operands, ...this.#operations], this.#extensions),
    };
    const referenced = this.#referenced.map(({ hal }) => hal);
    const model = withReferenced(own, referenced, (name) => takePrefix(this.#extensions, name, what));
    return { model, order: orderOf(operations, this.#operations) };
  }
}

function isExtensionOperation(type: number, { nameOf }: ModelExtensions): boolean {
  return isExtensionOperationType(type) && nameOf(splitExtensionCode(type).prefix) !== undefined;
}

function operandAt(operands: readonly DraftOperand[], index: number, what: string): DraftOperand {
  const operand = operands[index];
  expect(
    operand !== undefined,
    ResultCode.BAD_DATA,
    () => `${what}: operand ${index} does not exist, there are ${operands.length}`,
  );
  return operand;
}

/** Returns whether an argument describes a type, rather than being data. */
function isDescription(given: ExtensionOperandType | ArrayBufferView | null): given is ExtensionOperandType {
  return typeof given === "object" && given !== null && "extension" in given;
}

/** The operands in the HAL's form. */
function withConsumers(operands: readonly DraftOperand[], operations: readonly Operation[]): Operand[] {
  const consumers = new Array<number>(operands.length).fill(0);
  for (const { inputs } of operations) for (const index of inputs) consumers[index] = elementAt(consumers, index) + 1;
  return operands.map(({ facts: _, ...operand }, index) => ({
    ...operand,
    numberOfConsumers: elementAt(consumers, index),
  }));
}

/** See `Drafted.order`. */
function orderOf(sorted: readonly Operation[], added: readonly Operation[]): readonly number[] | undefined {
  if (sorted === added) return undefined;
  const places = new Map(added.map((operation, place) => [operation, place]));
  return sorted.map((operation, place) => places.get(operation) ?? place);
}
