/** The metrics of a daemon, as text for Prometheus, on a port of the loopback interface. */
import { createServer, type Server } from "node:http";
import { Counter, Gauge, Registry } from "prom-client";
import { type Counters, latencyBounds } from "./counters.ts";

/** Measured values of a service. */
export interface Measured {
  readonly name: string;
  readonly counters: Counters;
}

/** A server of metrics. */
export interface MetricsServer {
  readonly port: number;
  close(): Promise<void>;
}

/** The text of the metrics. `refusedClients`: by service. */
export function metricsText(
  services: readonly Measured[],
  refusedClients: ReadonlyMap<string, number> = new Map(),
): Promise<string> {
  const registry = new Registry();
  const labelNames = ["device"] as const;
  const gauge = (name: string, help: string, value: (counters: Counters) => number) => {
    const one = new Gauge({ name: `nnhal_${name}`, help, labelNames, registers: [registry] });
    for (const { name: device, counters } of services) one.set({ device }, value(counters));
  };
  const counter = (name: string, help: string, value: (service: Measured) => number) => {
    const one = new Counter({ name: `nnhal_${name}_total`, help, labelNames, registers: [registry] });
    for (const service of services) one.inc({ device: service.name }, value(service));
  };
  counter("executions", "Executions that have ended", ({ counters }) => counters.get("executions"));
  counter("execution_failures", "Executions that ended with a status other than NONE", ({ counters }) =>
    counters.get("failures"),
  );
  counter("refused_clients", "Clients that were refused", ({ name }) => refusedClients.get(name) ?? 0);
  gauge("clients", "Clients that are connected", (counters) => counters.get("clients"));
  gauge("prepared_models", "Prepared models of all clients", (counters) => counters.get("models"));
  gauge("buffers", "Device buffers of all clients", (counters) => counters.get("buffers"));
  gauge("mapped_bytes", "Bytes of memories of clients that are mapped", (counters) => counters.get("mappedBytes"));
  return registry.metrics().then((text) => `${text}${latencies(services)}`);
}

/** The histogram of times. Its buckets are counted elsewhere, which the classes of prom-client do not take. */
function latencies(services: readonly Measured[]): string {
  const name = "nnhal_execution_seconds";
  const lines = services.flatMap(({ name: device, counters }) => {
    let sum = 0;
    const bounds = [...latencyBounds.map(String), "+Inf"];
    const buckets = counters.latencies.map((count, index) => {
      sum += count;
      return `${name}_bucket{le="${bounds[index]}",device="${device}"} ${sum}`;
    });
    return [
      ...buckets,
      `${name}_sum{device="${device}"} ${counters.get("seconds")}`,
      `${name}_count{device="${device}"} ${sum}`,
    ];
  });
  return [`# HELP ${name} Times of executions, in seconds`, `# TYPE ${name} histogram`, ...lines, ""].join("\n");
}

/** Serves metrics at /metrics of a port of 127.0.0.1; 0: a free one. Rejects if the port cannot be used. */
export async function serveMetrics(port: number, text: () => Promise<string>): Promise<MetricsServer> {
  const server: Server = createServer((request, response) => {
    if (request.method !== "GET" || request.url !== "/metrics") {
      response.writeHead(404).end();
      return;
    }
    text().then(
      (body) => response.writeHead(200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" }).end(body),
      () => response.writeHead(500).end(),
    );
  });
  server.unref();
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(port, "127.0.0.1", resolve);
  });
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
