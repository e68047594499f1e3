/**
 * Inference over REST. It reads the body and writes the answer itself, so that the memory of both is counted by the budget of all requests, and an answer that
 * is not taken ends.
 */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { codings, readBody } from "./body.ts";
import type { Budget, Holding } from "./budget.ts";
import { expectValid, isFault, publicMessageOf, RequestError } from "./errors.ts";
import type { Lane } from "./lane.ts";
import { shortest } from "./request.ts";
import { bodyOf, inferRequestOf, lengthHeader, type Wanted } from "./rest-messages.ts";
import type { Service } from "./service.ts";

export interface InferenceOptions {
  readonly service: Service;
  /** Maximum bytes of a body. */
  readonly bodyLimit: number;
  readonly budget: Budget;
  readonly lane: Lane;
  /** Called with errors of the server itself. */
  onError(error: unknown): void;
}

/** The model that a request is for. */
export interface ModelPath {
  readonly model: string;
  readonly version?: string | undefined;
}

/** Answers any request, valid or not. Never rejects. */
export type AnswerInference = (request: IncomingMessage, response: ServerResponse, path: ModelPath) => Promise<void>;

/** Headers with the time limit of a request: the server's own, and that of Envoy and Istio. */
const timeoutHeaders = ["x-request-timeout-ms", "x-envoy-expected-rq-timeout-ms"] as const;

/** Bytes of JSON that are parsed without delay. */
const shortJson = 2 ** 16;

/** Milliseconds for which an untaken answer is kept even if others need its memory. */
const patience = 1000;

export function createInference({ service, bodyLimit, budget, lane, onError }: InferenceOptions): AnswerInference {
  const infer = async (
    request: IncomingMessage,
    response: ServerResponse,
    { model, version }: ModelPath,
    holding: Holding,
  ) => {
    const { headers } = request;
    const gone = new AbortController();
    response.once("close", () => {
      holding.release();
      if (!response.writableFinished) gone.abort();
    });
    const header = headers[lengthHeader];
    const jsonLength = typeof header === "string" ? header : undefined;
    let wanted: Wanted = { outputs: undefined, binary: false };
    const read = async () => {
      const timeout = timeoutOf(headers);
      const before = Number(jsonLength ?? 0);
      const body = await readBody(request, { limit: bodyLimit, before, hold: (bytes) => holding.hold(bytes) });
      const parse = () => inferRequestOf(body, jsonLength);
      const inferRequest = (jsonLength === undefined ? body.length : before) > shortJson ? await lane(parse) : parse();
      wanted = inferRequest;
      return { ...inferRequest, timeout: shortest([timeout, inferRequest.timeout]) };
    };
    const arrival = {
      protocol: "rest",
      ...{ model, version, headers, holding, signal: gone.signal, timeout: undefined, isOwned: true },
    } as const;
    await service.infer(arrival, read, (answer) => {
      const { body, jsonLength: length } = bodyOf(answer, wanted);
      const about: OutgoingHttpHeaders = { "content-length": body.length };
      about["content-type"] = length === undefined ? "application/json" : "application/octet-stream";
      if (length !== undefined) about[lengthHeader] = length;
      if (service.isDraining) about.connection = "close";
      holding.keep(body.length);
      response.writeHead(200, about);
      response.end(body);
      if (response.writableFinished) return;
      const waits = setTimeout(() => holding.waits(() => response.destroy()), patience);
      response.once("close", () => clearTimeout(waits));
    });
  };
  return async (request, response, path) => {
    const holding = budget.open((error) => fail(error));
    let isOver = false;
    const fail = (error: unknown) => {
      if (isOver) return;
      isOver = true;
      holding.release();
      if (response.headersSent) {
        response.destroy();
        return;
      }
      answerError(error, response);
    };
    try {
      await infer(request, response, path, holding);
    } catch (error) {
      fail(error);
    }
  };

  /** Answers with an error, if the request has no answer yet. */
  function answerError(error: unknown, response: ServerResponse): void {
    const { status, headers } = errorAnswerOf(error);
    if (isFault(error)) onError(error);
    const body = Buffer.from(JSON.stringify({ error: publicMessageOf(error) }));
    const about: OutgoingHttpHeaders = { ...headers, "content-length": body.length };
    about["content-type"] = "application/json; charset=utf-8";
    if (service.isDraining) about.connection = "close";
    response.writeHead(status, about);
    response.end(body);
  }
}

/** Returns the status and headers of an error. */
export function errorAnswerOf(error: unknown): { readonly status: number; readonly headers: OutgoingHttpHeaders } {
  const status = error instanceof RequestError ? error.httpStatus : statusOf(error);
  const retryAfter = error instanceof RequestError ? error.retryAfter : undefined;
  return {
    status,
    headers: {
      ...(retryAfter !== undefined && { "retry-after": String(retryAfter) }),
      // As in RFC 6750.
      ...(status === 401 && { "www-authenticate": isWrongToken(error) ? 'Bearer error="invalid_token"' : "Bearer" }),
      ...(status === 415 && { "accept-encoding": codings.join(", ") }),
      // The rest of the body is not read.
      ...((status === 413 || status === 415) && { connection: "close" }),
    },
  };
}

function isWrongToken(error: unknown): boolean {
  return error instanceof RequestError && error.kind === "wrongToken";
}

/** Returns the status of an error of fastify, such as a body that is too large. */
function statusOf(error: unknown): number {
  const isOwn = error instanceof Error && "statusCode" in error && typeof error.statusCode === "number";
  return isOwn ? Number(error.statusCode) : 500;
}

/** Returns the time limit in the headers of a request, in milliseconds. Throws a RequestError. */
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
