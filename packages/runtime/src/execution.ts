/**
 * Execution: one run of a compilation (NNAPI: ANeuralNetworksExecution).
 */

import { messageOf } from "@nnhal/driver-core/guard";
import type { OptionNames } from "@nnhal/operations";
import {
  ErrorStatus,
  type ExecuteOptions,
  type ExecutionResult,
  errorStatusNames,
  LoopTimeoutDurationNs,
  MeasureTiming,
  type OutputShape,
  type Request,
  type StopSignal,
  TIMING_NOT_MEASURED,
} from "@nnhal/types";
import { inSection, loadOnce, makeDeadline, notMeasured } from "@nnhal/utils";
import { nextTurn } from "@nnhal/utils/time";
import type { Burst } from "./burst.ts";
import { expectNanoseconds, expectRight, timeoutOf } from "./checks.ts";
import type { CompiledModel, ExecutionTarget } from "./compiled-model.ts";
import { type Ending, Event, startedEvent } from "./event.ts";
import { type ArgumentRegion, ExecutionArguments } from "./execution-arguments.ts";
import type { Conclusion } from "./fenced-execution.ts";
import { describe, expectGiven, expectKind, expectList, expectSignal, optionsOf } from "./given.ts";
import type { Memory } from "./memory.ts";
import { convertErrorStatusToResultCode, expect, NeuralNetworksError, ResultCode } from "./result-code.ts";
import { bytesOf, type OperandValue } from "./value.ts";
import type { Abandoned } from "./watch.ts";

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

/** The part of a compilation that an execution needs. */
type Executed = Pick<
  CompiledModel,
  "executable" | "lend" | "giveBack" | "hal" | "factsOf" | "expectOneExplicitDevice" | "log" | "trace" | "now"
>;

/** The executor of a request: a prepared model, or a burst on one. */
interface Executing {
  execute(request: Request, options: ExecuteOptions): Promise<ExecutionResult>;
}

const noExtents = (what: string, index: number, name: string) =>
  `${what}: output ${index} is a ${name}, which has none`;

/**
 * One run: set every input and output, compute, read the outputs. An execution runs once; create another for the next run.
 *
 * Methods throw a NeuralNetworksError: BAD_STATE for a call out of turn, BAD_DATA for an argument that breaks a rule,
 * UNEXPECTED_NULL for one that is missing. A call that throws leaves the execution as it was.
 */
export class Execution {
  readonly #compilation: Executed;
  readonly #arguments: ExecutionArguments;
  #measure = false;
  #timeout: bigint | undefined;
  #loopTimeout: bigint | undefined;
  #signal: StopSignal | undefined;
  #state: "open" | "running" | "done" | "closed" = "open";
  #conclusion: Conclusion | undefined;

  constructor(compilation: Executed) {
    expectKind(compilation, "Compilation", "Execution", "compilation");
    // Throws if the compilation is not finished.
    void compilation.executable;
    this.#compilation = compilation;
    this.#arguments = new ExecutionArguments(compilation);
  }

  /**
   * Sets the value of an input: an array of the operand's type, or its raw bytes (see `OperandValue`). null omits the input, which
   * is BAD_DATA if an operation needs it. `dimensions`: the extents, if the model leaves some unknown. The value is read when
   * the execution computes, and must not change until then.
   */
  setInput(index: number, value: OperandValue | null, dimensions: readonly number[] = noDimensions): void {
    const what = callOf("setInput", index, setInputCalls);
    this.#expectOpen(what);
    const { name } = this.#arguments.factsAt("input", index, what);
    if (value !== null) expectGiven(value, what, "value");
    const bytes = value === null ? null : bytesOf(value, name, what);
    this.#place("Execution.setInput", "input", index, bytes, dimensions, what);
  }

  /** Sets the value of an input to a memory, or a part of it. */
  setInputFromMemory(index: number, memory: Memory, region: ArgumentRegion = {}): void {
    const what = `setInputFromMemory(${index})`;
    this.#expectOpen(what);
    const part = optionsOf(region, what, regionParts, "region");
    inSection(this.#compilation.trace, "LR", "PIO", "Execution.setInputFromMemory", () =>
      this.#arguments.setFromMemory("input", index, memory, part, what),
    );
  }

  /**
   * Sets the buffer of an output: an array of its type, or raw bytes (see `OperandValue`), of the output's size. If the size is
   * unknown, any size is accepted; the execution fails with OUTPUT_INSUFFICIENT_SIZE if the buffer is too small. null omits the
   * output, which only operations of extensions allow: BAD_DATA for all others. `dimensions`: known extents that the model
   * leaves unknown.
   */
  setOutput(index: number, buffer: ArrayBufferView | null, dimensions: readonly number[] = noDimensions): void {
    const what = callOf("setOutput", index, setOutputCalls);
    this.#expectOpen(what);
    const { name } = this.#arguments.factsAt("output", index, what);
    if (buffer !== null) {
      expectGiven(buffer, what, "buffer");
      if (!ArrayBuffer.isView(buffer)) {
        const message = `${what}: buffer is ${describe(buffer)}, not an array to write to`;
        throw new NeuralNetworksError(ResultCode.BAD_DATA, message);
      }
    }
    const bytes = buffer === null ? null : bytesOf(buffer, name, what);
    this.#place("Execution.setOutput", "output", index, bytes, dimensions, what);
  }

  /** Sets the buffer of an output to a memory, or a part of it. */
  setOutputFromMemory(index: number, memory: Memory, region: ArgumentRegion = {}): void {
    const what = `setOutputFromMemory(${index})`;
    this.#expectOpen(what);
    const part = optionsOf(region, what, regionParts, "region");
    inSection(this.#compilation.trace, "LR", "PIO", "Execution.setOutputFromMemory", () =>
      this.#arguments.setFromMemory("output", index, memory, part, what),
    );
  }

  /** Sets whether the execution is measured, for `getDuration`. Only for one explicit device: BAD_DATA otherwise. Default: false. */
  setMeasureTiming(measure: boolean): void {
    this.#compilation.expectOneExplicitDevice("setMeasureTiming");
    this.#expectOpen("setMeasureTiming");
    this.#measure = measure;
  }

  /**
   * Sets the maximum duration in nanoseconds, from the start of the execution; 0n: no limit, the default. Only for one explicit
   * device: BAD_DATA otherwise. The execution can then end with MISSED_DEADLINE_TRANSIENT or MISSED_DEADLINE_PERSISTENT.
   */
  setTimeout(nanoseconds: bigint): void {
    this.#compilation.expectOneExplicitDevice("setTimeout");
    this.#expectOpen("setTimeout");
    this.#timeout = timeoutOf(nanoseconds, "setTimeout");
  }

  /**
   * Sets a signal, such as an AbortSignal. When it is aborted, the execution ends with MISSED_DEADLINE_TRANSIENT at the next pause of the
   * device, or between the steps of several devices. A device of another process ends the step that it has begun.
   */
  setSignal(signal: StopSignal): void {
    this.#expectOpen("setSignal");
    expectSignal(signal, "setSignal", "signal");
    this.#signal = signal;
  }

  /** Sets the maximum duration of one WHILE in nanoseconds; at most 15 s. Default: 2 s. */
  setLoopTimeout(nanoseconds: bigint): void {
    this.#expectOpen("setLoopTimeout");
    expectNanoseconds(nanoseconds, "setLoopTimeout");
    const most = maximumLoopTimeout;
    if (nanoseconds > most) this.#compilation.log.warning(`setLoopTimeout: ${nanoseconds} ns are taken as ${most} ns`);
    this.#loopTimeout = nanoseconds < most ? nanoseconds : most;
  }

  /**
   * Runs the model and resolves when all outputs are written. Rejects with OUTPUT_INSUFFICIENT_SIZE if a buffer is too small
   * (`getOutputOperandDimensions` returns the needed shape), with OP_FAILED if the model cannot be computed on these inputs.
   */
  compute(): Promise<void> {
    // Each asynchronous function of this path would be an object of half a kilobyte.
    try {
      const { preparedModel } = this.#begin("compute");
      return this.#run("compute", this.#options(), preparedModel).then(throwUnlessDone);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /**
   * Starts to run the model and returns immediately: `await execution.startCompute().wait()` waits for the end, and rejects as `compute`
   * would. `await` of the event itself rejects with BAD_STATE, since there are no results then.
   */
  startCompute(): Event {
    const what = "startCompute";
    const { preparedModel } = this.#begin(what);
    const options = this.#options();
    // A device may compute in this thread: the caller continues first.
    const ended = nextTurn().then(() => this.#run(what, options, preparedModel));
    return startedEvent(ended);
  }

  /** Runs the model in a burst, which runs one execution at a time: BAD_STATE while it runs another. */
  async burstCompute(burst: Burst): Promise<void> {
    const what = "burstCompute";
    expectKind(burst, "Burst", what, "burst");
    this.#expectReady(what);
    this.#arguments.expectValues(what);
    burst.take(this.#compilation);
    const executable = this.#start(what);
    const { memories } = this.#arguments;
    throwUnlessDone(
      await this.#run(what, this.#options(), {
        execute: (...request) => burst.run(executable, ...request, memories),
      }),
    );
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
    if (most !== undefined) this.#compilation.expectOneExplicitDevice(what);
    const fences = dependencies.map((event) => event.dependency(what));
    // Executions that have ended already have written their memories.
    const done = dependencies.filter((_, index) => fences[index]?.state === "SIGNALED");
    // Few applications use fences: a bundle for a browser loads them when one does.
    const [{ concludeFenced, launchFenced }] = await Promise.all([fencing(), ...done.map((event) => event.settle())]);
    this.#expectReady(what);
    this.#arguments.expectKnownOutputs(what);
    if (done.length === dependencies.length) this.#arguments.expectValues(what);
    const executable = this.#start(what);
    const options = { ...this.#options(), ...(most !== undefined && { duration: most }) };
    const { now } = this.#compilation;
    const launched = await launchFenced(executable, this.#arguments.request(), fences, options, now);
    const { status } = launched;
    if (status !== ErrorStatus.NONE) {
      const nothing = { outputShapes: [], launched: notMeasured, fenced: notMeasured };
      throwUnlessDone(this.#end(what, { ...nothing, ...launched }));
    }
    const shapes = this.#arguments.initialShapes();
    const ended = concludeFenced(launched, shapes).then((conclusion) => this.#end(what, conclusion));
    return new Event({ ended, ...(launched.syncFence && { syncFence: launched.syncFence }) });
  }

  /** The rank of an output; 0 for a scalar. Only after success or OUTPUT_INSUFFICIENT_SIZE: BAD_STATE otherwise. */
  getOutputOperandRank(index: number): number {
    return this.#shapeAt(index, "getOutputOperandRank").dimensions.length;
  }

  /** The extents of an output. Only after success or OUTPUT_INSUFFICIENT_SIZE: BAD_STATE otherwise. BAD_DATA for a scalar. */
  getOutputOperandDimensions(index: number): readonly number[] {
    const what = "getOutputOperandDimensions";
    const { dimensions } = this.#shapeAt(index, what);
    const { kind, name } = this.#arguments.factsAt("output", index, what);
    // Nothing is known of the type of an extension that was not described.
    expect(kind === "tensor" || dimensions.length > 0, ResultCode.BAD_DATA, () => noExtents(what, index, name));
    return dimensions;
  }

  /** True if the buffer of an output was large enough. Only after success or OUTPUT_INSUFFICIENT_SIZE: else BAD_STATE. */
  isOutputSufficient(index: number): boolean {
    return this.#shapeAt(index, "isOutputSufficient").isSufficient;
  }

  /** A duration in nanoseconds; undefined if the device did not report it. Only after a measured execution that succeeded. */
  getDuration(code: DurationCode): bigint | undefined {
    const what = "getDuration";
    expectRight(durationCodes.includes(code), what, "a duration", code);
    const { status, launched, fenced } = this.#expectDone(what);
    const isMeasured = this.#measure && status === ErrorStatus.NONE;
    expect(isMeasured, ResultCode.BAD_STATE, () => `${what}: the execution was not measured or failed`);
    const timing = code === "onHardware" || code === "inDriver" ? launched : fenced;
    const isOnHardware = code === "onHardware" || code === "fencedOnHardware";
    const microseconds = isOnHardware ? timing.timeOnDevice : timing.timeInDriver;
    return microseconds === TIMING_NOT_MEASURED ? undefined : microseconds * 1000n;
  }

  /** Closes the execution. An execution that is running is not closed, as in Android: wait for it first. */
  close(): void {
    if (this.#state === "running") {
      this.#compilation.log.error("an execution was closed while it was running; it is not closed");
      return;
    }
    this.#state = "closed";
    this.#conclusion = undefined;
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #begin(what: string): ExecutionTarget {
    this.#expectReady(what);
    this.#arguments.expectValues(what);
    return this.#start(what);
  }

  /** Throws unless the execution can start. */
  #expectReady(what: string): void {
    this.#expectOpen(what);
    // Throws if the compilation was closed meanwhile.
    void this.#compilation.executable;
    this.#arguments.expectAllSet(what);
  }

  #start(what: string): ExecutionTarget {
    const executable = this.#compilation.lend();
    this.#state = "running";
    this.#arguments.retain();
    const { log } = this.#compilation;
    if (log.VLOG_IS_ON("EXECUTION")) {
      const { inputs, outputs } = this.#arguments.request();
      log.VLOG("EXECUTION", `${what} with ${inputs.length} inputs and ${outputs.length} outputs`);
    }
    return executable;
  }

  #options(): ExecuteOptions {
    const isTimed = this.#timeout !== undefined || this.#loopTimeout !== undefined;
    if (!isTimed && this.#signal === undefined && !this.#measure) return notMeasuring;
    const deadline = makeDeadline(this.#timeout, this.#compilation.now());
    return {
      measure: this.#measure ? MeasureTiming.YES : MeasureTiming.NO,
      ...(deadline !== undefined && { deadline }),
      ...(this.#loopTimeout !== undefined && { loopTimeoutDuration: this.#loopTimeout }),
      ...(this.#signal !== undefined && { signal: this.#signal }),
    };
  }

  /** Runs the started execution. Never rejects. */
  #run(what: string, options: ExecuteOptions, on: Executing): Promise<Ending> {
    const { trace } = this.#compilation;
    const fail = (error: unknown) => this.#end(what, failWith(messageOf(error)));
    try {
      const request = this.#arguments.request();
      const running: Promise<ExecutionResult & Abandoned> = trace.isOn
        ? inSection(trace, "LR", "PE", `Execution.${what}`, () => on.execute(request, options))
        : on.execute(request, options);
      return running.then((result) => this.#end(what, conclusionOf(result)), fail);
    } catch (error) {
      return Promise.resolve(fail(error));
    }
  }

  /** Records the result of the execution. */
  #end(what: string, answer: Conclusion): Ending {
    const { log } = this.#compilation;
    if (log.VLOG_IS_ON("EXECUTION")) log.VLOG("EXECUTION", endingText(what, answer));
    const { outputShapes, abandoned } = answer;
    const misfit = this.#arguments.end(answer.status === ErrorStatus.NONE ? outputShapes : undefined, abandoned);
    this.#compilation.giveBack();
    this.#state = "done";
    this.#conclusion = misfit === undefined ? answer : failWith(misfit);
    const { status, message } = this.#conclusion;
    if (status === ErrorStatus.NONE) return succeeded;
    const code = convertErrorStatusToResultCode(status);
    return { code, message: `${what}: ${message ?? `status ${errorStatusNames.get(status) ?? status}`}` };
  }

  #shapeAt(index: number, what: string): OutputShape {
    const { outputShapes } = this.#expectDone(what);
    this.#arguments.factsAt("output", index, what);
    const shape = outputShapes[index];
    expect(shape !== undefined, ResultCode.BAD_STATE, () => `${what}: the execution failed`);
    return shape;
  }

  /** Sets an argument to some bytes. */
  #place(
    detail: string,
    side: "input" | "output",
    index: number,
    bytes: Uint8Array | null,
    dimensions: readonly number[],
    what: string,
  ): void {
    const section = this.#compilation.trace.begin("LR", "PIO", detail);
    try {
      this.#arguments.set(side, index, bytes, dimensions, what);
    } finally {
      section.end();
    }
  }

  #expectOpen(what: string): void {
    if (this.#state === "open") return;
    throw new NeuralNetworksError(ResultCode.BAD_STATE, `${what}: the execution is ${this.#state}`);
  }

  #expectDone(what: string): Conclusion {
    expect(this.#conclusion !== undefined, ResultCode.BAD_STATE, () => {
      const hint = this.#state === "running" ? "; wait for its event first" : "";
      return `${what}: the execution is ${this.#state}${hint}`;
    });
    return this.#conclusion;
  }
}

function endingText(what: string, { status, message, outputShapes }: Conclusion): string {
  const shapes = outputShapes.map(({ dimensions }) => `[${dimensions.join(", ")}]`);
  return [
    `${what} returns ${errorStatusNames.get(status) ?? status}`,
    ...(message === undefined ? [] : [message]),
    ...(shapes.length === 0 ? [] : [`outputs of ${shapes.join(" ")}`]),
  ].join(": ");
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

/** The options of executions without any. */
const notMeasuring: ExecuteOptions = { measure: MeasureTiming.NO };

const succeeded: Ending = { code: ResultCode.NO_ERROR, message: "" };

/** Returns the conclusion of an execution without fences. */
function conclusionOf({ status, message, outputShapes, timing, abandoned }: ExecutionResult & Abandoned): Conclusion {
  const done = { status, outputShapes, launched: timing, fenced: timing };
  if (message === undefined && abandoned === undefined) return done;
  return { ...done, ...(message !== undefined && { message }), ...(abandoned !== undefined && { abandoned }) };
}

function failWith(message: string): Conclusion {
  const nothing = { outputShapes: [], launched: notMeasured, fenced: notMeasured };
  return { status: ErrorStatus.GENERAL_FAILURE, message, ...nothing };
}

function throwUnlessDone({ code, message }: Ending): void {
  if (code !== ResultCode.NO_ERROR) throw new NeuralNetworksError(code, message);
}
