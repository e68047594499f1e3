/** A HAL device over a backend: the HAL's rules for drivers are kept here, and the backend only computes. */

import type { Backend, OutcomeStore, Unavailable } from "@nnhal/backend";
import { expectKnownOptions, type OptionNames } from "@nnhal/operations";
import { defaultLogger, inSection, type Logger, noTracer, type Tracer } from "@nnhal/utils";
import { steadyClock, systemTimer, type Timer } from "@nnhal/utils/time";
import { type CachingOptions, createCaching } from "../cache/caching.ts";
import { openGuarded } from "../engine/guarded-session.ts";
import { createScheduler } from "../schedule/scheduler.ts";
import { createTurnLimit } from "../schedule/turn-limit.ts";
import type { WaitingLimits } from "../schedule/waiting-places.ts";
import { type ClientDevice, clientDevice } from "./client-device.ts";
import type { SharedContext } from "./context.ts";
import { plainRun } from "./run-context.ts";
import { defaultTemporaryLimit, machineMemory } from "./temporary-limit.ts";

/** Options for creating a device. */
export interface DeviceOptions {
  /** The name it is registered under, such as `nnhal-reference`. Default: `nnhal-` and the backend's name. */
  readonly name?: string | undefined;
  readonly backend: Backend;
  /** Where the engine keeps the outcome of its self-check between processes. Default: nowhere. */
  readonly outcomes?: OutcomeStore | undefined;
  /** A monotonic clock in nanoseconds; deadlines are times on it. Default: the process's steady clock. */
  readonly now?: (() => bigint) | undefined;
  /** Waits on that clock. Default: the system's. */
  readonly timer?: Timer | undefined;
  /**
   * Maximum number of concurrent executions; others wait for their turn. Default: the backend's `concurrency`, else 4.
   */
  readonly concurrency?: number | undefined;
  /** Limits of waiting work and of device buffers. Beyond them, calls return RESOURCE_EXHAUSTED_TRANSIENT. */
  readonly limits?: DeviceLimits | undefined;
  /**
   * Nanoseconds that an execution keeps its turn after its deadline if the engine does not end it. After that, another
   * execution starts while it runs. Default: 1 s.
   */
  readonly overrun?: bigint | undefined;
  /** Maximum nanoseconds to open the backend. Default: 60 s. */
  readonly openTimeout?: bigint | undefined;
  /**
   * Maximum nanoseconds that `close` waits for running executions and preparations, and again for the backend. Default:
   * 5 s.
   */
  readonly closeTimeout?: bigint | undefined;
  /** Nanoseconds without an execution after which a prepared model releases its scratch memory. Default: 5 s. */
  readonly idleAfter?: bigint | undefined;
  /**
   * Maximum total bytes of temporary results while models run: see `RunContext.temporaryLimit`. Default: a quarter of
   * the memory.
   */
  readonly temporaryLimit?: number | undefined;
  /** Compilation caching; false: none. Default: `{}`. */
  readonly caching?: CachingOptions | false | undefined;
  /** Uniform in [0, 1). Default: Math.random. */
  readonly random?: (() => number) | undefined;
  /** The device's logger (tags DRIVER, MODEL and CPUEXE). Default: the console, with the tags in NNHAL_VLOG. */
  readonly log?: Logger | undefined;
  /** Default: off. */
  readonly trace?: Tracer | undefined;
}

/**
 * See `DeviceOptions.limits`. Each execution and preparation that waits for a turn, a fence or the engine takes a
 * place.
 */
export interface DeviceLimits extends WaitingLimits {
  /** Maximum total bytes of one client's device buffers. Default: half of the machine's memory. */
  readonly bufferBytes?: number | undefined;
}

/** An opened device, for its first client. */
export interface OpenedDevice extends ClientDevice {
  /**
   * The device for another client. Clients share the engine and the scheduler; prepared models, buffers and tokens
   * belong to one client. Objects of another client are rejected with INVALID_ARGUMENT.
   */
  connect(): ClientDevice;
  /** Closes all clients, then the backend. Resolves when everything is freed. */
  close(): Promise<void>;
}

const deviceOptions: OptionNames<DeviceOptions> = {
  name: true,
  backend: true,
  outcomes: true,
  now: true,
  timer: true,
  concurrency: true,
  limits: true,
  overrun: true,
  openTimeout: true,
  closeTimeout: true,
  idleAfter: true,
  temporaryLimit: true,
  caching: true,
  random: true,
  log: true,
  trace: true,
};

/**
 * Opens a backend and makes a device of it, or returns why the backend cannot work here. Throws RangeError for invalid
 * options.
 */
export async function openDevice(options: DeviceOptions): Promise<OpenedDevice | Unavailable> {
  expectKnownOptions("openDevice", options, deviceOptions);
  const { backend, log = defaultLogger, trace = noTracer, now = steadyClock, timer = systemTimer } = options;
  const { outcomes, limits = {}, openTimeout = 60_000_000_000n, closeTimeout = 5_000_000_000n, caching = {} } = options;
  const name = options.name ?? `nnhal-${backend?.name}`;
  log.initVLogMask();
  const guarding = { log, name, outcomes, now, timer, openTimeout, closeTimeout };
  const session = await inSection(trace, "LD", "PI", `${backend?.name}: open`, () => openGuarded(backend, guarding));
  if ("unavailable" in session) return session;
  try {
    const concurrency = options.concurrency ?? session.concurrency ?? 4;
    const turnLimit = createTurnLimit();
    const running = {
      temporaryLimit: options.temporaryLimit ?? defaultTemporaryLimit(),
      random: options.random ?? Math.random,
    };
    const owner = { device: name, backend: backend.name, version: session.version };
    return deviceOver({
      name,
      session,
      now,
      timer,
      idleAfter: options.idleAfter ?? 5_000_000_000n,
      overrun: options.overrun ?? 1_000_000_000n,
      closeTimeout,
      bufferBytes: limits.bufferBytes ?? machineMemory() / 2,
      ...running,
      plainRun: plainRun({ now, ...running }),
      scheduler: createScheduler({ ...limits, concurrency, now, timer, turnLimit }),
      turnLimit,
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
    // After the device is closed, a new client is closed at once.
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
