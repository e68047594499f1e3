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
  ExecutionPreference as Preference,
  type Priority,
  Priority as PriorityCode,
} from "@nnhal/types";
import { validateExecutionPreference, validatePriority } from "@nnhal/validation";
import { checkModel } from "./check-model.ts";
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
  /** Uniform in [0, 1). Default: Math.random. */
  readonly random?: () => number;
}

/** What the parts of a device share. */
export interface DeviceContext {
  readonly name: string;
  readonly session: BackendSession;
  readonly operationByCode: (code: number) => Operation | undefined;
  readonly now: () => bigint;
  readonly random: () => number;
}

/** Opens a backend and makes a device of it, or says why the backend cannot work here. */
export async function openDevice(options: DeviceOptions): Promise<Device | Unavailable> {
  const { backend } = options;
  const session = await backend.open();
  if ("unavailable" in session) return session;
  return deviceOver(
    {
      name: options.name ?? `nnhal-${backend.name}`,
      session,
      operationByCode: options.operationByCode ?? operationByCode,
      now: options.now ?? steadyClock,
      random: options.random ?? Math.random,
    },
    backend,
  );
}

function deviceOver(context: DeviceContext, backend: Backend): Device {
  const { session } = context;
  const ok = { status: ErrorStatus.NONE } as const;
  return {
    name: context.name,
    getCapabilities: () => ({ ...ok, capabilities: session.capabilities }),
    getType: () => ({ ...ok, type: backend.deviceType }),
    getVersionString: () => ({ ...ok, version: session.version }),
    getSupportedExtensions: () => ({ ...ok, extensions: [] }),
    getNumberOfCacheFilesNeeded: () => ({ ...ok, numModelCache: 0, numDataCache: 0 }),
    getStatus: () => DeviceStatus.AVAILABLE,
    getSupportedOperations(model) {
      const checked = checkModel(model, context);
      if ("status" in checked) return { ...checked, supported: [], reasons: [] };
      const reasons = supportOf(checked, session);
      return { ...ok, supported: reasons.map((reason) => reason === undefined), reasons };
    },
    async prepareModel(
      model,
      { preference = Preference.FAST_SINGLE_ANSWER, priority = PriorityCode.MEDIUM, deadline } = {},
    ) {
      const refuse = (status: ErrorStatus, message: string) => ({ status, message, preparedModel: null });
      const invalid = checkQuality(preference, priority);
      if (invalid !== undefined) return refuse(ErrorStatus.INVALID_ARGUMENT, invalid);
      const checked = checkModel(model, context);
      if ("status" in checked) return refuse(checked.status, checked.message);
      if (deadline !== undefined && context.now() >= deadline) {
        return refuse(ErrorStatus.MISSED_DEADLINE_PERSISTENT, "the deadline had passed before the model was prepared");
      }
      const reasons = supportOf(checked, session).filter((reason) => reason !== undefined);
      if (reasons.length > 0) {
        return refuse(
          ErrorStatus.INVALID_ARGUMENT,
          `${context.name} does not support the model: ${reasons.join("; ")}`,
        );
      }
      return prepareModel(checked, { preference, priority }, deadline, context);
    },
  };
}

function checkQuality(preference: ExecutionPreference, priority: Priority): string | undefined {
  if (!validateExecutionPreference(preference)) {
    return `the execution preference is ${preference} where 0, 1 or 2 is needed`;
  }
  if (!validatePriority(priority)) return `the priority is ${priority} where 0, 1 or 2 is needed`;
  return undefined;
}
