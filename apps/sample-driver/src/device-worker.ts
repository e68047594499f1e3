/**
 * The thread of a service: opens the device, and serves it to the clients whose ports it is sent. Everything that computes is here, so
 * that the main thread always has time.
 */

import { parentPort, workerData } from "node:worker_threads";
import { type OpenedDevice, openDevice } from "@nnhal/driver-core/device";
import { fileOutcomes } from "@nnhal/driver-core/outcomes";
import { createPassing, descriptorWay } from "@nnhal/service/shared-memory";
import { noPassing, type PassingFactory, portChannel } from "@nnhal/transport/channels";
import { type ServedConnection, serve } from "@nnhal/transport/server";
import { createLogger, createTraceRecorder, noTracer, VLOG_PROPERTY } from "@nnhal/utils";
import { steadyClock } from "@nnhal/utils/time";
import { calibratedBackend } from "./calibration.ts";
import { limitedDevice } from "./client-device.ts";
import { createCounters } from "./counters.ts";
import type { FromWorker, ToWorker, WorkerSettings } from "./messages.ts";
import { loadBackend } from "./services.ts";

/** Starts to serve. `parent`: the port to the main thread. */
async function run(parent: NonNullable<typeof parentPort>, settings: WorkerSettings): Promise<void> {
  const { service, limits, vlog, traces, calibration, state, drainLimit } = settings;
  const counters = createCounters(settings.counters);
  const tell = (message: FromWorker) => parent.postMessage(message);
  const recorder = traces ? createTraceRecorder() : undefined;
  recorder?.start();
  const log = createLogger({
    sink: (entry) => tell({ kind: "log", entry }),
    properties: (name) => (name === VLOG_PROPERTY ? vlog : undefined),
  });
  const beat = setInterval(() => counters.add("beats", 1), 50);
  const clients = new Set<ServedConnection>();

  const open = async (): Promise<OpenedDevice | { readonly unavailable: string }> => {
    try {
      const { backend, hasCaching } = await loadBackend(service);
      const onOtherVersion = (message: string) => log.warning(`${service.name}: ${message}`);
      const opened = await openDevice({
        name: service.name,
        backend: calibration === undefined ? backend : calibratedBackend(backend, calibration, onOtherVersion),
        outcomes: state === undefined ? undefined : fileOutcomes(state),
        limits: { bufferBytes: limits.bufferBytes, waitingPerClient: limits.queue },
        closeTimeout: BigInt(drainLimit) * 1_000_000n,
        trace: recorder ?? noTracer,
        log,
        ...(hasCaching ? {} : { caching: false }),
      });
      return opened;
    } catch (error) {
      return { unavailable: error instanceof Error ? error.message : String(error) };
    }
  };
  const opening = open();
  void opening.then((device) => {
    if ("unavailable" in device) tell({ kind: "unavailable", reason: device.unavailable });
    else tell({ kind: "opened", version: device.getVersionString().version });
  });

  const accept = ({ port, descriptors }: Extract<ToWorker, { kind: "client" }>) => {
    const provider = async () => {
      const device = await opening;
      if ("unavailable" in device) return device;
      const client = limitedDevice(device.connect(), { limits, counters, now: steadyClock });
      return { device: client, close: () => client.close() };
    };
    const served = serve(provider, portChannel(port), {
      passing: passingOver(descriptors),
      limits: { objects: limits.models + limits.buffers + 1024, calls: limits.queue + 64 },
    });
    clients.add(served);
    void served.ended.then(() => clients.delete(served));
  };
  const passingOver = (descriptors: number | undefined): PassingFactory => {
    const way = descriptors === undefined ? undefined : descriptorWay(descriptors);
    if (way === undefined || "notPassed" in way) return noPassing;
    return (onUnused) => {
      const passing = createPassing(way, { onUnused, mostBytes: limits.mappedBytes });
      let mapped = 0;
      const count = () => {
        counters.add("mappedBytes", passing.receivedBytes - mapped);
        mapped = passing.receivedBytes;
      };
      return {
        ...passing,
        receive(reference) {
          const memory = passing.receive(reference);
          count();
          return memory;
        },
        release(id) {
          passing.release(id);
          count();
        },
        close() {
          passing.close();
          count();
        },
      };
    };
  };
  const close = async () => {
    const device = await opening;
    // Running executions end, and their answers are sent, before the connections are closed.
    if (!("unavailable" in device)) await device.close();
    await Promise.all([...clients].map((client) => client.close("the service ends")));
    clearInterval(beat);
    tell({ kind: "closed", trace: recorder?.read() });
    parent.close();
  };
  // The main thread sends nothing else.
  parent.on("message", (message: ToWorker) => {
    if (message.kind === "client") accept(message);
    else void close();
  });
}

// The main thread starts it with these.
if (parentPort !== null) await run(parentPort, workerData as WorkerSettings);
