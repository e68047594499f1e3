/** Headers and trailers of gRPC: the method of a call, the time limit of its client, and its final status. */
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http2";
import { type Coding, codings, isCoding } from "./body.ts";
import { publicMessageOf, RequestError } from "./errors.ts";
import type { Method } from "./grpc-method.ts";
import { encodeDetails, status } from "./grpc-status.ts";

/** The headers of every answer. */
export const answerHeaders: OutgoingHttpHeaders = {
  ":status": 200,
  "content-type": "application/grpc",
  "grpc-accept-encoding": ["identity", ...codings].join(),
};

/** Returns the trailers with the status of an error; undefined: of success. */
export function trailersOf(error: unknown): OutgoingHttpHeaders {
  if (error === undefined) return { "grpc-status": String(status.OK) };
  const retryAfter = error instanceof RequestError ? error.retryAfter : undefined;
  return {
    "grpc-status": String(error instanceof RequestError ? error.grpcStatus : status.INTERNAL),
    "grpc-message": encodeDetails(publicMessageOf(error)),
    // Clients with a retry policy obey it.
    ...(retryAfter !== undefined && {
      "retry-after": String(retryAfter),
      "grpc-retry-pushback-ms": String(retryAfter * 1000),
    }),
  };
}

/** Returns the method of a call. Throws a RequestError if it does not exist. */
export function methodOf(headers: IncomingHttpHeaders, methods: ReadonlyMap<string, Method>): Method {
  const path = headers[":path"] ?? "";
  const isGrpc = headers[":method"] === "POST" && /^application\/grpc(\+proto)?$/.test(headers["content-type"] ?? "");
  if (!isGrpc) throw new RequestError("unsupported", "expected a POST of application/grpc");
  const method = methods.get(path);
  if (method === undefined) throw new RequestError("unsupported", `there is no method ${path}`);
  return method;
}

/** Returns the compression of messages; undefined: none. Throws a RequestError. */
export function readCoding(headers: IncomingHttpHeaders): Coding | undefined {
  const given = headers["grpc-encoding"];
  if (given === undefined || given === "identity") return undefined;
  if (typeof given === "string" && isCoding(given)) return given;
  throw new RequestError(
    "unsupported",
    `the message has the grpc-encoding "${given}"; expected one of ${codings.join(", ")}`,
  );
}

const units: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 };

/** Returns the milliseconds that the client waits; undefined: it does not say. Throws a RequestError. */
export function timeoutOf(headers: IncomingHttpHeaders): number | undefined {
  const text = headers["grpc-timeout"];
  if (text === undefined) return undefined;
  const [, digits, unit = ""] = /^(\d{1,8})([HMSmun])$/.exec(String(text)) ?? [];
  if (digits === undefined) throw new RequestError("invalid", `the grpc-timeout is "${text}", not a time`);
  return Number(digits) * (units[unit] ?? 1);
}
