/**
 * A burst between two threads: the queues lie in shared memory, and a MessagePort carries the few other calls. When
 * either thread ends, the other side is notified.
 */
import { ErrorStatus, type FmqDescriptor, type IBurstCallback, type Memory, type PreparedModel } from "@nnhal/types";
import type { BurstController, BurstOptions } from "./burst.ts";
import { type BurstPort, type Calls, createCalls, isRecord, PeerGone } from "./calls.ts";
import { type CreateBurstResult, createBurst } from "./controller.ts";
import { type BurstContext, type BurstServerOptions, configureExecutionBurst } from "./server.ts";

/** A burst served over a port. */
export interface ServedBurst {
  /** Resolves when either side has ended the burst. */
  readonly ended: Promise<void>;
  /** Ends the burst after the current execution, and closes the port. */
  close(): Promise<void>;
}

/**
 * Serves the burst that the other side of a port starts by `connectBurst`. The caller keeps the prepared model. The
 * port keeps this thread alive until the burst ends.
 */
export function serveBurst(
  port: BurstPort,
  preparedModel: Pick<PreparedModel, "execute">,
  options: BurstServerOptions = {},
): ServedBurst {
  let context: BurstContext | undefined;
  const callback: IBurstCallback = {
    async getMemories(slots) {
      const answer = await calls.call("getMemories", slots);
      return { status: statusOf(answer), buffers: buffersOf(answer) };
    },
  };
  const calls: Calls = createCalls(
    port,
    {
      configureExecutionBurst(argument) {
        if (context !== undefined) return { status: ErrorStatus.INVALID_ARGUMENT, message: "the port has a burst" };
        const requestChannel = descriptorOf(argument, "requestChannel", "FmqRequestDatum");
        const resultChannel = descriptorOf(argument, "resultChannel", "FmqResultDatum");
        const result = configureExecutionBurst(preparedModel, callback, requestChannel, resultChannel, options);
        context = result.context ?? undefined;
        // A service that gives up on its client closes the port and lets the thread end.
        void context?.ended.then(() => calls.close());
        return { status: result.status, message: result.message };
      },
      async freeMemory(slot) {
        if (typeof slot === "number") await context?.freeMemory(slot);
      },
    },
    { keepAlive: true },
  );
  const close = async () => {
    await context?.close();
    calls.close();
  };
  void calls.closed.then(close);
  return { ended: calls.closed.then(close), close };
}

/**
 * Starts a burst that the other side of a port serves by `serveBurst`. The burst owns the port from then on.
 * DEVICE_UNAVAILABLE: the port is closed, or does not answer within `silenceLimit`.
 */
export async function connectBurst(port: BurstPort, options: BurstOptions = {}): Promise<CreateBurstResult> {
  let burst: BurstController | null = null;
  let calls: Calls | undefined;
  const started = await createBurst(
    async (callback, requestChannel, resultChannel) => {
      const service = createCalls(
        port,
        { getMemories: (slots) => callback.getMemories(Array.isArray(slots) ? slots : []) },
        { keepAlive: false },
      );
      calls = service;
      void service.closed.then(() => burst?.abandon("the service is gone"));
      try {
        const answer = await service.call("configureExecutionBurst", { requestChannel, resultChannel });
        const status = statusOf(answer);
        if (status !== ErrorStatus.NONE) {
          return { status, message: isRecord(answer) ? String(answer.message) : "no answer", context: null };
        }
        return {
          status,
          context: {
            freeMemory: (slot) => service.call("freeMemory", slot).then(ignore, ignore),
            close: () => {
              service.close();
              return service.closed;
            },
          },
        };
      } catch (error) {
        if (!(error instanceof PeerGone)) throw error;
        return { status: ErrorStatus.DEVICE_UNAVAILABLE, message: `starting a burst: ${error.message}`, context: null };
      }
    },
    { refuseMemory: refuseUnshared, ...options },
  );
  burst = started.burst;
  if (burst === null) calls?.close();
  return started;
}

function ignore(): void {}

/** Why a memory cannot be passed to another thread: that thread would see a copy. */
function refuseUnshared({ handle }: Memory): string | undefined {
  if (handle?.kind !== "buffer" || handle.buffer instanceof SharedArrayBuffer) return undefined;
  return "its bytes lie in an ArrayBuffer, which another thread cannot see; use a SharedArrayBuffer";
}

function statusOf(answer: unknown): ErrorStatus {
  const status = isRecord(answer) ? answer.status : undefined;
  return Object.values(ErrorStatus).find((known) => known === status) ?? ErrorStatus.GENERAL_FAILURE;
}

function buffersOf(answer: unknown): Memory[] {
  const buffers = isRecord(answer) ? answer.buffers : undefined;
  return Array.isArray(buffers) ? buffers.filter(isMemory) : [];
}

/** Returns true if a value has the fields of a memory. Its handle is validated elsewhere. */
function isMemory(value: unknown): value is Memory {
  return isRecord(value) && typeof value.name === "string" && typeof value.size === "number" && "handle" in value;
}

function descriptorOf<Datum extends "FmqRequestDatum" | "FmqResultDatum">(
  argument: unknown,
  name: string,
  datum: Datum,
): FmqDescriptor<Datum> {
  const descriptor = isRecord(argument) ? argument[name] : undefined;
  const none = { name: "ashmem", size: 0, handle: null };
  if (!isRecord(descriptor)) return { datum, memory: none, capacity: 0 };
  const { memory, capacity } = descriptor;
  return { datum, memory: isMemory(memory) ? memory : none, capacity: typeof capacity === "number" ? capacity : 0 };
}
