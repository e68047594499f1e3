/**
 * The states of an execution, and its runs: it is open until it starts, and done when a run has ended; one that is reusable can then start
 * again.
 */
import { messageOf } from "@nnhal/driver-core/guard";
import {
  ErrorStatus,
  type ExecuteOptions,
  type ExecutionResult,
  errorStatusNames,
  type OutputShape,
} from "@nnhal/types";
import { inSection, loadOnce, notMeasured } from "@nnhal/utils";
import { nextTurn } from "@nnhal/utils/time";
import type { Abandoned } from "./bounds.ts";
import type { CompiledModel, Executing, ExecutionTarget } from "./compiled-model.ts";
import type { Conclusion } from "./conclusion.ts";
import { type Ending, type Event, startedEvent } from "./event.ts";
import type { ExecutionArguments } from "./execution-arguments.ts";
import type { ExecutionSettings } from "./execution-settings.ts";
import type { RepeatedExecutor } from "./repeated-execution.ts";
import { convertErrorStatusToResultCode, expect, NeuralNetworksError, ResultCode } from "./result-code.ts";

const repeats = loadOnce(() => import("./repeated-execution.ts"));

/** The part of a compilation that an execution needs. */
export type Executed = Pick<
  CompiledModel,
  | "executable"
  | "lend"
  | "giveBack"
  | "hal"
  | "factsOf"
  | "expectOneExplicitDevice"
  | "usedDevices"
  | "log"
  | "trace"
  | "now"
>;

/** See the file's head. */
export class ExecutionRun {
  readonly compilation: Executed;
  readonly arguments: ExecutionArguments;
  readonly settings: ExecutionSettings;
  #state: "open" | "running" | "done" | "closed" = "open";
  #conclusion: Conclusion | undefined;
  /** Present once a reusable execution has run. */
  #repeated: RepeatedExecutor | undefined;

  constructor(compilation: Executed, args: ExecutionArguments, settings: ExecutionSettings) {
    this.compilation = compilation;
    this.arguments = args;
    this.settings = settings;
  }

  expectOpen(what: string): void {
    if (this.#state !== "open") this.#refuse(what);
  }

  /** Throws unless the execution can start. */
  expectReady(what: string): void {
    const isAgain = this.#state === "done" && this.settings.reusable;
    if (!isAgain) this.expectOpen(what);
    // Throws if the compilation was closed meanwhile.
    void this.compilation.executable;
    if (!isAgain) this.arguments.expectAllSet(what);
  }

  start(what: string): ExecutionTarget {
    const executable = this.compilation.lend();
    this.#state = "running";
    this.#conclusion = undefined;
    this.arguments.retain();
    const { log } = this.compilation;
    if (log.VLOG_IS_ON("EXECUTION")) {
      const { inputs, outputs } = this.arguments.request();
      log.VLOG("EXECUTION", `${what} with ${inputs.length} inputs and ${outputs.length} outputs`);
    }
    return executable;
  }

  compute(): Promise<void> {
    // Each asynchronous function of this path would be an object of half a kilobyte.
    try {
      const target = this.#begin("compute");
      return this.execute("compute", this.options(), this.#executorOf(target), throwUnlessDone);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  startCompute(): Event {
    const target = this.#begin("startCompute");
    const options = this.options();
    // A device may compute in this thread: the caller continues first.
    const run = () => this.execute("startCompute", options, this.#executorOf(target), asItIs);
    return startedEvent(nextTurn().then(run));
  }

  /** The options of a run that starts now. */
  options(): ExecuteOptions {
    return this.settings.options(this.compilation.now);
  }

  /** Runs the started execution, and resolves with what `conclude` returns, or rejects with what it throws. */
  execute<Result>(
    what: string,
    options: ExecuteOptions,
    on: Executing,
    conclude: (ending: Ending) => Result,
  ): Promise<Result> {
    const { trace } = this.compilation;
    const fail = (error: unknown) => conclude(this.end(what, failWith(messageOf(error))));
    try {
      const request = this.arguments.request();
      const running = trace.isOn
        ? inSection(trace, "LR", "PE", `Execution.${what}`, () => on.execute(request, options))
        : on.execute(request, options);
      return running.then((result) => conclude(this.end(what, conclusionOf(result))), fail);
    } catch (error) {
      return new Promise((resolve) => resolve(fail(error)));
    }
  }

  /** Records the result of the execution. */
  end(what: string, answer: Conclusion): Ending {
    const { log } = this.compilation;
    if (log.VLOG_IS_ON("EXECUTION")) log.VLOG("EXECUTION", endingText(what, answer));
    const { outputShapes, abandoned } = answer;
    const shapes = answer.status === ErrorStatus.NONE ? outputShapes : undefined;
    const misfit = this.arguments.end(shapes, this.settings.reusable, abandoned);
    this.compilation.giveBack();
    this.#state = "done";
    this.#conclusion = misfit === undefined ? answer : failWith(misfit);
    const { status, message } = this.#conclusion;
    if (status === ErrorStatus.NONE) return succeeded;
    const code = convertErrorStatusToResultCode(status);
    return { code, message: `${what}: ${message ?? `status ${errorStatusNames.get(status) ?? status}`}` };
  }

  /** The end of the last run. Throws BAD_STATE if there is none. */
  conclusion(what: string): Conclusion {
    if (this.#conclusion === undefined)
      this.#refuse(what, this.#state === "running" ? "; wait for its event first" : "");
    return this.#conclusion;
  }

  shapeAt(index: number, what: string): OutputShape {
    const shape = this.conclusion(what).outputShapes[index];
    this.arguments.factsAt("output", index, what);
    expect(shape !== undefined, ResultCode.BAD_STATE, () => `${what}: the execution failed`);
    return shape;
  }

  close(): void {
    if (this.#state === "running") {
      this.compilation.log.error("an execution was closed while it was running; it is not closed");
      return;
    }
    this.#state = "closed";
    this.#conclusion = undefined;
    this.#repeated?.close();
  }

  #begin(what: string): ExecutionTarget {
    this.expectReady(what);
    this.arguments.expectValues(what);
    return this.start(what);
  }

  /** The executor of `compute`. A signal cannot be given to a device's own reusable execution. */
  #executorOf(target: ExecutionTarget): Executing {
    if (!this.settings.reusable || this.settings.signal !== undefined) return target.preparedModel;
    return this.#repeated ?? { execute: (...run) => this.#repeat(target, run) };
  }

  async #repeat(target: ExecutionTarget, run: Parameters<Executing["execute"]>) {
    const { repeatOn } = await repeats();
    this.#repeated = repeatOn(target, this);
    return this.#repeated.execute(...run);
  }

  #refuse(what: string, hint = ""): never {
    throw new NeuralNetworksError(ResultCode.BAD_STATE, `${what}: the execution is ${this.#state}${hint}`);
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

const asItIs = (ending: Ending) => ending;

/** Throws the error of an execution that has failed. */
export function throwUnlessDone({ code, message }: Ending): void {
  if (code !== ResultCode.NO_ERROR) throw new NeuralNetworksError(code, message);
}
