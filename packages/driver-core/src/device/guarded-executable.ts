/**
 * An executable of a backend, guarded: no method throws or rejects, every answer is checked, and nothing is waited for beyond its
 * deadline. What an engine does after it has been given up on reaches neither the caller's memory nor the caller.
 */
import type {
  CacheBlobs,
  Executable,
  GraphView,
  InputBuffer,
  OutputBuffer,
  RunContext,
  RunResult,
} from "@nnhal/backend";
import { elementAt } from "@nnhal/operations";
import { ErrorStatus, type OutputShape } from "@nnhal/types";
import { checkResult, type ExpectedOutput, show } from "@nnhal/validation";
import { sizeOf } from "../domains/device-buffer.ts";
import type { Timer } from "../schedule/timer.ts";
import type { Halting } from "./client.ts";
import { failure, messageOf, type Refusal } from "./refusal.ts";
import { missedDeadline, type Patience, settleWithin, type Waited, whenSettled } from "./settle-within.ts";

/** The outcome of a run, which can be believed. */
export interface RunAnswer extends RunResult {
  /** Present if the engine was given up on: resolves when it has let go of the run's inputs and places. */
  readonly underWay?: Promise<void>;
}

/** See the file's head. */
export interface GuardedExecutable {
  /** Runs. If there is a deadline, the engine writes outputs into bytes of its own, which are copied when it has ended in time. */
  run(
    inputs: readonly (InputBuffer | undefined)[],
    outputs: readonly OutputBuffer[],
    context: RunContext,
    client: Halting,
  ): RunAnswer | Promise<RunAnswer>;
  /** What the backend keeps of it; undefined: nothing. */
  serialize(patience: Patience): Promise<CacheBlobs | Refusal | undefined>;
  /** Undefined: it has no scratch memory. */
  readonly releaseScratch: (() => void) | undefined;
  /** Frees it, as soon as no run that was given up on is under way. */
  close(): void;
}

/** What a guard needs. */
export interface GuardOptions {
  readonly timer: Timer;
  /** Takes what a backend does against the contract. */
  readonly complain: (problem: string) => void;
  /** Told of each run that was given up on. It does not reject. */
  readonly onAbandoned: (underWay: Promise<void>) => void;
}

const missed = "the deadline passed during the execution";

/** Guards an executable. */
export function guardExecutable(
  executable: Executable,
  { operands, outputs: outputIndexes }: Pick<GraphView, "operands" | "outputs">,
  { timer, complain, onAbandoned }: GuardOptions,
): GuardedExecutable {
  const types = outputIndexes.map((index) => operands[index]?.type);
  let abandoned = 0;
  let isClosed = false;

  const attempt = (what: string, work: () => void) => {
    try {
      work();
    } catch (error) {
      complain(`${what}: the backend threw: ${messageOf(error)}`);
    }
  };
  const free = () => attempt("close", () => executable.close());
  const abandon = (late: Promise<unknown>): Promise<void> => {
    abandoned++;
    const underWay = late.then(() => {
      abandoned--;
      if (abandoned === 0 && isClosed) free();
    });
    onAbandoned(underWay);
    return underWay;
  };
  const failed = (error: unknown): RunAnswer => {
    const message = `executing: ${messageOf(error)}`;
    complain(message);
    return { ...failure(message), outputShapes: [] };
  };

  /** What an engine has answered, checked. `given`: what it wrote to, in place of `outputs`. */
  const answerOf = (
    answer: RunResult,
    outputs: readonly OutputBuffer[],
    given: readonly OutputBuffer[],
    { now, deadline }: RunContext,
  ): RunAnswer => {
    const checks: ExpectedOutput[] = [];
    for (let index = 0; index < outputs.length; index++) checks.push(expected(elementAt(outputs, index), index));
    const checked = checkResult(answer, checks);
    if ("issue" in checked) {
      const { path, message } = checked.issue;
      const problem = `executing: the backend's answer is not valid: ${path}: ${message}`;
      complain(problem);
      return { ...failure(problem), outputShapes: [] };
    }
    const { status, outputShapes } = checked;
    if (status !== ErrorStatus.NONE && status !== ErrorStatus.OUTPUT_INSUFFICIENT_SIZE) return checked;
    if (deadline !== undefined && now() >= deadline) return { ...missedDeadline(missed), outputShapes: [] };
    if (given !== outputs) copyResults(outputShapes, given, outputs);
    if (status !== ErrorStatus.NONE) return checked;
    const timeOnDevice: unknown = answer.timeOnDevice;
    return typeof timeOnDevice === "bigint" && timeOnDevice >= 0n ? { ...checked, timeOnDevice } : checked;
  };
  const expected = ({ bytes, dimensions, buffer, hardwareBuffer }: OutputBuffer, index: number): ExpectedOutput => {
    const type = types[index];
    return buffer === undefined && hardwareBuffer === undefined
      ? { type, dimensions, room: bytes.length }
      : { type, dimensions };
  };
  const copyResults = (shapes: readonly OutputShape[], from: readonly OutputBuffer[], to: readonly OutputBuffer[]) => {
    for (let index = 0; index < to.length; index++) {
      const { bytes, hardwareBuffer } = elementAt(to, index);
      const type = types[index];
      if (!elementAt(shapes, index).isSufficient || bytes.length === 0) continue;
      const isWhole = hardwareBuffer !== undefined || type === undefined;
      const size = isWhole ? bytes.length : sizeOf(type, elementAt(shapes, index).dimensions, true);
      bytes.set(elementAt(from, index).bytes.subarray(0, size));
    }
  };

  const waitFor = (
    answer: PromiseLike<RunResult>,
    outputs: readonly OutputBuffer[],
    given: readonly OutputBuffer[],
    context: RunContext,
    client: Halting,
  ): Promise<RunAnswer> => {
    const { now, deadline } = context;
    const promise = answer instanceof Promise ? answer : Promise.resolve(answer);
    const answerTo = (waited: Waited<RunResult>): RunAnswer => {
      if ("error" in waited) return failed(waited.error);
      if ("refusal" in waited) return { ...waited.refusal, outputShapes: [], underWay: abandon(waited.late) };
      try {
        return answerOf(waited.value, outputs, given, context);
      } catch (error) {
        return failed(error);
      }
    };
    return new Promise((resolve) => {
      whenSettled<RunResult>(promise, { now, timer, deadline, client, missed }, (waited) => resolve(answerTo(waited)));
    });
  };

  return {
    run(inputs, outputs, context, client) {
      try {
        const given = context.deadline === undefined ? outputs : outputs.map(roomOfItsOwn);
        const answer = executable.run(inputs, given, context);
        return isPromise(answer)
          ? waitFor(answer, outputs, given, context, client)
          : answerOf(answer, outputs, given, context);
      } catch (error) {
        return failed(error);
      }
    },
    async serialize(patience) {
      try {
        const blobs = executable.serialize?.();
        if (blobs === undefined) return undefined;
        const waited = await settleWithin<CacheBlobs>(Promise.resolve(blobs), patience);
        if ("refusal" in waited) return waited.refusal;
        if ("error" in waited) return failure(messageOf(waited.error));
        return soundBlobs(waited.value);
      } catch (error) {
        return failure(messageOf(error));
      }
    },
    releaseScratch: hasScratch(executable)
      ? () => {
          if (abandoned === 0) attempt("release scratch memory", () => executable.releaseScratch?.());
        }
      : undefined,
    close() {
      if (isClosed) return;
      isClosed = true;
      if (abandoned === 0) free();
    },
  };
}

/** An output that the engine may write to even after it was given up on. */
function roomOfItsOwn(output: OutputBuffer): OutputBuffer {
  const { bytes, hardwareBuffer } = output;
  if (bytes.length === 0) return output;
  // Of a hardware buffer, the engine may leave some bytes as they are.
  return { ...output, bytes: hardwareBuffer === undefined ? new Uint8Array(bytes.length) : new Uint8Array(bytes) };
}

function isPromise(answer: RunResult | PromiseLike<RunResult>): answer is PromiseLike<RunResult> {
  return answer instanceof Promise || (typeof answer === "object" && answer !== null && "then" in answer);
}

function hasScratch(executable: Executable): boolean {
  try {
    return typeof executable.releaseScratch === "function";
  } catch {
    return false;
  }
}

function soundBlobs(blobs: CacheBlobs): CacheBlobs | Refusal {
  const { model, data } = blobs;
  const taken = { model: bytesIn(model), data: bytesIn(data) };
  const { model: models, data: datas } = taken;
  if (models === undefined || datas === undefined) {
    return failure(`the backend serialised to ${show(blobs)} where lists of Uint8Array are needed`);
  }
  return { model: models, data: datas };
}

function bytesIn(list: unknown): Uint8Array[] | undefined {
  if (!Array.isArray(list)) return undefined;
  const taken: Uint8Array[] = [];
  for (const bytes of list) {
    if (!(bytes instanceof Uint8Array)) return undefined;
    taken.push(bytes);
  }
  return taken;
}
