/**
 * Model: a graph of operations under construction, then finished and immutable (NNAPI: ANeuralNetworksModel).
 */
import {
  type AnyTensorData,
  type Operation as DefinedOperation,
  type ExtensionDefinition,
  type ExtensionOperandType,
  elementAt,
  extensionCode,
  type OptionNames,
  splitExtensionCode,
  type TypedExtension,
  typeText,
} from "@nnhal/operations";
import {
  type Device,
  type Extension,
  type Model as HalModel,
  type Operand,
  OperandLifeTime,
  OperandType,
  type Operation,
  OperationType,
  type OperationTypeName,
  type SymmPerChannelQuantParams,
} from "@nnhal/types";
import { defaultLogger, inSection, isExtensionOperationType, type Logger, noTracer, type Tracer } from "@nnhal/utils";
import { extensionIssues, sealModel } from "@nnhal/validation";
import { logGraph } from "#log-graph";
import { expectRight } from "./checks.ts";
import { createConstants } from "./constants.ts";
import {
  channelQuantOf,
  type DraftOperand,
  draftOperand,
  expectLength,
  extensionDataOf,
  nowhere,
  type OperandDescription,
} from "./draft-operand.ts";
import { type ModelExtensions, modelExtensions, usedExtensions } from "./extensions.ts";
import { describe, expectGiven, expectKind, expectList, optionsOf } from "./given.ts";
import { devicesGiven } from "./given-devices.ts";
import type { Memory } from "./memory.ts";
import { withReferenced } from "./merge-models.ts";
import type { OperandFacts } from "./operand-facts.ts";
import { expect, NeuralNetworksError, ResultCode } from "./result-code.ts";
import { sortOperations } from "./sort.ts";
import { findSupported } from "./supported-operations.ts";
import { bytesOf, type OperandValue } from "./value.ts";

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
  readonly #operands: DraftOperand[] = [];
  readonly #operations: Operation[] = [];
  readonly #constants = createConstants();
  readonly #referenced: Model[] = [];
  readonly #described: readonly Extension[];
  #extensions: ModelExtensions;
  #inputs: readonly number[] = [];
  #outputs: readonly number[] = [];
  #relaxed = false;
  #state: "open" | "finished" | "invalid" = "open";
  #hal: HalModel | undefined;
  /** By operation of the finished model, the order in which it was added; undefined if the order is the same. */
  #order: readonly number[] | undefined;
  /** For the compilations of this package. */
  readonly log: Logger;
  readonly trace: Tracer;

  constructor(options: ModelOptions = {}) {
    const what = "Model";
    const { extensions = [], log = defaultLogger, trace = noTracer } = optionsOf(options, what, modelOptions);
    expectList(extensions, what, "extensions");
    const [issue] = extensionIssues(extensions);
    expect(issue === undefined, ResultCode.BAD_DATA, () => `${what}: ${issue?.path}: ${issue?.message}`);
    expectKind(log, "Logger", what, "log");
    expectKind(trace, "Tracer", what, "trace");
    log.initVLogMask();
    this.#described = extensions;
    this.#extensions = modelExtensions(extensions);
    this.log = log;
    this.trace = trace;
  }

  /**
   * Makes a finished model of one in the HAL's form, such as an importer returns. It is copied, except for the bytes of its
   * constants, which must not change while the model lives. Throws BAD_DATA if it is not valid.
   */
  static from(model: HalModel, options: ModelOptions = {}): Model {
    const what = "Model.from";
    expectGiven(model, what, "model");
    const isHal = typeof model === "object" && "main" in model;
    expect(isHal, ResultCode.BAD_DATA, () => `${what}: model is ${describe(model)}, not a model in the HAL's form`);
    const result = new Model(options);
    inSection(result.trace, "LR", "PP", what, () => result.#finishAs(model));
    return result;
  }

  /** The model in the HAL's form; it cannot be changed. Throws BAD_STATE before `finish`. */
  get hal(): HalModel {
    expect(this.#hal !== undefined, ResultCode.BAD_STATE, () =>
      this.#state === "open" ? "the model is not finished" : "the model is invalid: its finish failed",
    );
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
    if (typeof given !== "object") return this.#extensionType(what, given, code);
    return this.#extensionType(what, given.extension, given.code);
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
    expectGiven(given, what, "extension");
    if (typeof given !== "object") return this.#extensionType(what, given, operation);
    const found = given.operations.find(({ name }) => name === operation);
    expect(found !== undefined, ResultCode.BAD_DATA, () => `${what}: ${given.name} has no operation ${operation}`);
    return this.#extensionType(what, given.name, found.code);
  }

  /** Adds an operand and returns its index. */
  addOperand(description: OperandDescription): number {
    this.#expectOpen("addOperand");
    return this.#operands.push(draftOperand(description, this.#extensions, "addOperand")) - 1;
  }

  /** Makes an operand a constant, or with null an omitted one. Arrays over 128 bytes are not copied and must not change. */
  setOperandValue(index: number, value: OperandValue | null): void {
    const what = `setOperandValue(${index})`;
    const operand = this.#operand(index, what);
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

  /** Makes an operand a constant that lies in a memory, whose content must not change while the model lives. */
  setOperandValueFromMemory(index: number, memory: Memory, offset: number, length: number): void {
    const what = `setOperandValueFromMemory(${index})`;
    const operand = this.#operand(index, what);
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

  /** Makes an operand of type SUBGRAPH stand for another finished model. */
  setOperandValueFromModel(index: number, model: Model): void {
    const what = `setOperandValueFromModel(${index})`;
    const operand = this.#operand(index, what);
    expectKind(model, "Model", what, "model");
    const { facts } = operand;
    expect(facts.kind === "subgraph", ResultCode.BAD_DATA, () => `${what}: the operand is a ${facts.name}`);
    expect(model.isFinished, ResultCode.BAD_STATE, () => `${what}: the model given is not finished`);
    operand.lifetime = OperandLifeTime.SUBGRAPH;
    operand.location = { poolIndex: 0, offset: this.#referenced.push(model) - 1, length: 0 };
  }

  /** Sets the scales of a TENSOR_QUANT8_SYMM_PER_CHANNEL operand: one > 0 for each index along `channelDim`. */
  setOperandSymmPerChannelQuantParams(index: number, channelQuant: SymmPerChannelQuantParams): void {
    const what = `setOperandSymmPerChannelQuantParams(${index})`;
    const operand = this.#operand(index, what);
    operand.extraParams = channelQuantOf(operand, channelQuant, what);
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
    const operand = this.#operand(index, what);
    const data = isDescription(given) ? this.#encoded(operand, given, params, what) : given;
    operand.extraParams = extensionDataOf(operand, data, what);
  }

  /** Adds an operation that reads and writes the operands of some indexes, in the order of its documentation. */
  addOperation(type: OperationTypeName | number, inputs: readonly number[], outputs: readonly number[]): void {
    const what = `addOperation(${type})`;
    this.#expectOpen(what);
    expectList(inputs, what, "inputs");
    expectList(outputs, what, "outputs");
    const code = typeof type === "number" ? type : OperationType[type];
    const isOne = typeof type === "number" ? this.#isExtensionOperation(type) : code !== undefined;
    expect(isOne, ResultCode.BAD_DATA, () => `${what}: there is no such operation`);
    for (const index of [...inputs, ...outputs]) this.#operand(index, what);
    this.#operations.push({ type: code, inputs: [...inputs], outputs: [...outputs] });
  }

  /** Says which operands are the model's inputs and outputs. */
  identifyInputsAndOutputs(inputs: readonly number[], outputs: readonly number[]): void {
    const what = "identifyInputsAndOutputs";
    this.#expectOpen(what);
    expectList(inputs, what, "inputs");
    expectList(outputs, what, "outputs");
    expect(
      this.#inputs.length + this.#outputs.length === 0,
      ResultCode.BAD_STATE,
      () => `${what}: inputs and outputs were identified before`,
    );
    const seen = new Set<number>();
    for (const index of [...inputs, ...outputs]) {
      const { lifetime } = this.#operand(index, what);
      expect(!seen.has(index), ResultCode.BAD_DATA, () => `${what}: operand ${index} is listed twice`);
      expect(
        lifetime === OperandLifeTime.TEMPORARY_VARIABLE,
        ResultCode.BAD_DATA,
        () => `${what}: operand ${index} is a constant`,
      );
      seen.add(index);
    }
    for (const index of inputs) this.#operand(index, what).lifetime = OperandLifeTime.SUBGRAPH_INPUT;
    for (const index of outputs) this.#operand(index, what).lifetime = OperandLifeTime.SUBGRAPH_OUTPUT;
    this.#inputs = [...inputs];
    this.#outputs = [...outputs];
  }

  /** Lets float32 operations compute with the range and precision of float16. */
  relaxComputationFloat32toFloat16(allow: boolean): void {
    this.#expectOpen("relaxComputationFloat32toFloat16");
    this.#relaxed = allow;
  }

  /** Sorts and validates the model and makes it immutable. Throws BAD_DATA with every rule that is broken. */
  finish(): void {
    this.#expectOpen("finish");
    inSection(this.trace, "LR", "PP", "Model.finish", () => {
      this.#state = "invalid";
      const operations = sortOperations(this.#operations);
      expect(operations !== undefined, ResultCode.BAD_DATA, () => "finish: operations wait for each other in a circle");
      if (operations !== this.#operations) {
        const added = new Map(this.#operations.map((operation, place) => [operation, place]));
        this.#order = operations.map((operation, place) => added.get(operation) ?? place);
      }
      this.#finishAs(this.#toHal(operations));
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
    const supported = await findSupported(this.hal, given, this.log);
    if (this.#order === undefined) return supported;
    const added = new Array<boolean>(supported.length);
    for (const [place, original] of this.#order.entries()) added[original] = elementAt(supported, place);
    return added;
  }

  /** For this package: the facts of an operand type; undefined for an unknown one. */
  factsOf(type: number): OperandFacts | undefined {
    return this.#extensions.factsOf(type);
  }

  #finishAs(draft: HalModel): void {
    this.#state = "invalid";
    const model = seal(draft);
    this.#hal = model;
    this.#state = "finished";
    this.#extensions = modelExtensions(this.#described, model.extensionNameToPrefix);
    const oem = oemNames(model);
    if (oem.length > 0)
      this.log.warning(`the model uses ${oem.join(" and ")}, deprecated since HAL 1.2: use an extension`);
    if (this.log.VLOG_IS_ON("MODEL")) logGraph("a finished model", model, this.log, "MODEL");
  }

  #toHal(operations: readonly Operation[]): HalModel {
    const consumers = new Array<number>(this.#operands.length).fill(0);
    for (const { inputs } of operations) for (const index of inputs) consumers[index] = elementAt(consumers, index) + 1;
    const operands = this.#operands.map(
      ({ facts: _, ...operand }, index): Operand => ({ ...operand, numberOfConsumers: elementAt(consumers, index) }),
    );
    const own: HalModel = {
      main: { operands, operations, inputIndexes: this.#inputs, outputIndexes: this.#outputs },
      referenced: [],
      operandValues: this.#constants.operandValues(),
      pools: this.#constants.pools,
      relaxComputationFloat32toFloat16: this.#relaxed,
      extensionNameToPrefix: usedExtensions([...this.#operands, ...this.#operations], this.#extensions),
    };
    return withReferenced(
      own,
      this.#referenced.map((model) => model.hal),
      (name) => this.#prefixOf(name, "finish"),
    );
  }

  #encoded({ type }: DraftOperand, given: ExtensionOperandType, params: unknown, what: string): Uint8Array {
    const code = this.#extensionType(what, given.extension, given.code);
    expect(type === code, ResultCode.BAD_DATA, () => `${what}: the operand is not a ${typeText(given)}`);
    const { params: codec } = given;
    expect(codec !== undefined, ResultCode.BAD_DATA, () => `${what}: a ${typeText(given)} has no extension data`);
    try {
      return codec.encode(params);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new NeuralNetworksError(ResultCode.BAD_DATA, `${what}: a ${typeText(given)}: ${reason}`);
    }
  }

  #isExtensionOperation(type: number): boolean {
    return isExtensionOperationType(type) && this.#extensions.nameOf(splitExtensionCode(type).prefix) !== undefined;
  }

  #extensionType(what: string, name: string, type: unknown): number {
    this.#expectOpen(what);
    expectGiven(name, what, "extensionName");
    const isCode = typeof type === "number" && type >>> 0 === type && type <= 0xffff;
    expectRight(isCode, what, "a code within an extension, an integer within [0, 65535]", type);
    return extensionCode(this.#prefixOf(name, what), type);
  }

  #prefixOf(name: string, what: string): number {
    const prefix = this.#extensions.prefixOf(name);
    expect(prefix !== undefined, ResultCode.BAD_DATA, () => `${what}: too many extensions for one model`);
    return prefix;
  }

  #operand(index: number, what: string): DraftOperand {
    this.#expectOpen(what);
    const operand = this.#operands[index];
    expect(
      operand !== undefined,
      ResultCode.BAD_DATA,
      () => `${what}: operand ${index} does not exist, there are ${this.#operands.length}`,
    );
    return operand;
  }

  #expectOpen(what: string): void {
    expect(this.#state === "open", ResultCode.BAD_STATE, () => `${what}: the model is ${this.#state}`);
  }
}

/** Returns whether an argument describes a type, rather than being data. */
function isDescription(given: ExtensionOperandType | ArrayBufferView | null): given is ExtensionOperandType {
  return typeof given === "object" && given !== null && "extension" in given;
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
