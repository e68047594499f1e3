import { expect, it } from "vitest";
import { createCounters } from "./counters.ts";
import { metricsText, serveMetrics } from "./metrics.ts";

function measure() {
  const counters = createCounters();
  counters.add("clients", 2);
  counters.add("models", 3);
  counters.add("mappedBytes", 4096);
  counters.countExecution(0.0002, false);
  counters.countExecution(0.02, true);
  counters.countExecution(60, false);
  return [{ name: "a", counters }];
}

it("has counts, gauges and a histogram for each device", async () => {
  const text = await metricsText(measure(), new Map([["a", 5]]));
  for (const line of [
    'nnhal_executions_total{device="a"} 3',
    'nnhal_execution_failures_total{device="a"} 1',
    'nnhal_refused_clients_total{device="a"} 5',
    'nnhal_clients{device="a"} 2',
    'nnhal_prepared_models{device="a"} 3',
    'nnhal_buffers{device="a"} 0',
    'nnhal_mapped_bytes{device="a"} 4096',
    "# TYPE nnhal_execution_seconds histogram",
    'nnhal_execution_seconds_bucket{le="0.0001",device="a"} 0',
    'nnhal_execution_seconds_bucket{le="0.00025",device="a"} 1',
    'nnhal_execution_seconds_bucket{le="0.025",device="a"} 2',
    'nnhal_execution_seconds_bucket{le="10",device="a"} 2',
    'nnhal_execution_seconds_bucket{le="+Inf",device="a"} 3',
    'nnhal_execution_seconds_count{device="a"} 3',
  ]) {
    expect(text.split("\n")).toContain(line);
  }
});

it("is served on the loopback interface only, at one path", async () => {
  const server = await serveMetrics(0, () => metricsText(measure()));
  const at = (path: string) => fetch(`http://127.0.0.1:${server.port}${path}`);
  const found = await at("/metrics");
  expect(found.headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
  expect(await found.text()).toContain("nnhal_executions_total");
  expect((await at("/other")).status).toBe(404);
  await server.close();
  await expect(at("/metrics")).rejects.toThrow();
});
