/**
 * A model that computes in a worker: its methods become messages. `serve` is the other end.
 */
import { check, NetworkError, type NetworkErrorCode } from "./error.ts";
import { type OpeningOptions, openLocalSession, type SessionOptions, type Stage } from "./local-session.ts";
import type { Port } from "./port.ts";
import type { Computed, Description, Session, Value } from "./session.ts";
import { messageOf } from "./text.ts";

/** What a session is asked. */
type Question =
  | { readonly ask: "open"; readonly bytes: Uint8Array; readonly options: SessionOptions }
  | { readonly ask: Exclude<keyof Session, "description">; readonly args: readonly unknown[] };

/** A message to the worker, and one from it. */
type Request = Question & { readonly id: number };
type Answer =
  | { readonly id: number; readonly result: unknown }
  | {
      readonly id: number;
      readonly code: NetworkErrorCode;
      readonly message: string;
      readonly problems: readonly string[];
    }
  | { readonly stage: Stage }
  | { readonly warning: string };

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

/** The memory of values that have one of their own. */
function wholeBuffers(values: readonly Value[]): readonly ArrayBuffer[] {
  return buffersOf(values.filter(({ bytes }) => bytes.buffer.byteLength === bytes.byteLength));
}

/** The memory that values lie in. */
function buffersOf(values: readonly Value[]): readonly ArrayBuffer[] {
  return [...new Set(values.flatMap(({ bytes: { buffer } }) => (buffer instanceof ArrayBuffer ? buffer : [])))];
}

/** The end of the worker: opens one model and answers for it. */
export function serve(port: Pick<Port, "listen" | "post">): void {
  let session: Session | undefined;
  const send = (answer: Answer, transfer: readonly ArrayBuffer[] = []) => port.post(answer, transfer);
  const answerTo = async (request: Request): Promise<unknown> => {
    if (request.ask === "open") {
      session = await openLocalSession(request.bytes, request.options, {
        onStage: (stage) => send({ stage }),
        onWarning: (warning) => send({ warning }),
      });
      return session.description;
    }
    check(session !== undefined, "FAILED", () => "the worker has no model");
    // The other end is a session, too, so the arguments are those of the method.
    const method = session[request.ask] as (...args: readonly unknown[]) => Promise<unknown>;
    return method.apply(session, [...request.args]);
  };
  port.listen(
    (message) => {
      // The other end is `openWorkerSession`.
      const request = message as Request;
      answerTo(request).then(
        (result) => {
          // The values of a run are new, and nothing here keeps them.
          const values = request.ask === "compute" ? (result as Computed).values : [];
          send({ id: request.id, result }, wholeBuffers(values));
        },
        (error: unknown) => {
          const isOwn = error instanceof NetworkError;
          const { code, problems } = isOwn ? error : { code: "FAILED" as const, problems: [] };
          send({ id: request.id, code, message: messageOf(error), problems });
        },
      );
    },
    () => {},
  );
}
