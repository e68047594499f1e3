/**
 * A HAL device over a backend: what the HAL demands of every driver is done here, and the backend only computes.
 */
import type { Backend, BackendSession, Unavailable } from "@nnhal/backend";
import { type Operation, operationByCode } from "@nnhal/operations";
import {
  type Device,
  DeviceStatus,
  ErrorStatus,
  type ExecutionPreference,
  type Model,
  ExecutionPreference as Preference,
  type PrepareOptions,
  type PrepareResult,
  type Priority,
  Priority as PriorityCode,
} from "@nnhal/types";
import {
  defaultLogger,
  inSection,
  type Logger,
  modelSummary,
  noTracer,
  type TracePhase,
  type Tracer,
} from "@nnhal/utils";
import { validateExecutionPreference, validatePriority } from "@nnhal/validation";
import { allocate, type BufferDomain, createBufferDomain } from "../domains/allocate.ts";
import { createScheduler, type Scheduler } from "../schedule/scheduler.ts";
import { systemTimer, type Timer } from "../schedule/timer.ts";
import { checkModel } from "./check-model.ts";
import { outcomeText, supportText } from "./log-text.ts";
import { prepareModel } from "./prepared-model.ts";
import { steadyClock } from "./steady-clock.ts";
import { supportOf } from "./support.ts";

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
  /** Uniform in [0, 1). Default: Math.random. */
  readonly random?: () => number;
  /** Takes what the device has to say (tags DRIVER, MODEL and CPUEXE). Default: the console, where NNHAL_VLOG asks for it. */
  readonly log?: Logger;
  /** Default: off. */
  readonly trace?: Tracer;
}

/** What the parts of a device share. */
export interface DeviceContext {
  readonly name: string;
  readonly session: BackendSession;
  readonly operationByCode: (code: number) => Operation | undefined;
  readonly now: () => bigint;
  readonly timer: Timer;
  readonly random: () => number;
  readonly scheduler: Scheduler;
  /** Whose executions they are: the scheduler is fair among clients. */
  readonly client: object;
  readonly domain: BufferDomain;
  readonly log: Logger;
  readonly trace: Tracer;
}

/** Opens a backend and makes a device of it, or says why the backend cannot work here. */
export async function openDevice(options: DeviceOptions): Promise<Device | Unavailable> {
  const { backend, log = defaultLogger, trace = noTracer } = options;
  log.initVLogMask();
  const session = await inSection(trace, "LD", "PI", `${backend.name}: open`, () => backend.open());
  if ("unavailable" in session) return session;
  const { now = steadyClock, timer = systemTimer } = options;
  const concurrency = options.concurrency ?? session.concurrency ?? 4;
  return deviceOver(
    {
      name: options.name ?? `nnhal-${backend.name}`,
      session,
      operationByCode: options.operationByCode ?? operationByCode,
      now,
      timer,
      random: options.random ?? Math.random,
      scheduler: createScheduler({ concurrency, now, timer }),
      client: {},
      domain: createBufferDomain(),
      log,
      trace,
    },
    backend,
  );
}

function deviceOver(context: DeviceContext, backend: Backend): Device {
  const { name, session, log, trace } = context;
  const ok = { status: ErrorStatus.NONE } as const;
  /** Answers a call: says that it came, and traces it. */
  const called = <Result>(method: string, phase: TracePhase, answer: () => Result): Result => {
    log.VLOG("DRIVER", () => `${name}: ${method}`);
    return inSection(trace, "LD", phase, `${name}: ${method}`, answer);
  };
  return {
    name,
    getCapabilities() {
      log.initVLogMask();
      return called("getCapabilities", "PI", () => ({ ...ok, capabilities: session.capabilities }));
    },
    getType: () => called("getType", "PI", () => ({ ...ok, type: backend.deviceType })),
    getVersionString: () => called("getVersionString", "PI", () => ({ ...ok, version: session.version })),
    getSupportedExtensions: () => called("getSupportedExtensions", "PI", () => ({ ...ok, extensions: [] })),
    getNumberOfCacheFilesNeeded: () =>
      called("getNumberOfCacheFilesNeeded", "PI", () => ({ ...ok, numModelCache: 0, numDataCache: 0 })),
    getStatus: () => called("getStatus", "PU", () => DeviceStatus.AVAILABLE),
    getSupportedOperations: (model) =>
      called("getSupportedOperations", "PC", () => {
        const checked = checkModel(model, context);
        if ("status" in checked) return { ...checked, supported: [], reasons: [] };
        const reasons = supportOf(checked, session);
        log.VLOG("DRIVER", () => `${name}: ${supportText(reasons)}`);
        return { ...ok, supported: reasons.map((reason) => reason === undefined), reasons };
      }),
    prepareModel: (model, options = {}) =>
      called("prepareModel", "PC", async () => {
        log.VLOG("MODEL", () => `${name}: a model of ${modelSummary(model)}`);
        const result = await prepare(model, options, context);
        log.VLOG("DRIVER", () => `${name}: prepareModel gives ${outcomeText(result)}`);
        return result;
      }),
    allocate: (desc, preparedModels, inputRoles, outputRoles) =>
      called("allocate", "PIO", async () => {
        const result = allocate(context.domain, session, desc, preparedModels, inputRoles, outputRoles);
        log.VLOG("DRIVER", () => `${name}: allocate gives ${outcomeText(result)}`);
        return result;
      }),
  };
}

async function prepare(
  model: Model,
  { preference = Preference.FAST_SINGLE_ANSWER, priority = PriorityCode.MEDIUM, deadline }: PrepareOptions,
  context: DeviceContext,
): Promise<PrepareResult> {
  const refuse = (status: ErrorStatus, message: string) => ({ status, message, preparedModel: null });
  const invalid = checkQuality(preference, priority);
  if (invalid !== undefined) return refuse(ErrorStatus.INVALID_ARGUMENT, invalid);
  const checked = checkModel(model, context);
  if ("status" in checked) return refuse(checked.status, checked.message);
  if (deadline !== undefined && context.now() >= deadline) {
    return refuse(ErrorStatus.MISSED_DEADLINE_PERSISTENT, "the deadline had passed before the model was prepared");
  }
  const reasons = supportOf(checked, context.session).filter((reason) => reason !== undefined);
  if (reasons.length > 0) {
    return refuse(ErrorStatus.INVALID_ARGUMENT, `${context.name} does not support the model: ${reasons.join("; ")}`);
  }
  return prepareModel(checked, { preference, priority }, deadline, context);
}

function checkQuality(preference: ExecutionPreference, priority: Priority): string | undefined {
  if (!validateExecutionPreference(preference)) {
    return `the execution preference is ${preference} where 0, 1 or 2 is needed`;
  }
  if (!validatePriority(priority)) return `the priority is ${priority} where 0, 1 or 2 is needed`;
  return undefined;
}
