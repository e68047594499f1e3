/**
 * Event: the end of an execution that was started, to wait for (NNAPI: ANeuralNetworksEvent).
 */
import { createFence } from "@nnhal/driver-core/fence";
import { guardFence, isFence } from "@nnhal/driver-core/guard";
import type { SyncFence } from "@nnhal/types";
import { describe, expectGiven } from "./given.ts";
import { expect, NeuralNetworksError, ResultCode } from "./result-code.ts";

/** The end of an execution. `message`: only if the code is not NO_ERROR. */
export interface Ending {
  readonly code: ResultCode;
  readonly message: string;
}

/** The parts of an event. */
export interface EventSource {
  /** Never rejects. */
  readonly ended: Promise<Ending>;
  /** Present if a sync fence reports the end. It neither throws nor rejects. */
  readonly syncFence?: SyncFence;
  /** The caller's own fence behind the sync fence; absent if there is none. */
  readonly given?: SyncFence;
}

/**
 * An event. Any number of callers may wait for it, any number of times.
 *
 * It is not a promise and holds no result: `await execution.startCompute().wait()` waits for the execution. Without `wait` it would go
 * on before there are results, so `await` of an event of `startCompute` rejects with BAD_STATE; so does an async function that
 * returns one by itself, rather than as a part of an object. Until the end the values of outputs are undefined, and reading a result of
 * the execution throws BAD_STATE.
 *
 * Throws a NeuralNetworksError: BAD_STATE after `close`.
 */
export class Event {
  readonly #ended: Promise<Ending>;
  readonly #syncFence: SyncFence | undefined;
  readonly #given: SyncFence | undefined;
  #own: SyncFence | undefined;
  #isClosed = false;

  /** For this package: executions and `createFromSyncFence` make events. */
  constructor({ ended, syncFence, given = syncFence }: EventSource) {
    this.#ended = ended;
    this.#syncFence = syncFence;
    this.#given = given;
  }

  /** Makes an event of a foreign fence (NNAPI: createFromSyncFenceFd). Throws BAD_DATA for a value that is not a fence. */
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

  /** Resolves when the execution has succeeded. Rejects with a NeuralNetworksError when it has failed. */
  async wait(): Promise<void> {
    this.#expectOpen("wait");
    const { code, message } = await this.#ended;
    if (code !== ResultCode.NO_ERROR) throw new NeuralNetworksError(code, message);
  }

  /**
   * The fence that reports the end (NNAPI: getSyncFenceFd). Throws OP_FAILED if there is none: for events of `startCompute`, and
   * of executions that had ended before the event was made.
   */
  getSyncFence(): SyncFence {
    const what = "getSyncFence";
    this.#expectOpen(what);
    expect(this.#given !== undefined, ResultCode.OP_FAILED, () => `${what}: no sync fence is behind the event`);
    return this.#given;
  }

  /** Closes the event. Resolves when the execution has ended, successfully or not. */
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

  /** For this package: resolves when the execution has ended, successfully or not. */
  async settle(): Promise<void> {
    await this.#ended;
  }

  #expectOpen(what: string): void {
    expect(!this.#isClosed, ResultCode.BAD_STATE, () => `${what}: the event is closed`);
  }
}

/** The event of `startCompute`. Awaiting the event instead of its end is a mistake that is told. */
export function startedEvent(ended: Promise<Ending>): Event {
  const event = new Event({ ended });
  // `await` asks each object for a method of this name.
  // biome-ignore lint/suspicious/noThenProperty: it makes no promise of the event, it refuses to be taken for one
  return Object.defineProperty(event, "then", {
    get() {
      const what = "startCompute: its event is not a promise";
      throw new NeuralNetworksError(
        ResultCode.BAD_STATE,
        `${what}; await execution.startCompute().wait() waits for the end`,
      );
    },
  });
}

function fenceFor(ended: Promise<Ending>): SyncFence {
  const { fence, signal, fail } = createFence();
  void ended.then(({ code }) => (code === ResultCode.NO_ERROR ? signal() : fail()));
  return fence;
}
