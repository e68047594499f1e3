/**
 * Fenced executions on drivers without fences: waits for the fences, executes, and answers when the execution has
 * ended.
 */
import {
  ErrorStatus,
  type FencedExecuteOptions,
  type FencedResult,
  type FenceState,
  type Model,
  type Outcome,
  type PreparedModel,
  type Request,
  type SyncFence,
} from "@nnhal/types";
import { earlierDeadline, makeDeadline } from "@nnhal/utils";
import { requestIssues } from "@nnhal/validation";
import { usableFences } from "../fence/fence.ts";
import { failedFenced } from "../guard/failed.ts";
import { formatIssues } from "../guard/format-issues.ts";
import { failure, invalid } from "../guard/refusal.ts";
import { type AnswerLimits, answerInTime } from "../guard/wait.ts";

/** See the file's head. Without `model` (it came from a cache), only the driver checks the outputs. */
export async function executeBehindFences(
  preparedModel: PreparedModel,
  model: Model | undefined,
  request: Request,
  waitFor: readonly (SyncFence | null)[],
  { duration, ...options }: FencedExecuteOptions,
  limits: AnswerLimits,
): Promise<FencedResult> {
  const fences = usableFences(waitFor);
  if ("status" in fences) return failedFenced(fences);
  const issues = model === undefined ? [] : requestIssues(request, model, { allowUnspecifiedOutput: false });
  if (issues.length > 0) return failedFenced(invalid(`the request is not valid: ${formatIssues(issues)}`));
  const states = await answerInTime<readonly FenceState[] | Outcome>(
    {
      what: "executeFenced: waiting for fences",
      answer: (async () => Promise.all(fences.map((fence) => fence.wait())))(),
      deadline: options.deadline,
      answerFailure: (refusal) => refusal,
    },
    limits,
  );
  if ("status" in states) return failedFenced(states);
  const wrong = states.find((state) => state !== "SIGNALED");
  if (wrong !== undefined) return failedFenced(failure(`executeFenced: a fence waited for ended in state ${wrong}`));
  const deadline = earlierDeadline(options.deadline, makeDeadline(duration, limits.now()));
  const { status, message, timing } = await preparedModel.execute(request, {
    ...options,
    ...(deadline !== undefined && { deadline }),
  });
  if (status === ErrorStatus.OUTPUT_INSUFFICIENT_SIZE) {
    return failedFenced(failure(`executeFenced: ${message ?? "an output does not fit its buffer"}`));
  }
  if (status !== ErrorStatus.NONE) return failedFenced({ status, ...(message !== undefined && { message }) });
  return {
    status,
    syncFence: null,
    // The driver was called after the fences were signalled: both times are its own.
    callback: { getExecutionInfo: async () => ({ status, timingLaunched: timing, timingFenced: timing }) },
  };
}
