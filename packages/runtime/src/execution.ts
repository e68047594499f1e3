/**
 * Execution: one run of a compilation (NNAPI: ANeuralNetworksExecution).
 */
import { memoryOf } from "@nnhal/driver-core/memory";
import {
  type DataLocation,
  ErrorStatus,
  type ExecutionResult,
  errorStatusNames,
  LoopTimeoutDurationNs,
  MeasureTiming,
  type Operand,
  operandTypeNames,
  type RequestArgument,
  type RequestMemoryPool,
  TIMING_NOT_MEASURED,
} from "@nnhal/types";
import { inSection } from "@nnhal/utils";
import type { Compilation } from "./compilation.ts";
import { convertErrorStatusToResultCode, expect, NeuralNetworksError, ResultCode } from "./result-code.ts";
import { bytesOf, type OperandValue } from "./value.ts";

/** The HAL's loop timeouts, in nanoseconds. */
export const { DEFAULT: defaultLoopTimeout, MAXIMUM: maximumLoopTimeout } = LoopTimeoutDurationNs;

const nowhere: DataLocation = { poolIndex: 0, offset: 0, length: 0 };

/**
 * One run: set every input and output, compute, read the outputs. An execution runs once; create another for the next run.
 *
 * Methods throw a NeuralNetworksError: BAD_STATE for a call out of turn, BAD_DATA for an argument that breaks a rule.
 */
export class Execution {
  readonly #compilation: Compilation;
  readonly #inputs: (RequestArgument | undefined)[];
  readonly #outputs: (RequestArgument | undefined)[];
  readonly #pools: RequestMemoryPool[] = [];
  #measure: MeasureTiming = MeasureTiming.NO;
  #loopTimeout: bigint = LoopTimeoutDurationNs.DEFAULT;
  #state: "open" | "running" | "done" = "open";
  #result: ExecutionResult | undefined;

  constructor(compilation: Compilation) {
    // Refuses a compilation that is not finished.
    void compilation.preparedModel;
    this.#compilation = compilation;
    const { inputIndexes, outputIndexes } = compilation.hal.main;
    this.#inputs = inputIndexes.map(() => undefined);
    this.#outputs = outputIndexes.map(() => undefined);
  }

  /**
   * Gives an input its value; null omits it. `dimensions`: the extents, where the model leaves some open. The value is
   * read when the execution computes.
   */
  setInput(index: number, value: OperandValue | null, dimensions: readonly number[] = []): void {
    const what = `setInput(${index})`;
    const operand = this.#operandAt(this.#inputs, this.#compilation.hal.main.inputIndexes, index, what);
    const type = operandTypeNames.get(operand.type) ?? "TENSOR_OEM_BYTE";
    const bytes = value === null ? null : bytesOf(value, type, what);
    this.#inputs[index] = this.#place("Execution.setInput", bytes, dimensions);
  }

  /** Where an output goes; null: nowhere. It may be longer than the output. */
  setOutput(index: number, buffer: ArrayBufferView | null, dimensions: readonly number[] = []): void {
    const what = `setOutput(${index})`;
    this.#operandAt(this.#outputs, this.#compilation.hal.main.outputIndexes, index, what);
    const bytes = buffer === null ? null : new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);
    this.#outputs[index] = this.#place("Execution.setOutput", bytes, dimensions);
  }

  /** Whether `getDuration` will have an answer. Default: false. */
  setMeasureTiming(measure: boolean): void {
    this.#expectOpen("setMeasureTiming");
    this.#measure = measure ? MeasureTiming.YES : MeasureTiming.NO;
  }

  /** Longest time in nanoseconds that one WHILE may take; more than 15 s is taken as 15 s. Default: 2 s. */
  setLoopTimeout(nanoseconds: bigint): void {
    this.#expectOpen("setLoopTimeout");
    const most = LoopTimeoutDurationNs.MAXIMUM;
    this.#loopTimeout = nanoseconds < most ? nanoseconds : most;
  }

  /**
   * Runs the model and resolves when all outputs are written. Rejects with OUTPUT_INSUFFICIENT_SIZE where a buffer is too
   * small (`getOutputOperandDimensions` tells the size), OP_FAILED where the model cannot be computed on these inputs.
   */
  async compute(): Promise<void> {
    this.#expectOpen("compute");
    const inputs = this.#inputs.map((argument, index) => expectSet(argument, `input ${index}`));
    const outputs = this.#outputs.map((argument, index) => expectSet(argument, `output ${index}`));
    const { preparedModel, log, trace } = this.#compilation;
    this.#state = "running";
    log.VLOG("EXECUTION", () => `compute with ${inputs.length} inputs and ${outputs.length} outputs`);
    const result = await inSection(trace, "LR", "PE", "Execution.compute", () =>
      preparedModel.execute(
        { inputs, outputs, pools: this.#pools },
        { measure: this.#measure, loopTimeoutDuration: this.#loopTimeout },
      ),
    );
    log.VLOG("EXECUTION", () => describeResult(result));
    this.#state = "done";
    this.#result = result;
    if (result.status !== ErrorStatus.NONE) {
      const code = convertErrorStatusToResultCode(result.status);
      throw new NeuralNetworksError(code, `compute: ${result.message ?? `status ${result.status}`}`);
    }
  }

  /** The extents of an output, after `compute` succeeded or found a buffer too small. */
  getOutputOperandDimensions(index: number): readonly number[] {
    const result = this.#expectDone("getOutputOperandDimensions");
    expect(
      index in this.#outputs,
      ResultCode.BAD_DATA,
      () => `getOutputOperandDimensions: there is no output ${index}, only ${this.#outputs.length}`,
    );
    expect(
      result.outputShapes.length > 0,
      ResultCode.BAD_STATE,
      () => "getOutputOperandDimensions: the execution failed",
    );
    return result.outputShapes[index].dimensions;
  }

  /** Nanoseconds spent, after a measured `compute` succeeded; undefined where the device cannot tell. */
  getDuration(code: "onHardware" | "inDriver"): bigint | undefined {
    const { status, timing } = this.#expectDone("getDuration");
    const isMeasured = this.#measure === MeasureTiming.YES && status === ErrorStatus.NONE;
    expect(isMeasured, ResultCode.BAD_STATE, () => "getDuration: the execution was not measured or failed");
    const microseconds = code === "onHardware" ? timing.timeOnDevice : timing.timeInDriver;
    return microseconds === TIMING_NOT_MEASURED ? undefined : microseconds * 1000n;
  }

  /** The argument whose bytes these are; null: omitted. */
  #place(detail: string, bytes: Uint8Array | null, dimensions: readonly number[]): RequestArgument {
    if (bytes === null) return { hasNoValue: true, location: nowhere, dimensions: [] };
    return inSection(this.#compilation.trace, "LR", "PIO", detail, () => {
      const memory = memoryOf(bytes);
      const poolIndex = this.#pools.push({ kind: "memory", memory }) - 1;
      return {
        hasNoValue: false,
        location: { poolIndex, offset: 0, length: memory.size },
        dimensions: [...dimensions],
      };
    });
  }

  #operandAt(
    slots: readonly (RequestArgument | undefined)[],
    indexes: readonly number[],
    index: number,
    what: string,
  ): Operand {
    this.#expectOpen(what);
    expect(index in slots, ResultCode.BAD_DATA, () => `${what}: there are ${slots.length}, counted from 0`);
    expect(slots[index] === undefined, ResultCode.BAD_STATE, () => `${what}: it was set before`);
    return this.#compilation.hal.main.operands[indexes[index]];
  }

  #expectOpen(what: string): void {
    expect(this.#state === "open", ResultCode.BAD_STATE, () => `${what}: the execution is ${this.#state}`);
  }

  #expectDone(what: string): ExecutionResult {
    expect(this.#result !== undefined, ResultCode.BAD_STATE, () => `${what}: the execution is ${this.#state}`);
    return this.#result;
  }
}

function describeResult({ status, message, outputShapes }: ExecutionResult): string {
  const shapes = outputShapes.map(({ dimensions }) => `[${dimensions.join(", ")}]`);
  return [
    `compute gives ${errorStatusNames.get(status) ?? status}`,
    ...(message === undefined ? [] : [message]),
    ...(shapes.length === 0 ? [] : [`outputs of ${shapes.join(" ")}`]),
  ].join(": ");
}

function expectSet(argument: RequestArgument | undefined, name: string): RequestArgument {
  expect(argument !== undefined, ResultCode.BAD_DATA, () => `compute: ${name} is not set`);
  return argument;
}
