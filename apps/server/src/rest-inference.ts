/**
 * Inference over REST. It reads and writes by itself, without the router, the hooks and the objects of fastify: in a server whose processor computes
 * networks between two requests, they cost 0.35 ms of each.
 */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { readBody } from "./body.ts";
import { expectValid, messageOf, RequestError } from "./errors.ts";
import { shortest } from "./request.ts";
import { bodyOf, inferRequestOf, lengthHeader, type Wanted } from "./rest-messages.ts";
import type { Service } from "./service.ts";

export interface InferenceOptions {
  readonly service: Service;
  /** Bytes of a body. */
  readonly bodyLimit: number;
  /** Errors of the server itself. */
  onError(error: unknown): void;
}

/** Which model a request is for. */
export interface ModelPath {
  readonly model: string;
  readonly version?: string | undefined;
}

/** Answers a request, also one that is not valid. Never rejects. */
export type AnswerInference = (request: IncomingMessage, response: ServerResponse, path: ModelPath) => Promise<void>;

/** The headers for the longest time of a request: ours, and what Envoy and Istio tell. */
const timeoutHeaders = ["x-request-timeout-ms", "x-envoy-expected-rq-timeout-ms"] as const;

const inferencePath = /^\/v2\/models\/([^/?#%;]{1,500})(?:\/versions\/([^/?#%;]{1,500}))?\/infer$/;

/** The model of a request for inference whose path is written in the plain way; undefined for all others, which the router reads. */
export function inferencePathOf({ method, url = "" }: IncomingMessage): ModelPath | undefined {
  const [, model, version] = (method === "POST" && inferencePath.exec(url)) || [];
  return model === undefined ? undefined : { model, version };
}

export function createInference({ service, bodyLimit, onError }: InferenceOptions): AnswerInference {
  const infer = async (request: IncomingMessage, response: ServerResponse, { model, version }: ModelPath) => {
    service.authorize(request.headers.authorization);
    // Before the body is read: a request without a place costs nothing.
    const admitted = service.admit("rest", model, version);
    const gone = new AbortController();
    response.once("close", () => {
      admitted.place.leave();
      if (!response.writableFinished) gone.abort();
    });
    const { headers } = request;
    const header = headers[lengthHeader];
    const jsonLength = typeof header === "string" ? header : undefined;
    let wanted: Wanted = { outputs: undefined, binary: false };
    const read = async () => {
      const timeout = timeoutOf(headers);
      const inferRequest = inferRequestOf(await readBody(request, bodyLimit, Number(jsonLength ?? 0)), jsonLength);
      wanted = inferRequest;
      return { ...inferRequest, timeout: shortest([timeout, inferRequest.timeout]) };
    };
    const arrival = { protocol: "rest", headers, signal: gone.signal, timeout: undefined, isOwned: true } as const;
    await service.infer(admitted, read, arrival, (answer) => {
      const { body, jsonLength: length } = bodyOf(answer, wanted);
      const about: OutgoingHttpHeaders = { "content-length": body.length };
      about["content-type"] = length === undefined ? "application/json" : "application/octet-stream";
      if (length !== undefined) about[lengthHeader] = length;
      if (service.isDraining) about.connection = "close";
      response.writeHead(200, about);
      response.end(body);
    });
  };
  return async (request, response, path) => {
    try {
      await infer(request, response, path);
    } catch (error) {
      if (response.headersSent) {
        response.destroy();
        return;
      }
      const { status, headers } = errorAnswerOf(error);
      if (isFault(error)) onError(error);
      const body = Buffer.from(JSON.stringify({ error: messageOf(error) }));
      const about: OutgoingHttpHeaders = { ...headers, "content-length": body.length };
      about["content-type"] = "application/json; charset=utf-8";
      if (service.isDraining) about.connection = "close";
      response.writeHead(status, about);
      response.end(body);
    }
  };
}

/** The status and the headers that say what went wrong. */
export function errorAnswerOf(error: unknown): { readonly status: number; readonly headers: OutgoingHttpHeaders } {
  const status = error instanceof RequestError ? error.httpStatus : statusOf(error);
  const retryAfter = error instanceof RequestError ? error.retryAfter : undefined;
  return {
    status,
    headers: {
      ...(retryAfter !== undefined && { "retry-after": String(retryAfter) }),
      ...(status === 401 && { "www-authenticate": "Bearer" }),
      // The rest of the body is not read.
      ...(status === 413 && { connection: "close" }),
    },
  };
}

/** Whether an error is one of the server, and not of the request. */
export function isFault(error: unknown): boolean {
  return error instanceof RequestError ? error.kind === "failed" : statusOf(error) >= 500;
}

/** The status of an error of fastify, such as a body that is too large. */
function statusOf(error: unknown): number {
  const isOwn = error instanceof Error && "statusCode" in error && typeof error.statusCode === "number";
  return isOwn ? Number(error.statusCode) : 500;
}

/** Milliseconds that the headers of a request allow it. Throws a RequestError. */
function timeoutOf(headers: IncomingMessage["headers"]): number | undefined {
  for (const name of timeoutHeaders) {
    const text = headers[name];
    if (text === undefined) continue;
    expectValid(
      typeof text === "string" && /^\d{1,10}$/.test(text) && Number(text) > 0,
      () => `the header ${name} is "${text}", not a number of milliseconds from 1`,
    );
    return Number(text);
  }
  return undefined;
}
