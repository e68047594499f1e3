/**
 * The end of a worker. It contains nothing that starts workers: bundlers would put the worker into itself.
 */
import { check, NetworkError } from "./error.ts";
import { type OpeningSession, openLocalSession, type SessionOptions } from "./local-session.ts";
import type { Port } from "./port.ts";
import type { Computed, Session } from "./session.ts";
import { messageOf } from "./text.ts";
import { type Answer, type Request, wholeBuffers } from "./worker-messages.ts";

/** Engines and extensions that a worker has by itself, because a message cannot carry them. */
export interface Provided {
  /** For a model whose `load` names no engines. See `LoadOptions`. */
  readonly engines?: SessionOptions["engines"];
  /** Besides those that `load` names. See `LoadOptions`. */
  readonly extensions?: SessionOptions["extensions"];
}

let provided: Provided = {};

/**
 * Gives the models of this worker engines and extensions. A worker of your own calls it while its module is evaluated, before `serve` has a
 * question to answer; in a browser there is no other way to them, since names mean nothing there.
 */
export function provide(given: Provided): void {
  provided = { ...provided, ...given };
}

/** Options of `load` with what this worker has by itself. */
function withProvided({ engines = provided.engines, extensions = [], ...options }: OpeningSession): OpeningSession {
  return { ...options, ...(engines && { engines }), extensions: [...extensions, ...(provided.extensions ?? [])] };
}

/** Opens one model, and answers for it. */
export function serve(port: Pick<Port, "listen" | "post">): void {
  let session: Session | undefined;
  const computing = new Map<number, AbortController>();
  const send = (answer: Answer, transfer: readonly ArrayBuffer[] = []) => port.post(answer, transfer);
  const stoppable = async <Result>(id: number, work: (signal: AbortSignal) => Promise<Result>) => {
    const controller = new AbortController();
    computing.set(id, controller);
    try {
      return await work(controller.signal);
    } finally {
      computing.delete(id);
    }
  };
  // The other end is a session, too, so the arguments are those of the methods.
  const compute = ({ compute }: Session, id: number, args: readonly unknown[]) => {
    const [values, into, asked] = args as Parameters<Session["compute"]>;
    return stoppable(id, (signal) => compute(values, into, { ...asked, signal }));
  };
  const diff = ({ diff }: Session, id: number, args: readonly unknown[]) => {
    const [asked] = args as Parameters<Session["diff"]>;
    const onProgress = (done: number, total: number) => send({ id, done, total });
    return stoppable(id, (signal) => diff({ ...asked, signal, onProgress }));
  };
  const answerTo = async (request: Exclude<Request, { readonly ask: "stop" }>): Promise<unknown> => {
    if (request.ask === "open") {
      session = await openLocalSession(request.bytes, withProvided(request.options), {
        onStage: (stage) => send({ stage }),
        onWarning: (warning) => send({ warning }),
        onEngineWarning: (engineWarning) => send({ engineWarning }),
      });
      return session.description;
    }
    check(session !== undefined, "FAILED", () => "the worker has no model");
    if (request.ask === "compute") return compute(session, request.id, request.args);
    if (request.ask === "diff") return diff(session, request.id, request.args);
    const method = session[request.ask] as (...args: readonly unknown[]) => Promise<unknown>;
    return method.apply(session, [...request.args]);
  };
  const refuse = (id: number, error: unknown) => {
    const isOwn = error instanceof NetworkError;
    const { code, problems } = isOwn ? error : { code: "FAILED" as const, problems: [] };
    send({ id, code, message: messageOf(error), problems });
  };
  // Messages arrive in the order of their ids.
  let last = -1;
  port.listen(
    (message) => {
      // The other end is `openWorkerSession`.
      const request = message as Request;
      last = request.id;
      if (request.ask === "stop") return computing.get(request.target)?.abort();
      answerTo(request)
        .then((result) => {
          // The values of a run are new, and nothing here keeps them.
          const values = request.ask === "compute" ? (result as Computed).values : [];
          send({ id: request.id, result }, wholeBuffers(values));
        })
        .catch((error: unknown) => refuse(request.id, error));
    },
    () => {},
    () => {
      last++;
      refuse(
        last,
        new NetworkError("WRONG_VALUE", "the values have not arrived at the worker: their memory had moved elsewhere"),
      );
    },
  );
}
