/** Metrics, and spans of a trace that the client has begun. */
import { context, propagation, type SpanContext, TraceFlags, trace } from "@opentelemetry/api";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { afterAll, beforeAll, expect, it } from "vitest";
import { passingModel, removeFolders } from "./models.test-helper.ts";
import { type TestServer, testServer } from "./server.test-helper.ts";

const exporter = new InMemorySpanExporter();
let server: TestServer;

beforeAll(async () => {
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
  // Like W3C's propagator, with the one header that matters here.
  propagation.setGlobalPropagator({
    inject() {},
    extract(parent, carrier, getter) {
      const [, traceId = "", spanId = ""] = String(getter.get(carrier, "traceparent")).split("-");
      const remote: SpanContext = { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true };
      return traceId === "" ? parent : trace.setSpanContext(parent, remote);
    },
    fields: () => ["traceparent"],
  });
  server = await testServer({ "passing/1/model.tflite": passingModel(), "broken/1/model.tflite": "" });
});
afterAll(async () => {
  trace.disable();
  propagation.disable();
  context.disable();
  await server.app.close();
  await server.models.close();
  removeFolders();
});

const infer = (model: string, data: unknown, headers = {}) =>
  server.app.inject({
    ...{ method: "POST", url: `/v2/models/${model}/infer`, headers },
    payload: JSON.stringify({ inputs: [{ name: "given", datatype: "FP32", shape: [1, 2], data }] }),
  });

it("the steps of a request are spans in the client's trace", async () => {
  const traceId = "0af7651916cd43dd8448eb211c80319c";
  const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-01` };
  expect((await infer("passing", [1, 2], headers)).statusCode).toBe(200);
  const spans = exporter.getFinishedSpans();
  const named = new Map(spans.map((span) => [span.name, span]));
  const parentOf = (name: string) => named.get(name)?.parentSpanContext?.spanId;
  const idOf = (name: string) => named.get(name)?.spanContext().spanId;
  expect(new Set(spans.map((span) => span.spanContext().traceId))).toEqual(new Set([traceId]));
  expect(parentOf("infer")).toBe("b7ad6b7169203331");
  expect([parentOf("wait"), parentOf("compute")]).toEqual([idOf("infer"), idOf("infer")]);
  expect([parentOf("driver"), parentOf("hardware")]).toEqual([idOf("compute"), idOf("compute")]);
  expect(named.get("infer")?.attributes).toEqual({ "nnhal.model.name": "passing", "nnhal.model.version": "1" });
  exporter.reset();
});

it("a request that fails is a span with the reason", async () => {
  await infer("passing", [1]);
  const [span] = exporter.getFinishedSpans();
  expect(span?.status).toMatchObject({ code: 2, message: expect.stringContaining("has 2 elements") });
});

it("requests are counted by model and result, and models by whether they are ready", async () => {
  await infer("none", []);
  const { body, headers } = await server.app.inject("/metrics");
  expect(headers["content-type"]).toContain("text/plain");
  const values = new Map(
    body
      .split("\n")
      .filter((line) => line.startsWith("nnhal_"))
      .map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ")))]),
  );
  const count = (model: string, version: string, result: string) =>
    values.get(`nnhal_server_requests_total{model="${model}",version="${version}",protocol="rest",result="${result}"}`);
  expect(count("passing", "1", "ok")).toBe(1);
  expect(count("passing", "1", "invalid")).toBe(1);
  // Names that clients invent are not labels.
  expect(count("", "", "unknown")).toBe(1);
  const labels = '{model="passing",version="1"}';
  for (const name of ["request_seconds", "wait_seconds", "compute_seconds", "batch_requests"]) {
    expect(values.get(`nnhal_server_${name}_count${labels}`), name).toBe(1);
  }
  for (const name of ["waiting_requests", "running_batches", "placed_requests"]) {
    expect(values.get(`nnhal_server_${name}${labels}`), name).toBe(0);
  }
  expect(values.get(`nnhal_server_model_ready${labels}`)).toBe(1);
  expect(values.get('nnhal_server_model_ready{model="broken",version="1"}')).toBe(0);
});
