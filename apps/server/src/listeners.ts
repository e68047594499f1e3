/** The addresses that the server listens at, and its end: no accepted request is lost. */
import type { FastifyInstance } from "fastify";
import { messageOf } from "./errors.ts";
import { createGrpc } from "./grpc.ts";
import type { GrpcServer } from "./grpc-server.ts";
import { createRest, type RestOptions } from "./rest.ts";

export interface ListenOptions extends RestOptions {
  readonly host: string;
  /** Port of REST; undefined: not at all; 0: a free port. */
  readonly restPort: number | undefined;
  readonly grpcPort: number | undefined;
}

export interface Listeners {
  /** `rest=http://127.0.0.1:8000`, and `grpc=127.0.0.1:8001`. */
  readonly addresses: readonly string[];
  /**
   * Serves on for `linger` milliseconds, or until there are no connections; each answer tells its client to close the
   * connection. Then accepts no more, and lets requests end for `limit` milliseconds. Resolves with true if some were still
   * running then.
   */
  close(linger: number, limit: number): Promise<boolean>;
}

/** Listens. Rejects if an address cannot be used, and then closes the others. */
export async function listen(options: ListenOptions): Promise<Listeners> {
  const { host, restPort, grpcPort, tls } = options;
  const closers: (() => Promise<void>)[] = [];
  let connections = () => Promise.resolve(0);
  const addresses: string[] = [];
  try {
    if (restPort !== undefined) {
      const app = createRest(options);
      closers.push(() => app.close());
      connections = () => connectionsOf(app);
      const address = await listenOn(app, host, restPort);
      addresses.push(`rest=${tls === undefined ? "http" : "https"}://${address}`);
    }
    if (grpcPort !== undefined) {
      const server = createGrpc(options);
      addresses.push(`grpc=${hostAndPort(host, await bindServer(server, host, grpcPort))}`);
      closers.push(() => server.close());
    }
  } catch (error) {
    await Promise.all(closers.map((close) => close()));
    throw error;
  }
  return {
    addresses,
    async close(linger, limit) {
      const end = performance.now() + linger;
      while (performance.now() < end && (await connections()) > 0) await delay(20);
      const all = Promise.all(closers.map((close) => close())).then(() => false);
      return Promise.race([all, delay(limit).then(() => true)]);
    },
  };
}

async function listenOn(app: FastifyInstance, host: string, port: number): Promise<string> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    throw new Error(`REST cannot listen at ${host}, port ${port}: ${messageOf(error)}`);
  }
  const address = app.server.address();
  return hostAndPort(host, typeof address === "object" && address !== null ? address.port : port);
}

async function bindServer(server: GrpcServer, host: string, port: number): Promise<number> {
  try {
    return await server.listen(host, port);
  } catch (error) {
    throw new Error(`gRPC cannot listen at ${hostAndPort(host, port)}: ${messageOf(error)}`);
  }
}

function connectionsOf({ server }: FastifyInstance): Promise<number> {
  return new Promise((resolve) => {
    server.getConnections((error, count) => resolve(error === null ? count : 0));
  });
}

function hostAndPort(host: string, port: number): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

function delay(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
}
