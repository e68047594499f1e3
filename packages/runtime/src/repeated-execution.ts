/**
 * Executions that are computed again and again: the device sets them up once, if it can. A bundle for a browser loads this when an
 * application uses them.
 */
import { closeSafely } from "@nnhal/driver-core/guard";
import type { ReusableExecution } from "@nnhal/types";
import { whenCollected } from "@nnhal/utils";
import type { Executing, ExecutionTarget } from "./compiled-model.ts";
import { isRecoverable } from "./plan/recoverable.ts";

/** An executor that is freed with the execution that has it. */
export interface RepeatedExecutor extends Executing {
  close(): void;
}

/**
 * The executor of one request. The first run sets it up; the settings of others are the same, except for the deadline. `owner`: the
 * execution, which it does not keep alive.
 */
export function repeatOn({ whole, preparedModel, canFallBack }: ExecutionTarget, owner: object): RepeatedExecutor {
  /** Null: the device cannot set it up. */
  let own: ReusableExecution | null | undefined;
  let forget = () => {};
  const setUp: Executing["execute"] = async (request, options) => {
    const { deadline: _, ...fixed } = options;
    const result = await whole?.createReusableExecution?.(request, fixed);
    own = result?.execution ?? null;
    if (own !== null) forget = whenCollected(owner, own, closeSafely);
    return execute(request, options);
  };
  const execute: Executing["execute"] = (request, options) => {
    if (own === undefined) return setUp(request, options);
    if (own === null) return preparedModel.execute(request, options);
    const running = own.execute(options.deadline === undefined ? undefined : { deadline: options.deadline });
    if (!canFallBack) return running;
    return running.then((result) => (isRecoverable(result.status) ? preparedModel.execute(request, options) : result));
  };
  return {
    execute,
    close() {
      forget();
      if (own) closeSafely(own);
      own = null;
    },
  };
}
