/**
 * @nnhal/driver-core/guard: reading the answers of foreign devices, for those who call them. No call throws, no promise rejects,
 * and every answer keeps the rules of the HAL.
 */
export { readAllocation, readFencedResult } from "./answers.ts";
export { attempt, attemptAsync, closeSafely, failureOf } from "./attempt.ts";
export { CheckedAnswer } from "./checked-answer.ts";
export { type AnswerReader, answerReader, type ReadOptions } from "./execution-answer.ts";
export {
  failedAllocation,
  failedBurst,
  failedExecution,
  failedFenced,
  failedInfo,
  failedPreparation,
  failedSupport,
} from "./failed.ts";
export { guardFence, isFence } from "./fence.ts";
export { type CallOptions, type Guard, timedGuard, untimedGuard } from "./guard.ts";
export { guardQueries, type Queries, type QueryOptions, readSupportedOperations } from "./queries.ts";
export { failure, messageOf, type Refusal } from "./refusal.ts";
export { readReusable } from "./reusable-answer.ts";
export {
  type AnswerLimits,
  type AnswerOptions,
  deadlineGrace,
  type LogSink,
} from "./wait.ts";
