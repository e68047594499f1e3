/** The runners of a model: idle ones are taken and given back, and one that has failed permanently is replaced. */
import type { Clock } from "./clock.ts";
import { messageOf, RequestError } from "./errors.ts";
import type { Runner } from "./runner.ts";

/** Options of a pool. */
export interface RunnerPoolOptions {
  readonly clock: Clock;
  /** Opens another runner in place of one that has failed permanently. */
  reopen(): Promise<Runner>;
  onWarning(message: string): void;
}

/** The user of a pool. */
interface PoolUser {
  /** Returns true while it can need a runner. */
  isNeeded(): boolean;
  /** Called when no runner is left, and none can be opened at the moment. */
  onNoneLeft(reason: RequestError): void;
}

/** See the file's head. */
export interface RunnerPool {
  readonly hasIdle: boolean;
  take(): Runner | undefined;
  giveBack(runner: Runner): void;
  /** Closes a runner that has failed, and opens another one as soon as possible, unless none is needed any more. */
  replace(lost: Runner): Promise<void>;
  /** Closes all runners. */
  close(): Promise<void>;
}

/** Milliseconds before the next try to open a runner, longer each time. */
const retryDelays = [100, 200, 500, 1000, 2000, 5000];

export function createRunnerPool(
  runners: readonly Runner[],
  { clock, reopen, onWarning }: RunnerPoolOptions,
  { isNeeded, onNoneLeft }: PoolUser,
): RunnerPool {
  const idle: Runner[] = [...runners];
  const all = new Set(runners);
  /** Replacement runners that are being opened. */
  const openings = new Set<Promise<Runner>>();

  /** Opens a runner; undefined if none was needed any more when it was open. Rejects if it cannot be opened. */
  const openAnother = async (): Promise<Runner | undefined> => {
    const opening = reopen();
    openings.add(opening);
    const runner = await opening.finally(() => openings.delete(opening));
    if (isNeeded()) return runner;
    await runner.close().catch(() => {});
    return undefined;
  };

  return {
    get hasIdle() {
      return idle.length > 0;
    },
    take: () => idle.pop(),
    giveBack: (runner) => void idle.push(runner),
    async replace(lost) {
      all.delete(lost);
      await lost.close().catch(() => {});
      for (let round = 0; isNeeded(); round++) {
        try {
          const runner = await openAnother();
          if (runner === undefined) return;
          all.add(runner);
          idle.push(runner);
          return;
        } catch (error) {
          onWarning(`an instance that failed cannot be opened again: ${messageOf(error)}`);
          if (all.size === 0) onNoneLeft(new RequestError("unavailable", `the model has failed: ${messageOf(error)}`));
          await new Promise<void>((resolve) => {
            clock.after(retryDelays[Math.min(round, retryDelays.length - 1)] ?? 0, resolve);
          });
        }
      }
    },
    async close() {
      // `replace` closes them.
      await Promise.allSettled(openings);
      // A request that was given up can still compute: closing the runner waits for it.
      await Promise.all([...all].map((runner) => runner.close().catch(() => {})));
    },
  };
}
