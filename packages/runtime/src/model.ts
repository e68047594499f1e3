/**
 * Model: a graph of operations under construction, then finished and immutable (NNAPI: ANeuralNetworksModel).
 */
import { memoryOf } from "@nnhal/driver-core/memory";
import {
  type DataLocation,
  type Model as HalModel,
  type Memory,
  type Operand,
  type OperandExtraParams,
  OperandLifeTime,
  OperandType,
  type OperandTypeName,
  type Operation,
  OperationType,
  type OperationTypeName,
  operandTypes,
  type SymmPerChannelQuantParams,
} from "@nnhal/types";
import { defaultLogger, graphDump, inSection, type Logger, logStream, noTracer, type Tracer } from "@nnhal/utils";
import { modelIssues } from "@nnhal/validation";
import { withReferenced } from "./merge-models.ts";
import { expect, NeuralNetworksError, ResultCode } from "./result-code.ts";
import { sortOperations } from "./sort.ts";
import { bytesOf, type OperandValue } from "./value.ts";

/** What an operand is (NNAPI: ANeuralNetworksOperandType). */
export interface OperandDescription {
  readonly type: OperandTypeName;
  /** Extents; 0 is an unknown extent and [] an unknown rank of a tensor. Scalars have none. Default: []. */
  readonly dimensions?: readonly number[];
  /** Quantisation scale. Default: 0, for types without one. */
  readonly scale?: number;
  /** Quantised value of the real value 0. Default: 0. */
  readonly zeroPoint?: number;
}

/** Values up to this many bytes are copied into the model; the bytes of longer ones have to stay as they are while it lives. */
export const MAX_SIZE_OF_IMMEDIATELY_COPIED_VALUES = 128;

const nowhere: DataLocation = { poolIndex: 0, offset: 0, length: 0 };

/** Who watches a model, and the compilations and executions that come of it. */
export interface ModelOptions {
  /** Takes what there is to say (tags MODEL, COMPILATION and EXECUTION). Default: the console, where NNHAL_VLOG asks for it. */
  readonly log?: Logger;
  /** Default: off. */
  readonly trace?: Tracer;
}

interface MutableOperand {
  readonly name: OperandTypeName;
  readonly dimensions: readonly number[];
  readonly scale: number;
  readonly zeroPoint: number;
  lifetime: number;
  location: DataLocation;
  extraParams: OperandExtraParams;
}

/**
 * A model. Operands and operations are added, inputs and outputs identified, then `finish` makes it immutable.
 *
 * Every method throws a NeuralNetworksError: BAD_STATE after `finish`, BAD_DATA for an argument that breaks a rule.
 */
export class Model {
  readonly #operands: MutableOperand[] = [];
  readonly #operations: Operation[] = [];
  readonly #copied: Uint8Array[] = [];
  #copiedLength = 0;
  readonly #pools: Memory[] = [];
  readonly #poolIndexes = new Map<Memory, number>();
  readonly #referenced: Model[] = [];
  #inputs: readonly number[] = [];
  #outputs: readonly number[] = [];
  #relaxed = false;
  #finished: HalModel | undefined;
  /** For the compilations of this package. */
  readonly log: Logger;
  readonly trace: Tracer;

  constructor({ log = defaultLogger, trace = noTracer }: ModelOptions = {}) {
    log.initVLogMask();
    this.log = log;
    this.trace = trace;
  }

  /** A finished model from one in the HAL's form, such as an importer gives. Throws BAD_DATA where it is not valid. */
  static from(model: HalModel, options: ModelOptions = {}): Model {
    const result = new Model(options);
    inSection(result.trace, "LR", "PP", "Model.from", () => result.#finishAs(model));
    return result;
  }

  /** The model in the HAL's form. Throws BAD_STATE before `finish`. */
  get hal(): HalModel {
    expect(this.#finished !== undefined, ResultCode.BAD_STATE, () => "the model is not finished");
    return this.#finished;
  }

  get isFinished(): boolean {
    return this.#finished !== undefined;
  }

  /** Adds an operand and returns its index. */
  addOperand({ type, dimensions = [], scale = 0, zeroPoint = 0 }: OperandDescription): number {
    this.#expectOpen("addOperand");
    expect(type in operandTypes, ResultCode.BAD_DATA, () => `addOperand: ${type} is no operand type`);
    this.#operands.push({
      name: type,
      dimensions: [...dimensions],
      scale,
      zeroPoint,
      lifetime: OperandLifeTime.TEMPORARY_VARIABLE,
      location: nowhere,
      extraParams: { kind: "none" },
    });
    return this.#operands.length - 1;
  }

  /** Makes an operand a constant, or with null an omitted one. Arrays over 128 bytes are referred to, not copied. */
  setOperandValue(index: number, value: OperandValue | null): void {
    const what = `setOperandValue(${index})`;
    const operand = this.#operand(index, what);
    if (value === null) {
      operand.lifetime = OperandLifeTime.NO_VALUE;
      operand.location = nowhere;
      return;
    }
    const bytes = bytesOf(value, operand.name, what);
    expectLength(operand, bytes.length, what);
    if (bytes.length <= MAX_SIZE_OF_IMMEDIATELY_COPIED_VALUES) {
      operand.lifetime = OperandLifeTime.CONSTANT_COPY;
      operand.location = { poolIndex: 0, offset: this.#copy(bytes), length: bytes.length };
    } else {
      this.#refer(operand, memoryOf(bytes), 0, bytes.length);
    }
  }

  /** Makes an operand a constant that lies in a memory, which has to stay as it is while the model lives. */
  setOperandValueFromMemory(index: number, memory: Memory, offset: number, length: number): void {
    const what = `setOperandValueFromMemory(${index})`;
    const operand = this.#operand(index, what);
    expectLength(operand, length, what);
    expect(
      offset >= 0 && offset + length <= memory.size,
      ResultCode.BAD_DATA,
      () => `${what}: bytes ${offset} to ${offset + length} lie outside the memory of ${memory.size}`,
    );
    this.#refer(operand, memory, offset, length);
  }

  /** Makes an operand of type SUBGRAPH stand for another finished model. */
  setOperandValueFromModel(index: number, model: Model): void {
    const what = `setOperandValueFromModel(${index})`;
    const operand = this.#operand(index, what);
    expect(operand.name === "SUBGRAPH", ResultCode.BAD_DATA, () => `${what}: the operand is a ${operand.name}`);
    expect(model.isFinished, ResultCode.BAD_STATE, () => `${what}: the model given is not finished`);
    operand.lifetime = OperandLifeTime.SUBGRAPH;
    operand.location = { poolIndex: 0, offset: this.#referenced.push(model) - 1, length: 0 };
  }

  /** Sets the scales of a TENSOR_QUANT8_SYMM_PER_CHANNEL operand. */
  setOperandSymmPerChannelQuantParams(index: number, channelQuant: SymmPerChannelQuantParams): void {
    const what = `setOperandSymmPerChannelQuantParams(${index})`;
    const operand = this.#operand(index, what);
    expect(
      operand.name === "TENSOR_QUANT8_SYMM_PER_CHANNEL",
      ResultCode.BAD_DATA,
      () => `${what}: the operand is a ${operand.name}`,
    );
    const { scales, channelDim } = channelQuant;
    operand.extraParams = { kind: "channelQuant", channelQuant: { scales: [...scales], channelDim } };
  }

  /** Adds an operation that reads and writes the operands of some indexes, in the order of its documentation. */
  addOperation(type: OperationTypeName, inputs: readonly number[], outputs: readonly number[]): void {
    this.#expectOpen("addOperation");
    expect(type in OperationType, ResultCode.BAD_DATA, () => `addOperation: ${type} is no operation`);
    for (const index of [...inputs, ...outputs]) this.#operand(index, `addOperation(${type})`);
    this.#operations.push({ type: OperationType[type], inputs: [...inputs], outputs: [...outputs] });
  }

  /** Says which operands are the model's inputs and outputs. */
  identifyInputsAndOutputs(inputs: readonly number[], outputs: readonly number[]): void {
    const what = "identifyInputsAndOutputs";
    this.#expectOpen(what);
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
    for (const index of inputs) this.#operands[index].lifetime = OperandLifeTime.SUBGRAPH_INPUT;
    for (const index of outputs) this.#operands[index].lifetime = OperandLifeTime.SUBGRAPH_OUTPUT;
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
      const operations = sortOperations(this.#operations);
      expect(operations !== undefined, ResultCode.BAD_DATA, () => "finish: operations wait for each other in a circle");
      this.#finishAs(this.#toHal(operations));
    });
  }

  #finishAs(model: HalModel): void {
    this.#finished = validated(model);
    if (this.log.VLOG_IS_ON("MODEL")) graphDump("a finished model", model, logStream(this.log, "MODEL"));
  }

  #toHal(operations: readonly Operation[]): HalModel {
    const consumers = new Array<number>(this.#operands.length).fill(0);
    for (const { inputs } of operations) for (const index of inputs) consumers[index]++;
    const operands = this.#operands.map(
      ({ name, ...operand }, index): Operand => ({
        ...operand,
        type: OperandType[name],
        numberOfConsumers: consumers[index],
      }),
    );
    const operandValues = new Uint8Array(this.#copiedLength);
    let offset = 0;
    for (const bytes of this.#copied) {
      operandValues.set(bytes, offset);
      offset += bytes.length;
    }
    const own: HalModel = {
      main: { operands, operations, inputIndexes: this.#inputs, outputIndexes: this.#outputs },
      referenced: [],
      operandValues,
      pools: this.#pools,
      relaxComputationFloat32toFloat16: this.#relaxed,
      extensionNameToPrefix: [],
    };
    return withReferenced(
      own,
      this.#referenced.map((model) => model.hal),
    );
  }

  #copy(bytes: Uint8Array): number {
    // Every value starts at a multiple of 4, so that a driver can view it as any element type.
    const offset = this.#copiedLength;
    const padded = new Uint8Array(Math.ceil(bytes.length / 4) * 4);
    padded.set(bytes);
    this.#copied.push(padded);
    this.#copiedLength += padded.length;
    return offset;
  }

  #refer(operand: MutableOperand, memory: Memory, offset: number, length: number): void {
    let poolIndex = this.#poolIndexes.get(memory);
    if (poolIndex === undefined) {
      poolIndex = this.#pools.push(memory) - 1;
      this.#poolIndexes.set(memory, poolIndex);
    }
    operand.lifetime = OperandLifeTime.CONSTANT_REFERENCE;
    operand.location = { poolIndex, offset, length };
  }

  #operand(index: number, what: string): MutableOperand {
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
    expect(!this.isFinished, ResultCode.BAD_STATE, () => `${what}: the model is finished`);
  }
}

/** Refuses a length that is not that of the operand's type and extents, where they are known. */
function expectLength({ name, dimensions }: MutableOperand, length: number, what: string): void {
  const { elementSize, kind } = operandTypes[name];
  if (elementSize === 0 || (kind === "tensor" && (dimensions.length === 0 || dimensions.includes(0)))) return;
  const needed = dimensions.reduce((count, extent) => count * extent, elementSize);
  expect(
    length === needed,
    ResultCode.BAD_DATA,
    () => `${what}: ${length} bytes were given where ${needed} are needed`,
  );
}

function validated(model: HalModel): HalModel {
  const issues = modelIssues(model, { mode: "runtime" });
  if (issues.length === 0) return model;
  const lines = issues.map(({ path, message }) => `${path}: ${message}`);
  throw new NeuralNetworksError(ResultCode.BAD_DATA, `the model is not valid: ${lines.join("; ")}`);
}
