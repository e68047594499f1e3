/**
 * Event: what an execution that was started leaves to wait for (NNAPI: ANeuralNetworksEvent).
 */
import { createFence } from "@nnhal/driver-core/fence";
import type { SyncFence } from "@nnhal/types";
import { describe, expectGiven } from "./given.ts";
import { guardFence, isFence } from "./guard/fence.ts";
import { expect, NeuralNetworksError, ResultCode } from "./result-code.ts";

/** How an execution ended. `message`: where the code is not NO_ERROR. */
export interface Ending {
  readonly code: ResultCode;
  readonly message: string;
}

/** What an event is made of. */
export interface EventSource {
  /** Never rejects. */
  readonly ended: Promise<Ending>;
  /** Present if a sync fence is what tells of the end. It neither throws nor rejects. */
  readonly syncFence?: SyncFence;
  /** What a caller gave, if that is behind the sync fence. */
  readonly given?: SyncFence;
}

/**
 * An event. Any number of callers may wait for it, any number of times.
 *
 * It is not a promise and holds no result: `await execution.startCompute()` waits for nothing, and
 * `await execution.startCompute().wait()` does. Until then outputs have no value that can be relied on, and the results of the
 * execution are BAD_STATE.
 *
 * Throws a NeuralNetworksError: BAD_STATE after `close`.
 */
export class Event {
  readonly #ended: Promise<Ending>;
  readonly #syncFence: SyncFence | undefined;
  readonly #given: SyncFence | undefined;
  #own: SyncFence | undefined;
  #isClosed = false;

  /** For this package: events come of executions, and of `createFromSyncFence`. */
  constructor({ ended, syncFence, given = syncFence }: EventSource) {
    this.#ended = ended;
    this.#syncFence = syncFence;
    this.#given = given;
  }

  /** An event for a fence from elsewhere (NNAPI: createFromSyncFenceFd). Throws BAD_DATA for what is not a fence. */
  static createFromSyncFence(fence: SyncFence): Event {
    const what = "Event.createFromSyncFence";
    expectGiven(fence, what, "fence");
    expect(isFence(fence), ResultCode.BAD_DATA, () => `${what}: fence is ${describe(fence)}, not a sync fence`);
    const syncFence = guardFence(fence);
    const ended = syncFence
      .wait()
      .then((state) =>
        state === "SIGNALED"
          ? { code: ResultCode.NO_ERROR, message: "" }
          : { code: ResultCode.OP_FAILED, message: `the sync fence ended in state ${state}` },
      );
    return new Event({ ended, syncFence, given: fence });
  }

  /** Resolves when the execution has ended, with success; rejects with the NeuralNetworksError that it ended with. */
  async wait(): Promise<void> {
    this.#expectOpen("wait");
    const { code, message } = await this.#ended;
    if (code !== ResultCode.NO_ERROR) throw new NeuralNetworksError(code, message);
  }

  /**
   * The fence that tells of the end (NNAPI: getSyncFenceFd). Throws OP_FAILED where none does: for events of `startCompute`,
   * and of executions that had ended before they could be called arranged.
   */
  getSyncFence(): SyncFence {
    const what = "getSyncFence";
    this.#expectOpen(what);
    expect(this.#given !== undefined, ResultCode.OP_FAILED, () => `${what}: no sync fence is behind the event`);
    return this.#given;
  }

  /** Ends the event, and resolves once the execution has ended, however it did. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** For this package: a fence for executions that depend on the event. */
  dependency(what: string): SyncFence {
    this.#expectOpen(what);
    if (this.#syncFence !== undefined) return this.#syncFence;
    this.#own ??= fenceFor(this.#ended);
    return this.#own;
  }

  /** For this package: resolves when the execution has ended, however it did. */
  async settled(): Promise<void> {
    await this.#ended;
  }

  #expectOpen(what: string): void {
    expect(!this.#isClosed, ResultCode.BAD_STATE, () => `${what}: the event is closed`);
  }
}

function fenceFor(ended: Promise<Ending>): SyncFence {
  const { fence, signal, fail } = createFence();
  void ended.then(({ code }) => (code === ResultCode.NO_ERROR ? signal() : fail()));
  return fence;
}
