/**
 * A HAL device over a backend: what the HAL demands of every driver is done here, and the backend only computes.
 */
import { totalmem } from "node:os";
import type { Backend, Unavailable } from "@nnhal/backend";
import { type Operation, operationByCode } from "@nnhal/operations";
import { defaultLogger, inSection, type Logger, noTracer, type Tracer } from "@nnhal/utils";
import { type CachingOptions, createCaching } from "../cache/cache.ts";
import { createBreather } from "../schedule/breather.ts";
import { createScheduler, type WaitingLimits } from "../schedule/scheduler.ts";
import { systemTimer, type Timer } from "../schedule/timer.ts";
import { type ClientDevice, clientDevice } from "./client-device.ts";
import type { SharedContext } from "./context.ts";
import { openGuarded } from "./guarded-session.ts";
import { steadyClock } from "./steady-clock.ts";
import { defaultTemporaryLimit } from "./temporary-limit.ts";

/** What a device is made of. */
export interface DeviceOptions {
  /** The name it is registered under, such as `nnhal-reference`. Default: `nnhal-` and the backend's name. */
  readonly name?: string | undefined;
  readonly backend: Backend;
  /** Definitions beside those of the HAL. Default: the HAL's alone. */
  readonly operationByCode?: ((code: number) => Operation | undefined) | undefined;
  /** Nanoseconds of a clock that never goes back; deadlines are times on it. Default: the process's steady clock. */
  readonly now?: (() => bigint) | undefined;
  /** Waits on that clock. Default: the system's. */
  readonly timer?: Timer | undefined;
  /** Most executions under way at once; others wait for their turn. Default: what the backend says, else 4. */
  readonly concurrency?: number | undefined;
  /** What may wait, and be kept, at once. What would be more is refused with RESOURCE_EXHAUSTED_TRANSIENT. */
  readonly limits?: DeviceLimits | undefined;
  /**
   * Nanoseconds that an execution keeps its turn after its deadline, if the engine does not end it. Then another one starts beside
   * it. Default: 1 s.
   */
  readonly overrun?: bigint | undefined;
  /** Nanoseconds that the backend may take to open. Default: 60 s. */
  readonly openTimeout?: bigint | undefined;
  /** Nanoseconds that closing waits for executions and preparations under way, and again for the backend. Default: 5 s. */
  readonly closeTimeout?: bigint | undefined;
  /** Nanoseconds without an execution after which a prepared model gives up its scratch memory. Default: 5 s. */
  readonly idleAfter?: bigint | undefined;
  /** Bytes that the results of operations may take together while models run: see `RunContext.temporaryLimit`. Default: a quarter of the memory. */
  readonly temporaryLimit?: number | undefined;
  /** Compilation caching; false: none. Default: `{}`. */
  readonly caching?: CachingOptions | false | undefined;
  /** Uniform in [0, 1). Default: Math.random. */
  readonly random?: (() => number) | undefined;
  /** Takes what the device has to say (tags DRIVER, MODEL and CPUEXE). Default: the console, where NNHAL_VLOG asks for it. */
  readonly log?: Logger | undefined;
  /** Default: off. */
  readonly trace?: Tracer | undefined;
}

/** See `DeviceOptions.limits`. Executions and preparations that wait, for a turn, a fence or the engine, each take a place. */
export interface DeviceLimits extends WaitingLimits {
  /** Most bytes of all device buffers of one client together. Default: half of the machine's memory. */
  readonly bufferBytes?: number | undefined;
}

/** A device that has been opened, for its first client. */
export interface OpenedDevice extends ClientDevice {
  /**
   * The device for another client: with the same engine and the same turns, and with prepared models, buffers and tokens of
   * its own. Those of another client are as good as none: INVALID_ARGUMENT.
   */
  connect(): ClientDevice;
  /** Ends all clients, and then the backend. Resolves when all is free. */
  close(): Promise<void>;
}

/**
 * Opens a backend and makes a device of it, or says why the backend cannot work here. Throws RangeError for options that no device
 * can have.
 */
export async function openDevice(options: DeviceOptions): Promise<OpenedDevice | Unavailable> {
  const { backend, log = defaultLogger, trace = noTracer, now = steadyClock, timer = systemTimer } = options;
  const { limits = {}, openTimeout = 60_000_000_000n, closeTimeout = 5_000_000_000n, caching = {} } = options;
  const name = options.name ?? `nnhal-${backend?.name}`;
  log.initVLogMask();
  const guarding = { log, name, now, timer, openTimeout, closeTimeout };
  const session = await inSection(trace, "LD", "PI", `${backend?.name}: open`, () => openGuarded(backend, guarding));
  if ("unavailable" in session) return session;
  try {
    const concurrency = options.concurrency ?? session.concurrency ?? 4;
    const breather = createBreather();
    const owner = { device: name, backend: backend.name, version: session.version };
    return deviceOver({
      name,
      session,
      operationByCode: options.operationByCode ?? operationByCode,
      now,
      timer,
      idleAfter: options.idleAfter ?? 5_000_000_000n,
      overrun: options.overrun ?? 1_000_000_000n,
      closeTimeout,
      bufferBytes: limits.bufferBytes ?? totalmem() / 2,
      temporaryLimit: options.temporaryLimit ?? defaultTemporaryLimit(),
      random: options.random ?? Math.random,
      scheduler: createScheduler({ ...limits, concurrency, now, timer, breather }),
      breather,
      caching: caching === false ? undefined : createCaching(caching, owner),
      log,
      trace,
    });
  } catch (error) {
    await session.close();
    throw error;
  }
}

function deviceOver(shared: SharedContext): OpenedDevice {
  const clients = new Set<ReturnType<typeof clientDevice>>();
  let closed: Promise<void> | undefined;
  let lost: string | undefined;
  const connect = (): ClientDevice => {
    const connected = clientDevice(shared);
    clients.add(connected);
    const close = async () => {
      await connected.device.close();
      clients.delete(connected);
    };
    if (lost !== undefined) connected.client.lose(lost);
    // A device that is closed has only clients that are closed.
    if (closed !== undefined) void close();
    return { ...connected.device, close };
  };
  const close = async () => {
    await Promise.all([...clients].map(({ device }) => device.close()));
    await shared.session.close();
  };
  shared.session.onLost((reason) => {
    lost = reason;
    shared.log.error(`${shared.name}: the engine is lost: ${reason}`);
    for (const { client } of clients) client.lose(reason);
  });
  const first = connect();
  return {
    ...first,
    connect,
    close() {
      closed ??= close();
      return closed;
    },
  };
}
