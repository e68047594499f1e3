/** Metrics and traces of requests: metrics for Prometheus, and spans of OpenTelemetry if the process has its SDK. */
import { type Context, context, propagation, type Span, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { type ErrorKind, messageOf, RequestError } from "./errors.ts";
import type { Models } from "./models.ts";
import type { ReadyModel } from "./open-model.ts";
import type { Done } from "./waiting.ts";

/** Protocol of a request. */
export type Protocol = "rest" | "grpc";

/** A request that is observed. */
export interface Observed {
  /** True if its steps are recorded. */
  readonly isTraced: boolean;
  recordDone(done: Done): void;
  recordFailed(error: unknown): void;
}

export interface Telemetry {
  /** Begins to observe a request for a model. `headers`: those of the request, which may name a trace. */
  observe(protocol: Protocol, model: ReadyModel, headers: Readonly<Record<string, unknown>>): Observed;
  /** Counts a request that was refused before its model was known. */
  countRefused(protocol: Protocol, kind: ErrorKind): void;
  /** Returns the metrics as text, and its content type. */
  metrics(): Promise<{ readonly text: string; readonly contentType: string }>;
}

const seconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export function createTelemetry(models: Models, version: string): Telemetry {
  const registers = [new Registry()];
  const [registry] = registers;
  const labelNames = ["model", "version"] as const;
  const requests = new Counter({
    name: "nnhal_server_requests_total",
    help: "Inference requests that have ended, by result: ok, or the kind of error",
    labelNames: [...labelNames, "protocol", "result"],
    registers,
  });
  const histogram = (name: string, help: string, buckets: readonly number[]) =>
    new Histogram({ name: `nnhal_server_${name}`, help, labelNames, buckets: [...buckets], registers });
  const wholeTime = histogram("request_seconds", "Times from the whole request to its result", seconds);
  const waitTime = histogram("wait_seconds", "Times that requests waited for an instance", seconds);
  const computeTime = histogram("compute_seconds", "Times in which instances computed", seconds);
  const together = histogram("batch_requests", "Requests that computed together", [1, 2, 4, 8, 16, 32, 64, 128]);
  const gauge = (name: string, help: string, read: (model: ReadyModel) => number) =>
    new Gauge({
      name: `nnhal_server_${name}`,
      help,
      labelNames,
      registers,
      collect() {
        this.reset();
        for (const model of models.ready) this.set({ model: model.name, version: model.version }, read(model));
      },
    });
  gauge("waiting_requests", "Requests that wait for an instance", ({ scheduler }) => scheduler.activity.waiting);
  gauge("running_batches", "Instances that compute", ({ scheduler }) => scheduler.activity.running);
  gauge("placed_requests", "Requests that wait or compute", ({ scheduler }) => scheduler.activity.placed);
  new Gauge({
    name: "nnhal_server_model_ready",
    help: "1 for each version of a model that takes requests, 0 for one that does not",
    labelNames,
    registers,
    collect() {
      this.reset();
      for (const { name, version: own, state } of models.entries) {
        this.set({ model: name, version: own }, state === "READY" ? 1 : 0);
      }
    },
  });
  const tracer = trace.getTracer("@nnhal/server", version);

  return {
    observe(protocol, { name: model, version: own }, headers) {
      const labels = { model, version: own };
      const span = tracer.startSpan(
        "infer",
        { kind: SpanKind.SERVER, attributes: attributesOf(model, own) },
        parentOf(headers),
      );
      return {
        isTraced: span.isRecording(),
        recordDone(done) {
          requests.inc({ ...labels, protocol, result: "ok" });
          const { submitted, started, ended } = done;
          wholeTime.observe(labels, (ended - submitted) / 1000);
          waitTime.observe(labels, (started - submitted) / 1000);
          computeTime.observe(labels, (ended - started) / 1000);
          together.observe(labels, done.together);
          if (span.isRecording()) recordSteps(span, done);
          span.end();
        },
        recordFailed(error) {
          const kind = error instanceof RequestError ? error.kind : "failed";
          requests.inc({ ...labels, protocol, result: kind });
          span.setStatus({ code: SpanStatusCode.ERROR, message: messageOf(error) });
          span.end();
        },
      };
    },
    countRefused: (protocol, result) => requests.inc({ model: "", version: "", protocol, result }),
    async metrics() {
      if (registry === undefined) throw new Error("there is no registry");
      return { text: await registry.metrics(), contentType: registry.contentType };
    },
  };

  function recordSteps(span: Span, { submitted, started, ended, timing, together: count }: Done): void {
    const inside = trace.setSpan(context.active(), span);
    step("wait", submitted, started, inside);
    const compute = step("compute", started, ended, inside, { "nnhal.batch.requests": count });
    const below = trace.setSpan(context.active(), compute);
    // Devices report durations, not times.
    const { inDriver, onHardware } = timing ?? {};
    if (inDriver !== undefined) step("driver", ended - inDriver, ended, below);
    if (onHardware !== undefined) step("hardware", ended - onHardware, ended, below);
  }

  function step(name: string, from: number, to: number, inside: Context, attributes = {}): Span {
    const span = tracer.startSpan(name, { startTime: performance.timeOrigin + from, attributes }, inside);
    span.end(performance.timeOrigin + to);
    return span;
  }
}

function attributesOf(model: string, version: string) {
  return { "nnhal.model.name": model, "nnhal.model.version": version };
}

/** Returns the span that the process is in, else the one that the headers of the request name. */
function parentOf(headers: Readonly<Record<string, unknown>>): Context {
  const active = context.active();
  return trace.getSpan(active) === undefined ? propagation.extract(active, headers) : active;
}
