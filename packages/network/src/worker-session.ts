/**
 * A model that computes in a worker: its methods become messages. `serve` is the other end.
 */
import { check, NetworkError } from "./error.ts";
import type { OpeningOptions, SessionOptions } from "./local-session.ts";
import type { Port } from "./port.ts";
import type { Description, Session, Value } from "./session.ts";
import { type Answer, buffersOf, type Question, type Request, wholeBuffers } from "./worker-messages.ts";

/** Opens a model in a worker. Rejects as `openLocalSession` does. */
export async function openWorkerSession(
  start: () => Port,
  bytes: Uint8Array,
  options: SessionOptions,
  { onStage, onWarning, signal }: OpeningOptions,
): Promise<Session> {
  const { devices, engines = [], extensions = [] } = options;
  const areNames = (list: readonly unknown[]) => list.every((each) => typeof each === "string");
  const isCopied = extensions.length === 0 && areNames(engines) && (typeof devices !== "object" || areNames(devices));
  check(
    isCopied,
    "BAD_OPTION",
    () => "worker: only names of engines and devices, and no extensions, can be passed to a worker",
  );
  const port = start();
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: unknown): void }>();
  let lost: NetworkError | undefined;
  let next = 0;
  const lose = (error: Error) => {
    lost ??= new NetworkError("FAILED", `the worker failed: ${error.message}`, { cause: error });
    for (const { reject } of waiting.values()) reject(lost);
    waiting.clear();
  };
  port.listen((message) => {
    // The other end is `serve`.
    const answer = message as Answer;
    if ("stage" in answer) return onStage?.(answer.stage);
    if ("warning" in answer) return onWarning?.(answer.warning);
    const asked = waiting.get(answer.id);
    waiting.delete(answer.id);
    if (waiting.size === 0) port.letGo();
    if ("code" in answer) asked?.reject(new NetworkError(answer.code, answer.message, { problems: answer.problems }));
    else asked?.resolve(answer.result);
  }, lose);
  const ask = <Result>(question: Question, transfer: readonly ArrayBuffer[] = []): Promise<Result> =>
    new Promise<Result>((resolve, reject) => {
      if (lost !== undefined) return reject(lost);
      const id = next++;
      // `serve` answers with what the session's method of that name returns.
      waiting.set(id, { resolve: resolve as (value: unknown) => void, reject });
      port.hold();
      port.post({ ...question, id } satisfies Request, transfer);
    });
  const call =
    <Args extends readonly unknown[], Result>(method: Exclude<keyof Session, "description">) =>
    (...args: Args): Promise<Result> =>
      ask<Result>({ ask: method, args });
  const abort = () => lose(new Error("it was stopped"));
  signal?.addEventListener("abort", abort, { once: true });
  try {
    const description = await ask<Description>({ ask: "open", bytes, options });
    return {
      description,
      // Memory of this thread is of no use to the worker.
      compute(inputs, _, asked) {
        if (asked?.transfer) return ask({ ask: "compute", args: [inputs, [], asked] }, buffersOf(inputs));
        const own = inputs.map(alone);
        // What is copied here moves to the worker; the rest is copied on the way.
        const copies = own.filter((value, place) => value.bytes !== inputs[place]?.bytes);
        return ask({ ask: "compute", args: [own, [], asked] }, wholeBuffers(copies));
      },
      explain: call("explain"),
      profile: call("profile"),
      readState: call("readState"),
      writeState: call("writeState"),
      async close() {
        if (lost === undefined) await ask({ ask: "close", args: [] }).catch(() => {});
        lost ??= new NetworkError("CLOSED", "the model is closed");
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

/** A value without the rest of the memory that its bytes lie in, all of which a message would copy. */
function alone({ bytes, shape }: Value): Value {
  return { bytes: bytes.length === bytes.buffer.byteLength ? bytes : bytes.slice(), shape };
}
