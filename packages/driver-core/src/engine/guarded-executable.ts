/**
 * A guard around a backend's executable: no method throws or rejects, every answer is checked, and every wait ends at
 * its deadline. A run that was given up on cannot change the caller's memory.
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
import { type AnyOperandType, elementAt, namedFacts } from "@nnhal/operations";
import { ErrorStatus, type OutputShape } from "@nnhal/types";
import type { Timer } from "@nnhal/utils/time";
import { checkResult, type ExpectedOutput, show } from "@nnhal/validation";
import { failure, messageOf, type Refusal } from "../guard/refusal.ts";
import type { Halting } from "./client.ts";
import { missedDeadline, type Patience, settleWithin, type Waited, whenSettled } from "./settle-within.ts";
import { sizeOf } from "./value-size.ts";

/** The checked outcome of a run. */
export interface RunAnswer extends RunResult {
  /** Present if the run was given up on: resolves when the engine no longer uses its inputs and places. */
  readonly underWay?: Promise<void>;
}

/** See the file's head. */
export interface GuardedExecutable {
  /**
   * Runs the executable. With a deadline, the engine writes outputs into separate bytes, which are copied if it ends in
   * time.
   */
  run(
    inputs: readonly (InputBuffer | undefined)[],
    outputs: readonly OutputBuffer[],
    context: RunContext,
    client: Halting,
  ): RunAnswer | Promise<RunAnswer>;
  /** The serialised form; undefined if the backend has none. */
  serialize(patience: Patience): Promise<CacheBlobs | Refusal | undefined>;
  /** Undefined if it has no scratch memory. */
  readonly releaseScratch: (() => void) | undefined;
  /** Frees the executable when the last run that was given up on has ended. */
  close(): void;
}

/** Parameters of a guard. */
export interface GuardOptions {
  readonly timer: Timer;
  /** Receives a message for each breach of the contract. */
  readonly complain: (problem: string) => void;
  /** Called for each run that was given up on, with a promise that never rejects. */
  readonly onAbandoned: (underWay: Promise<void>) => void;
}

const missed = "the deadline passed during the execution";

/** Guards an executable. */
export function guardExecutable(
  executable: Executable,
  { operands, outputs: outputIndexes }: Pick<GraphView, "operands" | "outputs">,
  { timer, complain, onAbandoned }: GuardOptions,
): GuardedExecutable {
  const checkAnswer = answerCheck(
    outputIndexes.map((index) => operands[index]?.type),
    complain,
  );
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
  const fail = (error: unknown): RunAnswer => {
    const message = `executing: ${messageOf(error)}`;
    complain(message);
    return { ...failure(message), outputShapes: [] };
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
    return new Promise((resolve) => {
      whenSettled<RunResult>(promise, { now, timer, deadline, client, missed }, (waited) =>
        resolve(answerTo(waited, outputs, given, context)),
      );
    });
  };
  const answerTo = (
    waited: Waited<RunResult>,
    outputs: readonly OutputBuffer[],
    given: readonly OutputBuffer[],
    context: RunContext,
  ): RunAnswer => {
    if ("error" in waited) return fail(waited.error);
    if ("refusal" in waited) return { ...waited.refusal, outputShapes: [], underWay: abandon(waited.late) };
    try {
      return checkAnswer(waited.value, outputs, given, context);
    } catch (error) {
      return fail(error);
    }
  };

  return {
    run(inputs, outputs, context, client) {
      try {
        const given = context.deadline === undefined ? outputs : outputs.map(copyOutput);
        const answer = executable.run(inputs, given, context);
        return isPromise(answer)
          ? waitFor(answer, outputs, given, context, client)
          : checkAnswer(answer, outputs, given, context);
      } catch (error) {
        return fail(error);
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

/**
 * Returns a check of an engine's answers for outputs of some types, which copies what the engine wrote elsewhere. Breaches of the
 * contract become failures, and are complained of.
 */
function answerCheck(types: readonly (AnyOperandType | undefined)[], complain: GuardOptions["complain"]) {
  const facts = types.map((type) => type && namedFacts(type));
  const computeExpected = (
    { bytes, dimensions, buffer, hardwareBuffer }: OutputBuffer,
    index: number,
  ): ExpectedOutput => {
    const isLengthKnown = buffer === undefined && hardwareBuffer === undefined;
    return isLengthKnown
      ? { facts: facts[index], dimensions, available: bytes.length }
      : { facts: facts[index], dimensions };
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
  /** `given`: the outputs that the engine wrote to, in place of `outputs`. */
  return (
    answer: RunResult,
    outputs: readonly OutputBuffer[],
    given: readonly OutputBuffer[],
    { now, deadline }: RunContext,
  ): RunAnswer => {
    const checks = outputs.map(computeExpected);
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
}

/** An output that the engine can write to even after the run was given up on. */
function copyOutput(output: OutputBuffer): OutputBuffer {
  const { bytes, hardwareBuffer } = output;
  if (bytes.length === 0) return output;
  // The engine can leave some bytes of a hardware buffer unchanged.
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
    return failure(`serialising: expected lists of Uint8Array from the backend, got ${show(blobs)}`);
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
