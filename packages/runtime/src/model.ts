/**
 * Model: a graph of operations under construction, then finished and immutable (NNAPI: ANeuralNetworksModel).
 */
import {
  type AnyTensorData,
  type Operation as DefinedOperation,
  type ExtensionDefinition,
  type ExtensionOperandType,
  elementAt,
  type TypedExtension,
} from "@nnhal/operations";
import type { Device, Model as HalModel, OperationTypeName, SymmPerChannelQuantParams } from "@nnhal/types";
import { inSection, type Logger, type Tracer } from "@nnhal/utils";
import { DraftModel, type ExtensionType } from "./draft-model.ts";
import type { OperandDescription } from "./draft-operand.ts";
import { type ModelExtensions, modelExtensions } from "./extensions.ts";
import { type CheckedModelOptions, checkModelOptions, FinishedModel, type ModelOptions } from "./finished-model.ts";
import { expectGiven } from "./given.ts";
import type { Memory } from "./memory.ts";
import type { OperandFacts } from "./operand-facts.ts";
import { expect, ResultCode } from "./result-code.ts";
import type { OperandValue } from "./value.ts";

/**
 * A model. Operands and operations are added, inputs and outputs identified, then `finish` makes it immutable.
 *
 * Every method throws a NeuralNetworksError: BAD_STATE after `finish`, whether it succeeded or not, BAD_DATA for an argument
 * that breaks a rule, UNEXPECTED_NULL for one that is missing. A call that throws leaves the model as it was.
 */
export class Model {
  readonly #draft: DraftModel;
  readonly #options: CheckedModelOptions;
  readonly #extensions: ModelExtensions;
  #relaxed = false;
  #state: "open" | "finished" | "invalid" = "open";
  #finished: FinishedModel | undefined;
  /** By operation of the finished model, the order in which it was added; undefined if the order is the same. */
  #order: readonly number[] | undefined;

  constructor(options: ModelOptions = {}) {
    this.#options = checkModelOptions(options);
    this.#extensions = modelExtensions(this.#options.extensions);
    this.#draft = new DraftModel(this.#extensions);
  }

  /**
   * Makes a finished model of one in the HAL's form, such as an importer returns. It is copied, except for the bytes of its
   * constants, which must not change while the model lives. Throws BAD_DATA if it is not valid.
   */
  static from(model: HalModel, options: ModelOptions = {}): Model {
    const finished = FinishedModel.from(model, options, "Model.from");
    const result = new Model(options);
    result.#finished = finished;
    result.#state = "finished";
    return result;
  }

  /** For the compilations of this package. */
  get log(): Logger {
    return this.#options.log;
  }

  get trace(): Tracer {
    return this.#options.trace;
  }

  /** The model in the HAL's form; it cannot be changed. Throws BAD_STATE before `finish`. */
  get hal(): HalModel {
    return this.#expectFinished().hal;
  }

  get isFinished(): boolean {
    return this.#state === "finished";
  }

  /** The code of an extension's operand type in this model, by the type or by its code within the extension. */
  getExtensionOperandType(type: ExtensionOperandType): number;
  getExtensionOperandType(extensionName: string, operandCodeWithinExtension: number): number;
  getExtensionOperandType(given: ExtensionOperandType | string, code?: number): number {
    const what = "getExtensionOperandType";
    expectGiven(given, what, "type");
    const type = typeof given === "object" ? given : { extension: given, code };
    return this.#open(what).extensionCodeOf(type, what);
  }

  /**
   * The code of an extension's operation in this model, by its name in the extension's definition or by its code within the extension.
   * Throws BAD_DATA if the definition has no such operation.
   */
  getExtensionOperationType<Operations extends readonly DefinedOperation[]>(
    extension: TypedExtension<string, Operations>,
    operationName: Operations[number]["name"],
  ): number;
  getExtensionOperationType(extensionName: string, operationCodeWithinExtension: number): number;
  getExtensionOperationType(given: ExtensionDefinition | string, operation: string | number): number {
    const what = "getExtensionOperationType";
    return this.#open(what).extensionCodeOf(operationOf(given, operation, what), what);
  }

  /** Adds an operand and returns its index. */
  addOperand(description: OperandDescription): number {
    return this.#open("addOperand").addOperand(description, "addOperand");
  }

  /** Makes an operand a constant, or with null an omitted one. Arrays over 128 bytes are not copied and must not change. */
  setOperandValue(index: number, value: OperandValue | null): void {
    const what = `setOperandValue(${index})`;
    this.#open(what).setValue(index, value, what);
  }

  /** Makes an operand a constant that lies in a memory, whose content must not change while the model lives. */
  setOperandValueFromMemory(index: number, memory: Memory, offset: number, length: number): void {
    const what = `setOperandValueFromMemory(${index})`;
    this.#open(what).setValueFromMemory(index, memory, offset, length, what);
  }

  /** Makes an operand of type SUBGRAPH stand for another finished model. */
  setOperandValueFromModel(index: number, model: Model): void {
    const what = `setOperandValueFromModel(${index})`;
    this.#open(what).setValueFromModel(index, model, what);
  }

  /** Sets the scales of a TENSOR_QUANT8_SYMM_PER_CHANNEL operand: one > 0 for each index along `channelDim`. */
  setOperandSymmPerChannelQuantParams(index: number, channelQuant: SymmPerChannelQuantParams): void {
    const what = `setOperandSymmPerChannelQuantParams(${index})`;
    this.#open(what).setChannelQuant(index, channelQuant, what);
  }

  /**
   * Sets the extension data of an operand of an extension's type: parameters that the codec of the type encodes, or bytes, which are
   * copied. null: it has none.
   */
  setOperandExtensionData<Params>(
    index: number,
    type: ExtensionOperandType<AnyTensorData, Params>,
    params: NoInfer<Params>,
  ): void;
  setOperandExtensionData(index: number, data: ArrayBufferView | null): void;
  setOperandExtensionData(index: number, given: ExtensionOperandType | ArrayBufferView | null, params?: unknown): void {
    const what = `setOperandExtensionData(${index})`;
    this.#open(what).setExtensionData(index, given, params, what);
  }

  /** Adds an operation that reads and writes the operands of some indexes, in the order of its documentation. */
  addOperation(type: OperationTypeName | number, inputs: readonly number[], outputs: readonly number[]): void {
    const what = `addOperation(${type})`;
    this.#open(what).addOperation(type, inputs, outputs, what);
  }

  /** Says which operands are the model's inputs and outputs. */
  identifyInputsAndOutputs(inputs: readonly number[], outputs: readonly number[]): void {
    const what = "identifyInputsAndOutputs";
    this.#open(what).identifyInputsAndOutputs(inputs, outputs, what);
  }

  /** Lets float32 operations compute with the range and precision of float16. */
  relaxComputationFloat32toFloat16(allow: boolean): void {
    this.#open("relaxComputationFloat32toFloat16");
    this.#relaxed = allow;
  }

  /** Sorts and validates the model and makes it immutable. Throws BAD_DATA with every rule that is broken. */
  finish(): void {
    const draft = this.#open("finish");
    inSection(this.trace, "LR", "PP", "Model.finish", () => {
      this.#state = "invalid";
      const { model, order } = draft.build(this.#relaxed, "finish");
      this.#finished = new FinishedModel(model, this.#options);
      this.#order = order;
      this.#state = "finished";
    });
  }

  /**
   * Which operations at least one of some devices takes, in the order in which they were added. `explain` of the command
   * line tells why not. Rejects with BAD_STATE before `finish`, BAD_DATA for no devices and for one that is listed twice.
   */
  async getSupportedOperationsForDevices(devices: readonly Device[]): Promise<boolean[]> {
    return inOrderOf(this.#order, await this.#expectFinished().getSupportedOperationsForDevices(devices));
  }

  /** For this package: the facts of an operand type; undefined for an unknown one. */
  factsOf(type: number): OperandFacts | undefined {
    return (this.#finished ?? this.#extensions).factsOf(type);
  }

  #expectFinished(): FinishedModel {
    expect(this.#finished !== undefined, ResultCode.BAD_STATE, () => describeUnfinished(this.#state === "open"));
    return this.#finished;
  }

  /** The draft. Throws BAD_STATE after `finish`. */
  #open(what: string): DraftModel {
    expect(this.#state === "open", ResultCode.BAD_STATE, () => `${what}: the model is ${this.#state}`);
    return this.#draft;
  }
}

function describeUnfinished(isOpen: boolean): string {
  return isOpen ? "the model is not finished" : "the model is invalid: its finish failed";
}

/** An operation of an extension, by its name in the extension's definition or by its code. */
function operationOf(given: ExtensionDefinition | string, operation: string | number, what: string): ExtensionType {
  expectGiven(given, what, "extension");
  if (typeof given !== "object") return { extension: given, code: operation };
  const found = given.operations.find(({ name }) => name === operation);
  expect(found !== undefined, ResultCode.BAD_DATA, () => `${what}: ${given.name} has no operation ${operation}`);
  return { extension: given.name, code: found.code };
}

/** Values of the operations in the order in which these were added: see `Drafted.order`. */
function inOrderOf(order: readonly number[] | undefined, values: boolean[]): boolean[] {
  if (order === undefined) return values;
  const added = new Array<boolean>(values.length);
  for (const [place, original] of order.entries()) added[original] = elementAt(values, place);
  return added;
}
