/**
 * The end of a worker. It contains nothing that starts workers: bundlers would put the worker into itself.
 */
import { check, NetworkError } from "./error.ts";
import { openLocalSession } from "./local-session.ts";
import type { Port } from "./port.ts";
import type { Computed, Session } from "./session.ts";
import { messageOf } from "./text.ts";
import { type Answer, type Request, wholeBuffers } from "./worker-messages.ts";

/** Opens one model, and answers for it. */
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
