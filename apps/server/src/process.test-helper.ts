/** The server as a separate process, and independent clients. */
import { Agent, type ClientRequest, request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { fileURLToPath } from "node:url";
import { type Started, startSource } from "@nnhal/test-kit/processes";

export interface StartedServer extends Started {
  /** Addresses of REST and gRPC, such as `127.0.0.1:8000`. */
  readonly rest: string;
  readonly grpc: string;
}

/** The folder of the demo's network. */
export const demoFolder = fileURLToPath(new URL("../../cli/demo/", import.meta.url));

/** Starts the server at free ports, and waits until it is ready. */
export async function startServer(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  device = "reference",
): Promise<StartedServer> {
  const path = fileURLToPath(new URL("main.ts", import.meta.url));
  const all = [...args, "--port", "0", "--grpc-port", "0", "--devices", device, "--log-format", "json"];
  const started = startSource(path, all, { env });
  await started.says("ready ");
  await started.says("\n");
  const [, rest = "", grpc = ""] = /rest=https?:\/\/(\S+) grpc=(\S+)/.exec(started.output.stdout) ?? [];
  return { ...started, rest, grpc };
}

/** Answer of a server. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** A persistent connection, as HTTP clients have it. */
export interface Connection {
  post(path: string, body: Uint8Array, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  close(): void;
}

export function connectionTo(address: string): Connection {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const [host, port] = address.split(":");
  return {
    post: (path, body, headers = {}) =>
      new Promise((resolve, reject) => {
        const all = { "content-length": String(body.length), ...headers };
        const sent: ClientRequest = httpRequest(
          { host, port, path, method: "POST", agent, headers: all },
          (response) => {
            const chunks: Buffer[] = [];
            response.on("data", (chunk: Buffer) => chunks.push(chunk));
            response.on("error", reject);
            response.on("end", () => {
              resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) });
            });
          },
        );
        sent.on("error", reject);
        sent.end(body);
      }),
    close: () => agent.destroy(),
  };
}
