/** The messages between the main thread and the worker of a service, in addition to the frames of clients. */
import type { MessagePort } from "node:worker_threads";
import type { LogEntry, Trace } from "@nnhal/utils";
import type { Calibration } from "./calibration.ts";
import type { ClientLimits } from "./client-device.ts";
import type { Service } from "./services.ts";

/** Settings that a worker is started with. */
export interface WorkerSettings {
  readonly service: Service;
  readonly limits: ClientLimits;
  /** The memory of the counters. */
  readonly counters: SharedArrayBuffer;
  /** The value of `debug.nn.vlog`. */
  readonly vlog: string;
  readonly traces: boolean;
  /** Figures of the device, which hold for the version that was measured; undefined: its own. */
  readonly calibration: Calibration | undefined;
  /** The directory of kept self-checks of engines; undefined: the engine checks itself at each start. */
  readonly state: string | undefined;
  /** Milliseconds that running executions may take when the device closes. */
  readonly drainLimit: number;
}

/** To the worker. */
export type ToWorker =
  | { readonly kind: "client"; readonly port: MessagePort; readonly descriptors: number | undefined }
  /** The device closes: running executions end, all else is refused. */
  | { readonly kind: "close" };

/** From the worker. */
export type FromWorker =
  /** The device is open, or why it cannot be. */
  | { readonly kind: "opened"; readonly version: string }
  | { readonly kind: "unavailable"; readonly reason: string }
  | { readonly kind: "log"; readonly entry: LogEntry }
  /** The worker is closed; with its trace. */
  | { readonly kind: "closed"; readonly trace: Trace | undefined };
