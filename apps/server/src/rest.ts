/** The protocol over REST. */
import { createServer, type RequestListener, type Server, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { readBody } from "./body.ts";
import { isFault, publicMessageOf, RequestError, shortText } from "./errors.ts";
import {
  type AnswerInference,
  createInference,
  errorAnswerOf,
  type InferenceOptions,
  type ModelPath,
} from "./rest-inference.ts";
import { jsonObjectOf } from "./rest-messages.ts";

export interface RestOptions extends InferenceOptions {
  /** Milliseconds in which a whole request must arrive, and its answer be taken. */
  readonly arrivalLimit: number;
  /** Maximum connections. */
  readonly connections: number;
  readonly tls: { readonly cert: Buffer; readonly key: Buffer } | undefined;
}

/** Maximum bytes of bodies without tensors. */
const smallBody = 2 ** 20;

/** Milliseconds after which a connection that sends nothing is ended: the headers of a request are short. */
const mostHeadersTime = 10_000;

const modelPaths = ["/v2/models/:model", "/v2/models/:model/versions/:version"] as const;

/** Creates the routes of the protocol on a server that does not listen yet. */
export function createRest(options: RestOptions): FastifyInstance {
  const { service, arrivalLimit, connections, lane, tls, onError } = options;
  const answerInference = createInference(options);
  const app: FastifyInstance = fastify({
    serverFactory(handle) {
      const listener: RequestListener = (request, response) => {
        endUntaken(response, arrivalLimit);
        handle(request, response);
      };
      // Node.js obeys these only if they are set here, and checks the times of connections in an interval.
      const times = {
        keepAliveTimeout: 72_000,
        requestTimeout: arrivalLimit,
        headersTimeout: Math.min(arrivalLimit, mostHeadersTime),
        connectionsCheckingInterval: Math.ceil(Math.min(arrivalLimit / 4, 1000)),
      };
      // Only members that http.Server and https.Server share are used.
      const server: Pick<Server, keyof Server> =
        tls === undefined ? createServer(times, listener) : createSecureServer({ ...times, ...tls }, listener);
      return Object.assign(server, { maxConnections: connections }) as Server;
    },
    // Requests of accepted connections are served while the server ends.
    return503OnClosing: false,
    forceCloseConnections: "idle",
    routerOptions: { maxParamLength: 500, ignoreTrailingSlash: true },
  });
  // Bodies are bytes, whatever their content type: the protocol's JSON may have tensors behind it.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", async (request: FastifyRequest) => readBody(request.raw, { limit: smallBody }));
  app.setNotFoundHandler((request, reply) =>
    reply.code(404).send({ error: `there is no ${request.method} ${shortText(request.url, 200)}` }),
  );
  const allowed = new Map<string, Set<string>>();
  app.addHook("onRoute", ({ url, method }) => {
    const methods = allowed.get(url) ?? new Set();
    allowed.set(url, methods);
    for (const each of [method].flat()) methods.add(each);
  });
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
      .send({ error: publicMessageOf(error) });
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
  const objectOf = (request: FastifyRequest) => lane(() => jsonObjectOf(bytesOf(request)));
  app.post("/v2/repository/index", async (request) => {
    const { ready = false } = await objectOf(request);
    if (typeof ready !== "boolean") throw new RequestError("invalid", "ready is not a boolean");
    return service.index(ready);
  });
  app.post<{ Params: ModelPath }>("/v2/repository/models/:model/load", async (request) => {
    await objectOf(request);
    await service.load(request.params.model);
    return {};
  });
  app.post<{ Params: ModelPath }>("/v2/repository/models/:model/unload", async (request) => {
    await objectOf(request);
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
  app.after(() => refuseOtherMethods(app, allowed));
  return app;
}

/** Answers other methods of existing paths with the allowed ones. */
function refuseOtherMethods(app: FastifyInstance, allowed: ReadonlyMap<string, ReadonlySet<string>>): void {
  for (const [url, methods] of [...allowed]) {
    const allow = [...methods].join(", ");
    app.route({
      url,
      method: app.supportedMethods.filter((method) => !methods.has(method)),
      handler: (request, reply) =>
        reply
          .code(405)
          .header("allow", allow)
          .send({ error: `${request.method} is not a method of ${shortText(request.url, 200)}, which has ${allow}` }),
    });
  }
}

/** Ends a connection whose client does not take its answer in time. */
function endUntaken(response: ServerResponse, limit: number): void {
  // The answer is complete, and about to be written.
  response.once("prefinish", () => {
    if (response.writableFinished) return;
    const timer = setTimeout(() => response.destroy(), limit);
    response.once("finish", () => clearTimeout(timer));
    response.once("close", () => clearTimeout(timer));
  });
}

/** Adds the route of inference, which writes its answer itself: fastify would keep bodies that the budget counts. */
function addInference(app: FastifyInstance, answerInference: AnswerInference): void {
  app.removeAllContentTypeParsers();
  // `answerInference` reads the body.
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
