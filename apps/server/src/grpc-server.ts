/** A server of gRPC over HTTP/2: it listens, and ends. See decision 0170. */
import {
  createSecureServer,
  createServer,
  type Http2Server,
  type Http2Session,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from "node:http2";
import { type CallOptions, serveCall } from "./grpc-call.ts";
import { createCallLimits, createSessions, defaultLimits, type GrpcLimits } from "./grpc-limits.ts";
import type { Method } from "./grpc-method.ts";

export interface GrpcServerOptions extends Omit<CallOptions, "methods" | "limits"> {
  readonly methods: readonly Method[];
  /** Maximum connections. */
  readonly connections: number;
  readonly tls: { readonly cert: Buffer; readonly key: Buffer } | undefined;
  /** Default: `defaultLimits`. */
  readonly limits?: Partial<GrpcLimits>;
}

export interface GrpcServer {
  /** Resolves with the port. */
  listen(host: string, port: number): Promise<number>;
  /** Takes no more calls, and lets current ones end; those that wait for their client have a time limit. */
  close(): Promise<void>;
  /** Ends all connections. */
  destroy(): void;
}

export function createGrpcServer(options: GrpcServerOptions): GrpcServer {
  const { arrivalLimit, connections, tls } = options;
  const all = { ...defaultLimits, ...options.limits };
  const limits = createCallLimits(all);
  const calls: CallOptions = {
    ...options,
    limits,
    methods: new Map(options.methods.map((method) => [method.path, method])),
  };
  const sessions = createSessions(arrivalLimit, all.idle);
  const shared = {
    settings: { maxConcurrentStreams: all.callsOfConnection, enablePush: false },
    // In MB. Answers that clients do not take are counted by the budget.
    maxSessionMemory: 256,
    // Node.js documents this only for HTTP/1, but passes it to the socket.
    keepAlive: true,
    keepAliveInitialDelay: 60_000,
  };
  const server: Http2Server =
    tls === undefined
      ? createServer(shared)
      : createSecureServer({ ...shared, ...tls, handshakeTimeout: arrivalLimit });
  server.maxConnections = connections;
  server.on("session", (session: Http2Session) => {
    session.on("error", () => {});
    sessions.add(session);
  });
  server.on("stream", (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
    stream.on("error", () => {});
    sessions.addCall(stream);
    serveCall(stream, headers, calls);
  });
  return {
    listen: (host, port) =>
      new Promise((resolve, reject) => {
        server.once("error", reject);
        server.listen(port, host, () => {
          server.off("error", reject);
          server.on("error", options.onError);
          const address = server.address();
          resolve(typeof address === "object" && address !== null ? address.port : port);
        });
      }),
    close: () =>
      new Promise((resolve) => {
        const ending = setTimeout(() => limits.endAll(), all.closing);
        server.close(() => {
          clearTimeout(ending);
          resolve();
        });
        sessions.close();
      }),
    destroy() {
      server.close();
      sessions.destroy();
    },
  };
}
