/**
 * A model that computes in a worker: its methods become messages. `serve` is the other end.
 */
import type { DiffReport } from "@nnhal/diff";
import { buffersOf, isDetached } from "./bytes.ts";
import { check, NetworkError } from "./error.ts";
import type { OpeningOptions, OpeningSession } from "./local-session.ts";
import type { Port } from "./port.ts";
import type { Computed, Description, DiffAsked, Session, Value } from "./session.ts";
import { messageOf } from "./text.ts";
import { kindOf } from "./values.ts";
import { type Answer, type Question, type Request, wholeBuffers } from "./worker-messages.ts";

/** Opens a model in a worker. Rejects as `openLocalSession` does. `transfer`: memory of the options that moves to the worker. */
export async function openWorkerSession(
  start: () => Port,
  bytes: Uint8Array,
  options: OpeningSession,
  { onStage, onWarning, onEngineWarning, signal }: OpeningOptions,
  transfer: readonly ArrayBuffer[] = [],
): Promise<Session> {
  const { devices, engines = [], extensions = [] } = options;
  const areNames = (list: readonly unknown[]) => list.every((each) => typeof each === "string");
  const isCopied = areNames(extensions) && areNames(engines) && (typeof devices !== "object" || areNames(devices));
  check(
    isCopied,
    "BAD_OPTION",
    () =>
      "worker: engines, devices and extensions are passed to a worker by name, such as @nnhal/extension-mediapipe; a worker of your own has others by `provide` of nnhal/worker",
  );
  check(
    typeof start === "function",
    "BAD_OPTION",
    () => `worker: expected true, false or a function, got ${kindOf(start)}`,
  );
  const port = start();
  const { ask, lose, isLost } = connect(port, { onStage, onWarning, onEngineWarning });
  const call =
    <Args extends readonly unknown[], Result>(method: Exclude<keyof Session, "description" | "imported">) =>
    (...args: Args): Promise<Result> =>
      ask<Result>({ ask: method, args });
  const abort = () => lose(new Error("it was stopped"));
  signal?.addEventListener("abort", abort, { once: true });
  try {
    const description = await ask<Description>({ ask: "open", bytes, options }, transfer);
    return {
      description,
      // The worker cannot write into memory of this thread.
      compute(inputs, _, asked) {
        const { signal, ...rest } = asked ?? {};
        const compute = (values: readonly Value[], transfer: readonly ArrayBuffer[]) =>
          ask<Computed>({ ask: "compute", args: [values, [], rest] }, transfer, signal);
        // Another run may have taken the memory since these values were made.
        const isGone = inputs.some(({ bytes }) => isDetached(bytes.buffer));
        if (isGone)
          return Promise.reject(
            new NetworkError("WRONG_SIZE", "the memory of an input has been transferred by another run"),
          );
        if (asked?.transfer) return compute(inputs, buffersOf(inputs));
        const own = inputs.map(copyOwnBytes);
        // Memory that is copied here moves to the worker; the rest is copied on the way.
        const copies = own.filter((value, place) => value.bytes !== inputs[place]?.bytes);
        return compute(own, wholeBuffers(copies));
      },
      async diff({ signal, onProgress, ...asked }) {
        const answer = ask<DiffReport>({ ask: "diff", args: [asked] }, [], signal, onProgress);
        // The worker cannot send the reason.
        return answer.catch((error) => {
          signal?.throwIfAborted();
          throw error;
        });
      },
      explain: call("explain"),
      profile: call("profile"),
      readState: call("readState"),
      writeState: call("writeState"),
      async close() {
        if (!isLost()) await ask({ ask: "close", args: [] }).catch(() => {});
        lose(new NetworkError("CLOSED", "the model is closed"));
        await port.end();
      },
    };
  } catch (error) {
    await port.end();
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener("abort", abort);
  }
}

/** The questions to a worker, and its answers. */
interface Connection {
  /** Asks, and resolves to the answer. Rejects with a NetworkError. */
  ask<Result>(
    question: Question,
    transfer?: readonly ArrayBuffer[],
    signal?: AbortSignal,
    onProgress?: DiffAsked["onProgress"],
  ): Promise<Result>;
  /** Rejects all questions, those to come too. */
  lose(error: Error): void;
  isLost(): boolean;
}

function connect(port: Port, { onStage, onWarning, onEngineWarning }: Omit<OpeningOptions, "signal">): Connection {
  const waiting = new Map<
    number,
    {
      readonly resolve: (value: unknown) => void;
      readonly reject: (error: unknown) => void;
      readonly onProgress?: DiffAsked["onProgress"];
    }
  >();
  let lost: NetworkError | undefined;
  let next = 0;
  const lose = (error: Error) => {
    lost ??=
      error instanceof NetworkError
        ? error
        : new NetworkError("FAILED", `the worker failed: ${error.message}`, { cause: error });
    for (const { reject } of waiting.values()) reject(lost);
    waiting.clear();
  };
  port.listen(
    (message) => {
      // The other end is `serve`.
      const answer = message as Answer;
      if ("stage" in answer) return onStage?.(answer.stage);
      if ("warning" in answer) return onWarning?.(answer.warning);
      if ("engineWarning" in answer) return onEngineWarning?.(answer.engineWarning);
      const asked = waiting.get(answer.id);
      if ("done" in answer) return asked?.onProgress?.(answer.done, answer.total);
      waiting.delete(answer.id);
      if (waiting.size === 0) port.letGo();
      if ("code" in answer) asked?.reject(new NetworkError(answer.code, answer.message, { problems: answer.problems }));
      else asked?.resolve(answer.result);
    },
    lose,
    () => lose(new Error("an answer of it cannot be read")),
  );
  const ask = <Result>(
    question: Question,
    transfer: readonly ArrayBuffer[] = [],
    signal?: AbortSignal,
    onProgress?: DiffAsked["onProgress"],
  ): Promise<Result> => {
    if (lost !== undefined) return Promise.reject(lost);
    const id = next;
    try {
      port.post({ ...question, id } satisfies Request, transfer);
    } catch (error) {
      // Nothing has been sent: the worker counts only what it gets.
      const message = `the values cannot be passed to the worker: ${messageOf(error)}`;
      return Promise.reject(new NetworkError("WRONG_VALUE", message, { cause: error }));
    }
    next++;
    const stop = () => {
      if (waiting.has(id)) port.post({ ask: "stop", target: id, id: next++ } satisfies Request, []);
    };
    signal?.addEventListener("abort", stop, { once: true });
    const answer = new Promise<Result>((resolve, reject) => {
      // `serve` answers with what the session's method of that name returns.
      waiting.set(id, { resolve: resolve as (value: unknown) => void, reject, onProgress });
      port.hold();
    });
    return answer.finally(() => signal?.removeEventListener("abort", stop));
  };
  return { ask, lose, isLost: () => lost !== undefined };
}

/** A value without the rest of the memory that its bytes lie in, all of which a message would copy. */
function copyOwnBytes({ bytes, shape }: Value): Value {
  return { bytes: bytes.length === bytes.buffer.byteLength ? bytes : bytes.slice(), shape };
}
