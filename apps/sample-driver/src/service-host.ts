/**
 * A service in the main thread: its worker, which is started for the first client, and the clients that are connected. A worker that
 * ends, or no longer turns its event loop, takes its clients with it; the next client gets a new one.
 */
import { MessageChannel, Worker } from "node:worker_threads";
import type { AcceptedClient } from "@nnhal/service";
import { portChannel } from "@nnhal/transport/channels";
import type { LogEntry, Trace } from "@nnhal/utils";
import type { Calibration } from "./calibration.ts";
import { type Counters, createCounters } from "./counters.ts";
import type { FromWorker, ToWorker, WorkerSettings } from "./messages.ts";
import { relay } from "./relay.ts";

/** Events of a service. */
export interface HostEvents {
  log(entry: LogEntry): void;
  /** Something that the log of the daemon shows. */
  event(severity: "info" | "warn" | "error", message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** Options for hosting a service. */
export interface HostOptions extends Omit<WorkerSettings, "counters" | "calibration" | "state"> {
  readonly calibration?: Calibration | undefined;
  readonly state?: string | undefined;
  /** Most clients at once. */
  readonly clients: number;
  /** Milliseconds without a turn of the worker's event loop after which it is ended. */
  readonly stallLimit: number;
  readonly events: HostEvents;
  /** Default: the worker of this package. */
  readonly startWorker?: ((settings: WorkerSettings) => Worker) | undefined;
}

/** See the file's head. */
export interface ServiceHost {
  readonly name: string;
  readonly counters: Counters;
  /** Number of connected clients. */
  readonly connected: number;
  readonly refused: number;
  /** Why another client is not taken now; undefined if one is. */
  whyNot(): string | undefined;
  /** Serves a client until it is gone. */
  serve(client: AcceptedClient): void;
  /** Lets running executions end, answers them, and ends the worker. Resolves with its trace. */
  close(): Promise<Trace | undefined>;
}

interface Running {
  readonly worker: Worker;
  readonly closed: Promise<Trace | undefined>;
}

/** Milliseconds between looks at the worker's event loop. */
const lookInterval = 1000;

/** Hosts a service. Its worker starts with the first client. */
export function createServiceHost(options: HostOptions): ServiceHost {
  const { service, clients: mostClients, stallLimit, drainLimit, events } = options;
  const { startWorker = startDeviceWorker } = options;
  const counters = createCounters();
  const clients = new Map<number, AcceptedClient>();
  const ends = new Set<Promise<unknown>>();
  let running: Running | undefined;
  let isClosing = false;
  let lastId = 0;
  let refused = 0;

  const start = (): Running => {
    const { limits, vlog, traces, calibration, state } = options;
    const worker = startWorker({
      ...{ service, limits, vlog, traces, drainLimit, calibration, state },
      counters: counters.memory,
    });
    const closed = new Promise<Trace | undefined>((resolve) => {
      // The worker sends nothing else.
      worker.on("message", (message: FromWorker) => {
        if (message.kind === "log") events.log(message.entry);
        else if (message.kind === "opened") events.event("info", "the device is open", { version: message.version });
        else if (message.kind === "unavailable") {
          events.event("error", `the device cannot be opened: ${message.reason}`);
          // The next client tries again.
          if (running === own) running = undefined;
          setTimeout(() => void worker.terminate(), lookInterval).unref();
        } else resolve(message.trace);
      });
      worker.on("error", (error) => events.event("error", `the worker has failed: ${error.message}`));
      worker.once("exit", () => {
        clearInterval(watch);
        if (running === own) running = undefined;
        // The worker's objects are gone with it.
        if (!isClosing)
          for (const name of ["clients", "models", "buffers", "mappedBytes"] as const) counters.reset(name);
        resolve(undefined);
      });
    });
    let beats = -1;
    let stalled = 0;
    const watch = setInterval(() => {
      const now = counters.get("beats");
      stalled = now === beats ? stalled + lookInterval : 0;
      beats = now;
      if (stalled < stallLimit) return;
      events.event("error", `the worker has not turned its event loop for ${stalled} ms: it is ended`);
      void worker.terminate();
    }, lookInterval);
    watch.unref();
    const own = { worker, closed };
    return own;
  };

  return {
    name: service.name,
    counters,
    get connected() {
      return clients.size;
    },
    get refused() {
      return refused;
    },
    whyNot() {
      const why = isClosing
        ? "the service ends"
        : clients.size >= mostClients
          ? `${service.name} has ${clients.size} clients, which is the limit`
          : undefined;
      if (why !== undefined) refused++;
      return why;
    },
    serve(client) {
      running ??= start();
      const { worker } = running;
      const id = ++lastId;
      const { port1, port2 } = new MessageChannel();
      clients.set(id, client);
      const { descriptors, pid } = client;
      const way = descriptors === undefined ? "copied" : "shared";
      events.event("info", "a client has connected", { client: id, pid, memory: way });
      const message: ToWorker = { kind: "client", port: port2, descriptors: descriptors?.fd };
      const gone = once(worker, "exit");
      worker.postMessage(message, [port2]);
      const channel = portChannel(port1);
      // The port of a worker that is ended does not always close.
      void gone.promise.then(() => channel.close("the process of the device has ended"));
      const ended = relay(client.channel, channel).then((reason) => {
        gone.cancel();
        clients.delete(id);
        ends.delete(ended);
        // The worker may still be reading from it.
        setTimeout(() => descriptors?.close(), 100).unref();
        events.event("info", `a client is gone: ${reason}`, { client: id });
      });
      ends.add(ended);
    },
    async close() {
      isClosing = true;
      if (running === undefined) return undefined;
      const { worker, closed } = running;
      worker.postMessage({ kind: "close" } satisfies ToWorker);
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<undefined>((resolve) => {
        timer = setTimeout(() => resolve(undefined), 2 * drainLimit + 1000);
      });
      const trace = await Promise.race([closed, late]);
      clearTimeout(timer);
      await worker.terminate();
      await Promise.all(ends);
      return trace;
    },
  };
}

function once(worker: Worker, event: "exit"): { readonly promise: Promise<void>; cancel(): void } {
  let listener = () => {};
  const promise = new Promise<void>((resolve) => {
    listener = () => resolve();
    worker.once(event, listener);
  });
  return { promise, cancel: () => worker.off(event, listener) };
}

/** Starts the worker of this package: a file next to this one, in a build as in the sources. */
function startDeviceWorker(settings: WorkerSettings): Worker {
  return new Worker(new URL("./device-worker.ts", import.meta.url), {
    workerData: settings,
    // Descriptors of clients are received and closed by system calls of a library, which Node.js does not see.
    trackUnmanagedFds: false,
  });
}
