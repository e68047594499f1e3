/** The protocol over REST. */
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { messageOf, RequestError } from "./errors.ts";
import {
  type AnswerInference,
  createInference,
  errorAnswerOf,
  type InferenceOptions,
  inferencePathOf,
  isFault,
  type ModelPath,
} from "./rest-inference.ts";
import { jsonObjectOf } from "./rest-messages.ts";

export interface RestOptions extends InferenceOptions {
  /** Milliseconds in which a whole request must arrive. */
  readonly arrivalLimit: number;
  readonly tls: { readonly cert: Buffer; readonly key: Buffer } | undefined;
}

const modelPaths = ["/v2/models/:model", "/v2/models/:model/versions/:version"] as const;

/** The routes of the protocol on a server that does not listen yet. */
export function createRest({ service, bodyLimit, arrivalLimit, tls, onError }: RestOptions): FastifyInstance {
  const answerInference = createInference({ service, bodyLimit, onError });
  const app: FastifyInstance = fastify({
    bodyLimit,
    serverFactory(handle, { keepAliveTimeout = 72_000 }) {
      const listener: RequestListener = (request, response) => {
        const path = inferencePathOf(request);
        if (path === undefined) handle(request, response);
        else void answerInference(request, response, path);
      };
      // What a server of TLS has more is of no use here.
      const server: Pick<Server, keyof Server> =
        tls === undefined ? createServer(listener) : createSecureServer(tls, listener);
      return Object.assign(server, { keepAliveTimeout, requestTimeout: arrivalLimit }) as Server;
    },
    // What an accepted connection still sends while the server ends is served.
    return503OnClosing: false,
    forceCloseConnections: "idle",
    routerOptions: { maxParamLength: 500, ignoreTrailingSlash: true },
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
    const { status, headers } = errorAnswerOf(error);
    if (isFault(error)) onError(error);
    return reply
      .code(status)
      .headers(headers)
      .send({ error: messageOf(error) });
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
  app.register(async (scope) => addInference(scope, answerInference));
  return app;
}

/** The route of inference for paths that are not written in the plain way. */
function addInference(app: FastifyInstance, answerInference: AnswerInference): void {
  app.removeAllContentTypeParsers();
  // The body is read there.
  app.addContentTypeParser("*", (_, __, done) => done(null));
  for (const path of modelPaths) {
    app.post<{ Params: ModelPath }>(`${path}/infer`, (request, reply) => {
      reply.hijack();
      return answerInference(request.raw, reply.raw, request.params);
    });
  }
}

function bytesOf({ body }: FastifyRequest): Uint8Array {
  return body instanceof Uint8Array ? body : new Uint8Array();
}
