/**
 * A HAL device over a backend: what the HAL demands of every driver is done here, and the backend only computes.
 */
import type { Backend, BackendSession, Unavailable } from "@nnhal/backend";
import { type Operation, operationByCode } from "@nnhal/operations";
import { defaultLogger, inSection, type Logger, noTracer, type Tracer } from "@nnhal/utils";
import { type Caching, type CachingOptions, createCaching } from "../cache/cache.ts";
import type { BufferDomain } from "../domains/allocate.ts";
import { createScheduler, type Scheduler } from "../schedule/scheduler.ts";
import { systemTimer, type Timer } from "../schedule/timer.ts";
import type { Client } from "./client.ts";
import { type ClientDevice, clientDevice } from "./client-device.ts";
import { steadyClock } from "./steady-clock.ts";
import { defaultTemporaryLimit } from "./temporary-limit.ts";

/** What a device is made of. */
export interface DeviceOptions {
  /** The name it is registered under, such as `nnhal-reference`. Default: `nnhal-` and the backend's name. */
  readonly name?: string;
  readonly backend: Backend;
  /** Definitions beside those of the HAL. Default: the HAL's alone. */
  readonly operationByCode?: (code: number) => Operation | undefined;
  /** Nanoseconds of a clock that never goes back; deadlines are times on it. Default: the process's steady clock. */
  readonly now?: () => bigint;
  /** Waits on that clock. Default: the system's. */
  readonly timer?: Timer;
  /** Most executions under way at once; others wait for their turn. Default: what the backend says, else 4. */
  readonly concurrency?: number;
  /** Nanoseconds without an execution after which a prepared model gives up its scratch memory. Default: 5 s. */
  readonly idleAfter?: bigint;
  /** Bytes that the results of operations may take together while models run: see `RunContext.temporaryLimit`. Default: a quarter of the memory. */
  readonly temporaryLimit?: number;
  /** Compilation caching; false: none. Default: `{}`. */
  readonly caching?: CachingOptions | false;
  /** Uniform in [0, 1). Default: Math.random. */
  readonly random?: () => number;
  /** Takes what the device has to say (tags DRIVER, MODEL and CPUEXE). Default: the console, where NNHAL_VLOG asks for it. */
  readonly log?: Logger;
  /** Default: off. */
  readonly trace?: Tracer;
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

/** What the parts of a device share. */
export interface SharedContext {
  readonly name: string;
  readonly session: BackendSession;
  readonly operationByCode: (code: number) => Operation | undefined;
  readonly now: () => bigint;
  readonly timer: Timer;
  /** Nanoseconds. */
  readonly idleAfter: bigint;
  /** Bytes. Undefined: no limit. */
  readonly temporaryLimit?: number;
  readonly random: () => number;
  readonly scheduler: Scheduler;
  /** Undefined: no caching. */
  readonly caching: Caching | undefined;
  readonly log: Logger;
  readonly trace: Tracer;
}

/** What everything that one client of a device has shares. */
export interface DeviceContext extends SharedContext {
  /** The scheduler is fair among clients. */
  readonly client: Client;
  readonly domain: BufferDomain;
}

/** Opens a backend and makes a device of it, or says why the backend cannot work here. */
export async function openDevice(options: DeviceOptions): Promise<OpenedDevice | Unavailable> {
  const { backend, log = defaultLogger, trace = noTracer, now = steadyClock, timer = systemTimer } = options;
  log.initVLogMask();
  const session = await inSection(trace, "LD", "PI", `${backend.name}: open`, () => backend.open());
  if ("unavailable" in session) return session;
  const { name = `nnhal-${backend.name}`, caching = {} } = options;
  const concurrency = options.concurrency ?? session.concurrency ?? 4;
  const owner = { device: name, backend: backend.name, version: session.version };
  return deviceOver(
    {
      name,
      session,
      operationByCode: options.operationByCode ?? operationByCode,
      now,
      timer,
      idleAfter: options.idleAfter ?? 5_000_000_000n,
      temporaryLimit: options.temporaryLimit ?? defaultTemporaryLimit(),
      random: options.random ?? Math.random,
      scheduler: createScheduler({ concurrency, now, timer }),
      caching: caching === false ? undefined : createCaching(caching, owner),
      log,
      trace,
    },
    backend,
  );
}

function deviceOver(shared: SharedContext, backend: Backend): OpenedDevice {
  const clients = new Set<ClientDevice>();
  let closed: Promise<void> | undefined;
  const connect = (): ClientDevice => {
    const client = clientDevice(shared, backend);
    clients.add(client);
    const close = async () => {
      await client.close();
      clients.delete(client);
    };
    // A device that is closed has no client that is not.
    if (closed !== undefined) void close();
    return { ...client, close };
  };
  const close = async () => {
    await Promise.all([...clients].map((client) => client.close()));
    await shared.session.close();
  };
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
