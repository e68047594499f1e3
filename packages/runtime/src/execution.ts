/**
 * Execution: runs of a compilation (NNAPI: ANeuralNetworksExecution).
 */

import type { OptionNames } from "@nnhal/operations";
import { ErrorStatus, LoopTimeoutDurationNs, type StopSignal, TIMING_NOT_MEASURED } from "@nnhal/types";
import { inSection, loadOnce } from "@nnhal/utils";
import type { Burst } from "./burst.ts";
import { expectNanoseconds, expectRight, timeoutOf } from "./checks.ts";
import type { Conclusion } from "./conclusion.ts";
import type { Event } from "./event.ts";
import { type ArgumentRegion, ExecutionArguments } from "./execution-arguments.ts";
import { type Executed, ExecutionRun } from "./execution-run.ts";
import { ExecutionSettings } from "./execution-settings.ts";
import { describe, expectGiven, expectKind, expectList, expectSignal, optionsOf } from "./given.ts";
import type { Memory } from "./memory.ts";
import type { Side } from "./model-slots.ts";
import { expect, NeuralNetworksError, ResultCode } from "./result-code.ts";
import { bytesOf, type OperandValue } from "./value.ts";

const fencing = loadOnce(() => import("./fenced-execution.ts"));

/** The HAL's loop timeouts, in nanoseconds. */
export const { DEFAULT: defaultLoopTimeout, MAXIMUM: maximumLoopTimeout } = LoopTimeoutDurationNs;

/**
 * A duration: on the hardware alone, or in the whole driver; from the start of the execution, or from the end of its
 * dependencies (NNAPI: DurationCode). Without dependencies both are the same.
 */
export type DurationCode = "onHardware" | "inDriver" | "fencedOnHardware" | "fencedInDriver";

const durationCodes: readonly string[] = [
  "onHardware",
  "inDriver",
  "fencedOnHardware",
  "fencedInDriver",
] satisfies DurationCode[];

const noExtents = (what: string, index: number, name: string) =>
  `${what}: output ${index} is a ${name}, which has none`;

/**
 * Inputs, outputs and settings, then a run, then its results. An execution runs once, or any number of times if it is reusable.
 *
 * Methods throw a NeuralNetworksError: BAD_STATE for a call out of turn, BAD_DATA for an argument that breaks a rule,
 * UNEXPECTED_NULL for one that is missing. A call that throws leaves the execution as it was.
 */
export class Execution {
  /** For this package. */
  readonly run: ExecutionRun;

  constructor(compilation: Executed) {
    expectKind(compilation, "Compilation", "Execution", "compilation");
    // Throws if the compilation is not finished.
    void compilation.executable;
    this.run = new ExecutionRun(compilation, new ExecutionArguments(compilation), new ExecutionSettings());
  }

  /**
   * Sets the value of an input: an array of the operand's type, or its raw bytes (see `OperandValue`). null omits the input, which
   * is BAD_DATA if an operation needs it. `dimensions`: the extents, if the model leaves some unknown. The value is read when
   * the execution computes, and must not change until then.
   */
  setInput(index: number, value: OperandValue | null, dimensions: readonly number[] = noDimensions): void {
    const what = callOf("setInput", index, setInputCalls);
    const name = typeAt(this.run, "input", index, what);
    if (value !== null) expectGiven(value, what, "value");
    const bytes = value === null ? null : bytesOf(value, name, what);
    place(this.run, "Execution.setInput", "input", index, bytes, dimensions, what);
  }

  /** Sets the value of an input to a memory, or a part of it. */
  setInputFromMemory(index: number, memory: Memory, region: ArgumentRegion = {}): void {
    placeMemory(this.run, "setInputFromMemory", "input", index, memory, region);
  }

  /**
   * Sets the buffer of an output: an array of its type, or raw bytes (see `OperandValue`), of the output's size. If the size is
   * unknown, any size is accepted; the execution fails with OUTPUT_INSUFFICIENT_SIZE if the buffer is too small. null omits the
   * output, which only operations of extensions allow: BAD_DATA for all others. `dimensions`: known extents that the model
   * leaves unknown.
   */
  setOutput(index: number, buffer: ArrayBufferView | null, dimensions: readonly number[] = noDimensions): void {
    const what = callOf("setOutput", index, setOutputCalls);
    const name = typeAt(this.run, "output", index, what);
    if (buffer !== null) expectBuffer(buffer, what);
    const bytes = buffer === null ? null : bytesOf(buffer, name, what);
    place(this.run, "Execution.setOutput", "output", index, bytes, dimensions, what);
  }

  /** Sets the buffer of an output to a memory, or a part of it. */
  setOutputFromMemory(index: number, memory: Memory, region: ArgumentRegion = {}): void {
    placeMemory(this.run, "setOutputFromMemory", "output", index, memory, region);
  }

  /**
   * Sets whether the arrays and regions of inputs and outputs may be longer than their values; the rest is padding, which a device may read
   * and overwrite (NNAPI: enableInputAndOutputPadding). Default: false. BAD_STATE once an input or output is set.
   */
  enableInputAndOutputPadding(enable: boolean): void {
    const what = "enableInputAndOutputPadding";
    this.run.expectOpen(what);
    this.run.arguments.enablePadding(enable, what);
  }

  /**
   * Sets whether the execution can be computed again once a run has ended, with the same arguments and settings (NNAPI: setReusable). A
   * device that can sets it up once, so that each run costs less. The content of the arguments can change between runs. Default: false.
   */
  setReusable(reusable: boolean): void {
    this.run.expectOpen("setReusable");
    this.run.settings.reusable = reusable;
  }

  /** Sets whether the execution is measured, for `getDuration`. Only for one explicit device: BAD_DATA otherwise. Default: false. */
  setMeasureTiming(measure: boolean): void {
    this.run.compilation.expectOneExplicitDevice("setMeasureTiming");
    this.run.expectOpen("setMeasureTiming");
    this.run.settings.measure = measure;
  }

  /**
   * Sets the maximum duration in nanoseconds, from the start of the execution; 0n: no limit, the default. Only for one explicit
   * device: BAD_DATA otherwise. The execution can then end with MISSED_DEADLINE_TRANSIENT or MISSED_DEADLINE_PERSISTENT.
   */
  setTimeout(nanoseconds: bigint): void {
    this.run.compilation.expectOneExplicitDevice("setTimeout");
    this.run.expectOpen("setTimeout");
    this.run.settings.timeout = timeoutOf(nanoseconds, "setTimeout");
  }

  /**
   * Sets a signal, such as an AbortSignal. When it is aborted, the execution ends with MISSED_DEADLINE_TRANSIENT at the next pause of the
   * device, or between the steps of several devices. A device of another process ends the step that it has begun.
   */
  setSignal(signal: StopSignal): void {
    this.run.expectOpen("setSignal");
    expectSignal(signal, "setSignal", "signal");
    this.run.settings.signal = signal;
  }

  /** Sets the maximum duration of one WHILE in nanoseconds; at most 15 s. Default: 2 s. */
  setLoopTimeout(nanoseconds: bigint): void {
    this.run.expectOpen("setLoopTimeout");
    expectNanoseconds(nanoseconds, "setLoopTimeout");
    const most = maximumLoopTimeout;
    if (nanoseconds > most)
      this.run.compilation.log.warning(`setLoopTimeout: ${nanoseconds} ns are taken as ${most} ns`);
    this.run.settings.loopTimeout = nanoseconds < most ? nanoseconds : most;
  }

  /**
   * Runs the model and resolves when all outputs are written. Rejects with OUTPUT_INSUFFICIENT_SIZE if a buffer is too small
   * (`getOutputOperandDimensions` returns the needed shape), with OP_FAILED if the model cannot be computed on these inputs.
   */
  compute(): Promise<void> {
    return this.run.compute();
  }

  /**
   * Starts to run the model and returns immediately: `await execution.startCompute().wait()` waits for the end, and rejects as `compute`
   * would. `await` of the event itself rejects with BAD_STATE, since there are no results then.
   */
  startCompute(): Event {
    return this.run.startCompute();
  }

  /** Runs the model in a burst, which runs one execution at a time: BAD_STATE while it runs another. */
  async burstCompute(burst: Burst): Promise<void> {
    expectKind(burst, "Burst", "burstCompute", "burst");
    await burst.compute(this.run);
  }

  /**
   * Runs the model once other executions have ended, and resolves as soon as it is scheduled. `duration`: maximum duration in
   * nanoseconds from the end of the dependencies, only for one explicit device; 0n: no limit. Rejects with BAD_DATA if a dimension
   * of an output is unknown, or if a dependency has failed already. If a dependency fails later, the execution fails too.
   */
  async startComputeWithDependencies(dependencies: readonly Event[], duration = 0n): Promise<Event> {
    const what = "startComputeWithDependencies";
    expectList(dependencies, what, "dependencies");
    for (const [index, event] of dependencies.entries()) expectKind(event, "Event", what, `dependencies[${index}]`);
    const most = timeoutOf(duration, what);
    if (most !== undefined) this.run.compilation.expectOneExplicitDevice(what);
    // Few applications use fences: a bundle for a browser loads them when one does.
    const { startFenced } = await fencing();
    return startFenced(this.run, dependencies, most, what);
  }

  /** The rank of an output; 0 for a scalar. Only after success or OUTPUT_INSUFFICIENT_SIZE: BAD_STATE otherwise. */
  getOutputOperandRank(index: number): number {
    return this.run.shapeAt(index, "getOutputOperandRank").dimensions.length;
  }

  /** The extents of an output. Only after success or OUTPUT_INSUFFICIENT_SIZE: BAD_STATE otherwise. BAD_DATA for a scalar. */
  getOutputOperandDimensions(index: number): readonly number[] {
    const what = "getOutputOperandDimensions";
    const { dimensions } = this.run.shapeAt(index, what);
    const { kind, name } = this.run.arguments.factsAt("output", index, what);
    // Nothing is known of the type of an extension that was not described.
    expect(kind === "tensor" || dimensions.length > 0, ResultCode.BAD_DATA, () => noExtents(what, index, name));
    return dimensions;
  }

  /** True if the buffer of an output was large enough. Only after success or OUTPUT_INSUFFICIENT_SIZE: else BAD_STATE. */
  isOutputSufficient(index: number): boolean {
    return this.run.shapeAt(index, "isOutputSufficient").isSufficient;
  }

  /**
   * A duration of the last run in nanoseconds; undefined if the device did not report it. Only after a measured execution that succeeded.
   */
  getDuration(code: DurationCode): bigint | undefined {
    const what = "getDuration";
    expectRight(durationCodes.includes(code), what, "a duration", code);
    const conclusion = this.run.conclusion(what);
    const isMeasured = this.run.settings.measure && conclusion.status === ErrorStatus.NONE;
    expect(isMeasured, ResultCode.BAD_STATE, () => `${what}: the execution was not measured or failed`);
    return durationOf(conclusion, code);
  }

  /** Closes the execution. An execution that is running is not closed, as in Android: wait for it first. */
  close(): void {
    this.run.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/** The name of the type of an input or output that can still be set. */
function typeAt(run: ExecutionRun, side: Side, index: number, what: string): string {
  run.expectOpen(what);
  return run.arguments.factsAt(side, index, what).name;
}

/** Sets an argument to some bytes. */
function place(
  { compilation, arguments: args }: ExecutionRun,
  detail: string,
  side: Side,
  index: number,
  bytes: Uint8Array | null,
  dimensions: readonly number[],
  what: string,
): void {
  const section = compilation.trace.begin("LR", "PIO", detail);
  try {
    args.set(side, index, bytes, dimensions, what);
  } finally {
    section.end();
  }
}

/** Sets an argument to a part of a memory. */
function placeMemory(
  run: ExecutionRun,
  name: string,
  side: Side,
  index: number,
  memory: Memory,
  region: ArgumentRegion,
): void {
  const what = `${name}(${index})`;
  run.expectOpen(what);
  const part = optionsOf(region, what, regionParts, "region");
  inSection(run.compilation.trace, "LR", "PIO", `Execution.${name}`, () =>
    run.arguments.setFromMemory(side, index, memory, part, what),
  );
}

function expectBuffer(buffer: ArrayBufferView, what: string): void {
  expectGiven(buffer, what, "buffer");
  if (ArrayBuffer.isView(buffer)) return;
  const message = `${what}: buffer is ${describe(buffer)}, not an array to write to`;
  throw new NeuralNetworksError(ResultCode.BAD_DATA, message);
}

function durationOf({ launched, fenced }: Conclusion, code: DurationCode): bigint | undefined {
  const timing = code === "onHardware" || code === "inDriver" ? launched : fenced;
  const isOnHardware = code === "onHardware" || code === "fencedOnHardware";
  const microseconds = isOnHardware ? timing.timeOnDevice : timing.timeInDriver;
  return microseconds === TIMING_NOT_MEASURED ? undefined : microseconds * 1000n;
}

const noDimensions: readonly number[] = [];

/** Cached texts: every execution needs them in case an argument is refused. */
const setInputCalls: (string | undefined)[] = new Array(16);
const setOutputCalls: (string | undefined)[] = new Array(16);

/** Returns the text by which messages name a call with an index, which can be any value. `known`: cached texts. */
function callOf(method: string, index: number, known: (string | undefined)[]): string {
  const kept = known[index];
  if (typeof kept === "string") return kept;
  const call = `${method}(${index})`;
  if (Number.isInteger(index) && index >= 0 && index < known.length) known[index] = call;
  return call;
}

const regionParts: OptionNames<ArgumentRegion> = { offset: true, length: true, dimensions: true };
