/** The protocol over REST. */
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { readBody } from "./body.ts";
import { expectValid, messageOf, RequestError } from "./errors.ts";
import { shortest } from "./request.ts";
import { bodyOf, inferRequestOf, jsonObjectOf, lengthHeader, type Wanted } from "./rest-messages.ts";
import type { Admitted, Service } from "./service.ts";

export interface RestOptions {
  readonly service: Service;
  /** Bytes of a body. */
  readonly bodyLimit: number;
  /** Milliseconds in which a whole request must arrive. */
  readonly arrivalLimit: number;
  readonly tls: { readonly cert: Buffer; readonly key: Buffer } | undefined;
  /** Errors of the server itself. */
  onError(error: unknown): void;
}

interface ModelPath {
  readonly model: string;
  readonly version?: string;
}

/** The headers for the longest time of a request: ours, and what Envoy and Istio tell. */
const timeoutHeaders = ["x-request-timeout-ms", "x-envoy-expected-rq-timeout-ms"] as const;

const modelPaths = ["/v2/models/:model", "/v2/models/:model/versions/:version"] as const;

/** The routes of the protocol on a server that does not listen yet. */
export function createRest({ service, bodyLimit, arrivalLimit, tls, onError }: RestOptions): FastifyInstance {
  const app: FastifyInstance = fastify({
    bodyLimit,
    requestTimeout: arrivalLimit,
    // What an accepted connection still sends while the server ends is served.
    return503OnClosing: false,
    forceCloseConnections: "idle",
    routerOptions: { maxParamLength: 500, ignoreTrailingSlash: true },
    ...(tls !== undefined && { https: tls }),
  });
  // Bodies are bytes, whatever they are called: the protocol's JSON may have tensors behind it.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "buffer" }, (_, body, done) => done(null, body));
  app.setNotFoundHandler((request, reply) =>
    reply.code(404).send({ error: `there is no ${request.method} ${request.url}` }),
  );
  app.setErrorHandler((error, _, reply) => answerError(error, reply));
  app.addHook("onRequest", async (request) => {
    if (!request.url.startsWith("/v2/health/")) service.authorize(request.headers.authorization);
  });
  app.addHook("onSend", async (_, reply) => {
    if (service.isDraining) reply.header("connection", "close");
  });

  const answerError = (error: unknown, reply: FastifyReply) => {
    const status = error instanceof RequestError ? error.httpStatus : statusOf(error);
    if (error instanceof RequestError && error.retryAfter !== undefined) reply.header("retry-after", error.retryAfter);
    if (status === 401) reply.header("www-authenticate", "Bearer");
    // The rest of the body is not read.
    if (status === 413) reply.header("connection", "close");
    if (status >= 500 && !(error instanceof RequestError && error.kind !== "failed")) onError(error);
    return reply.code(status).send({ error: messageOf(error) });
  };

  app.get("/v2/health/live", () => ({ live: true }));
  app.get("/v2/health/ready", (_, reply) => {
    const ready = service.isReady;
    return reply.code(ready ? 200 : 503).send({ live: true, ready });
  });
  app.get("/v2", () => service.metadata);
  app.get("/metrics", async (_, reply) => {
    const { text, contentType } = await service.metrics();
    return reply.type(contentType).send(text);
  });
  app.post("/v2/repository/index", (request) => {
    const { ready = false } = jsonObjectOf(bytesOf(request));
    if (typeof ready !== "boolean") throw new RequestError("invalid", "ready is not a boolean");
    return service.index(ready);
  });
  app.post<{ Params: ModelPath }>("/v2/repository/models/:model/load", async (request) => {
    jsonObjectOf(bytesOf(request));
    await service.load(request.params.model);
    return {};
  });
  app.post<{ Params: ModelPath }>("/v2/repository/models/:model/unload", async (request) => {
    jsonObjectOf(bytesOf(request));
    await service.unload(request.params.model);
    return {};
  });
  for (const path of modelPaths) {
    app.get<{ Params: ModelPath }>(path, ({ params }) => service.modelMetadata(params.model, params.version));
    app.get<{ Params: ModelPath }>(`${path}/ready`, ({ params: { model, version } }, reply) => {
      const ready = service.isModelReady(model, version);
      return reply.code(ready ? 200 : 503).send({ name: model, ready });
    });
  }
  app.register(async (scope) => addInference(scope, service, bodyLimit));
  return app;
}

/** Milliseconds that the headers of a request allow it. Throws a RequestError. */
function timeoutOf(headers: FastifyRequest["headers"]): number | undefined {
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

/** The route that computes. It reads and writes by itself: what each request goes through is as little as can be. */
function addInference(app: FastifyInstance, service: Service, bodyLimit: number): void {
  /** Requests that have a place, until they are given to the service. */
  const admitted = new WeakMap<FastifyRequest, Admitted>();
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_, __, done) => done(null));
  // Before the body is read: a request without a place costs nothing.
  const onRequest = async (request: FastifyRequest<{ Params: ModelPath }>, reply: FastifyReply) => {
    const one = service.admit("rest", request.params.model, request.params.version);
    admitted.set(request, one);
    reply.raw.once("close", () => one.place.leave());
  };
  const infer = async (request: FastifyRequest, reply: FastifyReply) => {
    const one = admitted.get(request);
    if (one === undefined) throw new Error("the request has no place");
    const { headers, raw } = request;
    const header = headers[lengthHeader];
    const jsonLength = typeof header === "string" ? header : undefined;
    let wanted: Wanted = { outputs: undefined, binary: false };
    const read = async () => {
      const timeout = timeoutOf(headers);
      const inferRequest = inferRequestOf(await readBody(raw, bodyLimit, Number(jsonLength ?? 0)), jsonLength);
      wanted = inferRequest;
      return { ...inferRequest, timeout: shortest([timeout, inferRequest.timeout]) };
    };
    const gone = new AbortController();
    reply.raw.once("close", () => {
      if (!reply.raw.writableFinished) gone.abort();
    });
    const arrival = {
      protocol: "rest",
      headers,
      signal: gone.signal,
      timeout: timeoutOf(headers),
      isOwned: true,
    } as const;
    await service.infer(one, read, arrival, (response) => {
      const answer = bodyOf(response, wanted);
      const about: Record<string, string | number> = { "content-length": answer.body.length };
      about["content-type"] = answer.jsonLength === undefined ? "application/json" : "application/octet-stream";
      if (answer.jsonLength !== undefined) about[lengthHeader] = answer.jsonLength;
      if (service.isDraining) about.connection = "close";
      reply.hijack();
      reply.raw.writeHead(200, about);
      reply.raw.end(answer.body);
    });
  };
  for (const path of modelPaths) app.post<{ Params: ModelPath }>(`${path}/infer`, { onRequest }, infer);
}

function bytesOf({ body }: FastifyRequest): Uint8Array {
  return body instanceof Uint8Array ? body : new Uint8Array();
}

/** The status of an error of fastify, such as a body that is too large. */
function statusOf(error: unknown): number {
  const isOwn = error instanceof Error && "statusCode" in error && typeof error.statusCode === "number";
  return isOwn ? Number(error.statusCode) : 500;
}
