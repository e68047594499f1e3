/**
 * The device as one client has it: prepared models, buffers, tokens and bursts are the client's own.
 */
import type { Backend } from "@nnhal/backend";
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
import { inSection, modelSummary, type TracePhase } from "@nnhal/utils";
import { validateExecutionPreference, validatePriority } from "@nnhal/validation";
import { cacheFiles } from "../cache/cache.ts";
import { allocate, closeBuffers, createBufferDomain } from "../domains/allocate.ts";
import { checkModel } from "./check-model.ts";
import { createClient } from "./client.ts";
import type { DeviceContext, SharedContext } from "./device.ts";
import { outcomeText, supportText } from "./log-text.ts";
import { clientGone, prepareChecked, unprepared } from "./prepare.ts";
import { prepareFromCache } from "./prepare-from-cache.ts";
import { invalid } from "./refusal.ts";
import { supportOf, whyUnsupported } from "./support.ts";

/** What not every device has, and this one does. */
type Optional = "prepareModelFromCache" | "allocate";

/** A device, for one of its clients. */
export interface ClientDevice extends Omit<Device, Optional>, Required<Pick<Device, Optional>> {
  /**
   * Ends the client: frees its buffers, bursts and prepared models. What waits for a turn or a fence ends with
   * DEVICE_UNAVAILABLE, as does what is asked for later; what runs runs to its end. Resolves when all is free.
   */
  close(): Promise<void>;
}

/** Another client of a device. */
export function clientDevice(shared: SharedContext, backend: Backend): ClientDevice {
  const client = createClient();
  const domain = createBufferDomain();
  const context: DeviceContext = { ...shared, client, domain };
  const { name, session, log, trace } = context;
  client.onClose(() => {
    shared.scheduler.dismiss(client);
    closeBuffers(domain);
  });
  const ok = { status: ErrorStatus.NONE } as const;
  /** Answers a call: says that it came, and traces it. */
  const called = <Result>(method: string, phase: TracePhase, answer: () => Result): Result => {
    log.VLOG("DRIVER", () => `${name}: ${method}`);
    return inSection(trace, "LD", phase, `${name}: ${method}`, answer);
  };
  /** Answers a call, and says what came of it. */
  const telling = (method: string, answer: () => Promise<PrepareResult>) =>
    called(method, "PC", async () => {
      const result = client.isClosed ? unprepared(clientGone) : await answer();
      log.VLOG("DRIVER", () => `${name}: ${method} gives ${outcomeText(result)}`);
      return result;
    });
  return {
    name,
    getCapabilities() {
      log.initVLogMask();
      return called("getCapabilities", "PI", () => ({ ...ok, capabilities: session.capabilities }));
    },
    getType: () => called("getType", "PI", () => ({ ...ok, type: session.deviceType ?? backend.deviceType })),
    getVersionString: () => called("getVersionString", "PI", () => ({ ...ok, version: session.version })),
    getSupportedExtensions: () => called("getSupportedExtensions", "PI", () => ({ ...ok, extensions: [] })),
    getNumberOfCacheFilesNeeded: () =>
      called("getNumberOfCacheFilesNeeded", "PI", () => {
        return { ...ok, ...(shared.caching === undefined ? { numModelCache: 0, numDataCache: 0 } : cacheFiles) };
      }),
    getStatus: () => called("getStatus", "PU", () => (client.isClosed ? DeviceStatus.OFFLINE : DeviceStatus.AVAILABLE)),
    getSupportedOperations: (model) =>
      called("getSupportedOperations", "PC", () => {
        const checked = checkModel(model, context);
        if ("status" in checked) return { ...checked, supported: [], reasons: [] };
        const { reasons, launches } = supportOf(checked, session);
        log.VLOG("DRIVER", () => `${name}: ${supportText(reasons)}`);
        const isPlain = launches.every((count) => count === 1);
        const supported = reasons.map((reason) => reason === undefined);
        return { ...ok, supported, reasons, ...(!isPlain && { launches }) };
      }),
    prepareModel: (model, options = {}) =>
      telling("prepareModel", () => {
        log.VLOG("MODEL", () => `${name}: a model of ${modelSummary(model)}`);
        return prepare(model, options, context);
      }),
    prepareModelFromCache: (cache, options = {}) =>
      telling("prepareModelFromCache", () => prepareFromCache(cache, options, context)),
    allocate: (desc, preparedModels, inputRoles, outputRoles) =>
      called("allocate", "PIO", async () => {
        const result = client.isClosed
          ? { ...clientGone, buffer: null, token: 0 }
          : allocate(domain, session, desc, preparedModels, inputRoles, outputRoles);
        log.VLOG("DRIVER", () => `${name}: allocate gives ${outcomeText(result)}`);
        return result;
      }),
    close: () => client.close(),
  };
}

async function prepare(
  model: Model,
  { preference = Preference.FAST_SINGLE_ANSWER, priority = PriorityCode.MEDIUM, deadline, cache }: PrepareOptions,
  context: DeviceContext,
): Promise<PrepareResult> {
  const wrong = checkQuality(preference, priority);
  if (wrong !== undefined) return unprepared(invalid(wrong));
  const source = checkModel(model, context);
  if ("status" in source) return unprepared(source);
  if (deadline !== undefined && context.now() >= deadline) {
    const message = "the deadline had passed before the model was prepared";
    return unprepared({ status: ErrorStatus.MISSED_DEADLINE_PERSISTENT, message });
  }
  const reason = whyUnsupported(source, context);
  if (reason !== undefined) return unprepared(invalid(reason));
  return prepareChecked({ source, options: { preference, priority }, deadline, cache }, context);
}

function checkQuality(preference: ExecutionPreference, priority: Priority): string | undefined {
  if (!validateExecutionPreference(preference)) {
    return `the execution preference is ${preference} where 0, 1 or 2 is needed`;
  }
  if (!validatePriority(priority)) return `the priority is ${priority} where 0, 1 or 2 is needed`;
  return undefined;
}
