/**
 * Model: a graph of operations under construction, then finished and immutable (NNAPI: ANeuralNetworksModel).
 */
import {
  type AnyTensorData,
  type Operation as DefinedOperation,
  type ExtensionDefinition,
  type ExtensionOperandType,
  elementAt,
  type OptionNames,
  type TypedExtension,
} from "@nnhal/operations";
import {
  type Device,
  type Extension,
  type Model as HalModel,
  OperandType,
  OperationType,
  type OperationTypeName,
  type SymmPerChannelQuantParams,
} from "@nnhal/types";
import { defaultLogger, inSection, type Logger, noTracer, type Tracer } from "@nnhal/utils";
import { extensionIssues, sealModel } from "@nnhal/validation";
import { logGraph } from "#log-graph";
import { DraftModel, type ExtensionType } from "./draft-model.ts";
import type { OperandDescription } from "./draft-operand.ts";
import { type ModelExtensions, modelExtensions } from "./extensions.ts";
import { describe, expectGiven, expectKind, expectList, optionsOf } from "./given.ts";
import { devicesGiven } from "./given-devices.ts";
import type { Memory } from "./memory.ts";
import type { OperandFacts } from "./operand-facts.ts";
import { expect, NeuralNetworksError, ResultCode } from "./result-code.ts";
import { findSupported } from "./supported-operations.ts";
import type { OperandValue } from "./value.ts";

/** The extensions of a model, and the observers of the model, its compilations and executions. */
export interface ModelOptions {
  /** The extensions whose operand types the model uses, such as those of `registerDevices`. Default: none. */
  readonly extensions?: readonly Extension[] | undefined;
  /** Receives log messages (tags MODEL, COMPILATION and EXECUTION). Default: the console, for the tags that NNHAL_VLOG names. */
  readonly log?: Logger | undefined;
  /** Default: off. */
  readonly trace?: Tracer | undefined;
}

const modelOptions: OptionNames<ModelOptions> = {
  extensions: true,
  log: true,
  trace: true,
};

/**
 * A model. Operands and operations are added, inputs and outputs identified, then `finish` makes it immutable.
 *
 * Every method throws a NeuralNetworksError: BAD_STATE after `finish`, whether it succeeded or not, BAD_DATA for an argument
 * that breaks a rule, UNEXPECTED_NULL for one that is missing. A call that throws leaves the model as it was.
 */
export class Model {
  readonly #draft: DraftModel;
  readonly #described: readonly Extension[];
  #extensions: ModelExtensions;
  #relaxed = false;
  #state: "open" | "finished" | "invalid" = "open";
  #hal: HalModel | undefined;
  /** By operation of the finished model, the order in which it was added; undefined if the order is the same. */
  #order: readonly number[] | undefined;
  /** For the compilations of this package. */
  readonly log: Logger;
  readonly trace: Tracer;

  constructor(options: ModelOptions = {}) {
    const { extensions, log, trace } = takeOptions(options, "Model");
    this.#described = extensions;
    this.#extensions = modelExtensions(extensions);
    this.#draft = new DraftModel(this.#extensions);
    this.log = log;
    this.trace = trace;
  }

  /**
   * Makes a finished model of one in the HAL's form, such as an importer returns. It is copied, except for the bytes of its
   * constants, which must not change while the model lives. Throws BAD_DATA if it is not valid.
   */
  static from(model: HalModel, options: ModelOptions = {}): Model {
    const what = "Model.from";
    expectHal(model, what);
    const result = new Model(options);
    inSection(result.trace, "LR", "PP", what, () => result.#finishAs(model));
    return result;
  }

  /** The model in the HAL's form; it cannot be changed. Throws BAD_STATE before `finish`. */
  get hal(): HalModel {
    expect(this.#hal !== undefined, ResultCode.BAD_STATE, () => describeUnfinished(this.#state === "open"));
    return this.#hal;
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
      this.#order = order;
      this.#finishAs(model);
    });
  }

  /**
   * Which operations at least one of some devices takes, in the order in which they were added. `explain` of the command
   * line tells why not. Rejects with BAD_STATE before `finish`, BAD_DATA for no devices and for one that is listed twice.
   */
  async getSupportedOperationsForDevices(devices: readonly Device[]): Promise<boolean[]> {
    const what = "getSupportedOperationsForDevices";
    const { devices: given } = devicesGiven(devices, undefined, what);
    expect(given.length > 0, ResultCode.BAD_DATA, () => `${what}: there are no devices`);
    return inOrderOf(this.#order, await findSupported(this.hal, given, this.log));
  }

  /** For this package: the facts of an operand type; undefined for an unknown one. */
  factsOf(type: number): OperandFacts | undefined {
    return this.#extensions.factsOf(type);
  }

  #finishAs(draft: HalModel): void {
    this.#state = "invalid";
    this.#hal = seal(draft);
    this.#state = "finished";
    this.#extensions = modelExtensions(this.#described, this.#hal.extensionNameToPrefix);
    logFinished(this.#hal, this.log);
  }

  /** The draft. Throws BAD_STATE after `finish`. */
  #open(what: string): DraftModel {
    expect(this.#state === "open", ResultCode.BAD_STATE, () => `${what}: the model is ${this.#state}`);
    return this.#draft;
  }
}

function takeOptions(options: ModelOptions, what: string) {
  const { extensions = [], log = defaultLogger, trace = noTracer } = optionsOf(options, what, modelOptions);
  expectList(extensions, what, "extensions");
  const [issue] = extensionIssues(extensions);
  expect(issue === undefined, ResultCode.BAD_DATA, () => `${what}: ${issue?.path}: ${issue?.message}`);
  expectKind(log, "Logger", what, "log");
  expectKind(trace, "Tracer", what, "trace");
  log.initVLogMask();
  return { extensions, log, trace };
}

function describeUnfinished(isOpen: boolean): string {
  return isOpen ? "the model is not finished" : "the model is invalid: its finish failed";
}

function expectHal(model: HalModel, what: string): void {
  expectGiven(model, what, "model");
  const isHal = typeof model === "object" && "main" in model;
  expect(isHal, ResultCode.BAD_DATA, () => `${what}: model is ${describe(model)}, not a model in the HAL's form`);
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

function logFinished(model: HalModel, log: Logger): void {
  const oem = oemNames(model);
  if (oem.length > 0) log.warning(`the model uses ${oem.join(" and ")}, deprecated since HAL 1.2: use an extension`);
  if (log.VLOG_IS_ON("MODEL")) logGraph("a finished model", model, log, "MODEL");
}

/** The OEM types and the OEM operation that a model uses. */
function oemNames({ main, referenced }: HalModel): string[] {
  const subgraphs = [main, ...referenced];
  const uses = (type: number) => subgraphs.some(({ operands }) => operands.some((operand) => operand.type === type));
  const { OEM, TENSOR_OEM_BYTE } = OperandType;
  const { OEM_OPERATION } = OperationType;
  return [
    ...(uses(OEM) ? ["OEM"] : []),
    ...(uses(TENSOR_OEM_BYTE) ? ["TENSOR_OEM_BYTE"] : []),
    ...(subgraphs.some(({ operations }) => operations.some(({ type }) => type === OEM_OPERATION))
      ? ["OEM_OPERATION"]
      : []),
  ];
}

/** The copy of a model that devices get. It is validated here, and not again by devices in this process. */
function seal(model: HalModel): HalModel {
  const result = sealModel(model);
  if ("model" in result) return result.model;
  const lines = result.issues.map(({ path, message }) => `${path}: ${message}`);
  throw new NeuralNetworksError(ResultCode.BAD_DATA, `the model is not valid: ${lines.join("; ")}`, result.issues);
}
