/** Drivers of AIDL, called in canonical terms: their exceptions become statuses, and values are converted on the way. */
import {
  type AidlVersion,
  aidlVersions,
  type CompilationCache,
  DeviceStatus,
  DeviceType,
  ErrorStatus,
  ExecutionPreference,
  type Outcome,
  type PrepareOptions,
  Priority,
} from "@nnhal/types";
import type { AIDL1, AIDL4 } from "@nnhal/types/aidl";
import { hasFields, show, throwBroken } from "@nnhal/validation";
import { atOnce } from "../../guard/attempt.ts";
import { failedAllocation } from "../../guard/failed.ts";
import { writeHints } from "../../guard/hints.ts";
import { noCapabilities } from "../../guard/queries.ts";
import type { LogSink } from "../../guard/wait.ts";
import { soundStatus } from "../callback.ts";
import { type NotifyPrepared, noCache, type OldDriver } from "../old-driver.ts";
import { liftBuffer } from "./buffer.ts";
import { outcomeOf } from "./exceptions.ts";
import type { DeadlineConverter } from "./time.ts";
import { conversionsToAidl, writeBufferRole } from "./write.ts";

const ok = { status: ErrorStatus.NONE } as const;

/** The driver behind an IDevice of AIDL. Throws a RangeError for a version below 1. */
export function aidlDriver(
  device: AIDL1.IDevice,
  log: LogSink,
  deadlines: DeadlineConverter,
): OldDriver<AIDL1.IPreparedModel> {
  const version = versionOf(device);
  const to = conversionsToAidl(version);
  const withConfig = version >= "aidl4" && isAidl4(device) ? device : undefined;
  return {
    version,
    executeMethod: "executeSynchronously",
    getCapabilities: () => query(() => ({ capabilities: device.getCapabilities() }), { capabilities: noCapabilities }),
    getSupportedOperations(model) {
      const fail = (error: unknown) => ({ ...outcomeOf(error), supportedOperations: [] });
      const read = (supportedOperations: readonly boolean[]) => {
        const isSound =
          Array.isArray(supportedOperations) && supportedOperations.every((yes) => typeof yes === "boolean");
        if (isSound) return { ...ok, supportedOperations };
        const message = `getSupportedOperations answered ${show(supportedOperations)}, not a list of booleans`;
        return { status: ErrorStatus.GENERAL_FAILURE, message, supportedOperations: [] };
      };
      try {
        const answer = device.getSupportedOperations(to.model(model, log).value);
        return answer instanceof Promise ? answer.then(read, fail) : read(answer);
      } catch (error) {
        return fail(error);
      }
    },
    prepareModel(model, options, notify) {
      const { value } = to.model(model, log);
      const { preference = ExecutionPreference.FAST_SINGLE_ANSWER, priority = Priority.MEDIUM, hints } = options;
      const deadlineNs = deadlines.write(options.deadline);
      const { modelCache, dataCache, token } = filesOf(options.cache);
      const callback = callbackOf(notify);
      if (withConfig !== undefined && hints !== undefined) {
        const { pairs: compilationHints, extensionNameToPrefix } = writeHints(hints);
        const cache = { modelCache, dataCache, cacheToken: token };
        const config = { preference, priority, deadlineNs, ...cache, compilationHints, extensionNameToPrefix };
        return launch(() => withConfig.prepareModelWithConfig(value, config, callback));
      }
      if (hints !== undefined) log(`prepareModel: hints need HAL aidl4, and are left out`);
      return launch(() =>
        device.prepareModel(value, preference, priority, deadlineNs, modelCache, dataCache, token, callback),
      );
    },
    prepareModelFromCache(cache, { deadline }: Pick<PrepareOptions, "deadline">, notify) {
      const { modelCache, dataCache, token } = filesOf(cache);
      const time = deadlines.write(deadline);
      return launch(() => device.prepareModelFromCache(time, modelCache, dataCache, token, callbackOf(notify)));
    },
    async allocate(desc, preparedModels, inputRoles, outputRoles) {
      try {
        const { buffer, token } = await device.allocate(
          desc,
          preparedModels.map((preparedModel) => ({ preparedModel })),
          inputRoles.map(writeBufferRole),
          outputRoles.map(writeBufferRole),
        );
        return { ...ok, buffer: hasFields(buffer) ? liftBuffer(buffer) : null, token };
      } catch (error) {
        return failedAllocation(outcomeOf(error));
      }
    },
    facts: {
      getType: () => query(() => ({ type: device.getType() }), { type: DeviceType.OTHER }),
      getVersionString: () => query(() => ({ version: device.getVersionString() }), { version: "" }),
      getSupportedExtensions: () => query(() => ({ extensions: device.getSupportedExtensions() }), { extensions: [] }),
      getNumberOfCacheFilesNeeded: () =>
        query(() => device.getNumberOfCacheFilesNeeded(), { numModelCache: 0, numDataCache: 0 }),
      // There is no status in AIDL: a service is there as long as it answers.
      getStatus() {
        try {
          return atOnce(device.getInterfaceVersion()) >= 1 ? DeviceStatus.AVAILABLE : DeviceStatus.UNKNOWN;
        } catch {
          return DeviceStatus.OFFLINE;
        }
      },
    },
  };
}

/** The version of a driver; one of a later version is called as one of the newest that is known. */
function versionOf(device: AIDL1.IDevice): AidlVersion {
  const number: unknown = atOnce(device.getInterfaceVersion());
  const version = typeof number === "number" ? aidlVersions[Math.min(number, aidlVersions.length) - 1] : undefined;
  if (version === undefined) throw new RangeError(`getInterfaceVersion: expected an integer > 0, got ${show(number)}`);
  return version;
}

function isAidl4(device: AIDL1.IDevice): device is AIDL4.IDevice {
  return "prepareModelWithConfig" in device;
}

/** Asks a driver. An exception becomes a status, with the fields of `nothing`. */
function query<Fields extends object>(ask: () => Fields, nothing: Fields): Outcome & Fields {
  try {
    const fields = atOnce(ask());
    return hasFields(fields) ? { ...fields, ...ok } : throwBroken(`answered ${show(fields)}`);
  } catch (error) {
    return { ...outcomeOf(error), ...nothing };
  }
}

/** Calls a method that launches a task. */
function launch(call: () => void): Outcome {
  try {
    call();
    return ok;
  } catch (error) {
    return outcomeOf(error);
  }
}

function callbackOf(notify: NotifyPrepared<AIDL1.IPreparedModel>): AIDL1.IPreparedModelCallback {
  return { notify: (status, preparedModel) => notify(soundStatus(status), preparedModel) };
}

/** Files of a cache as AIDL passes them. A handle without exactly one descriptor cannot be sent, so that nothing is cached. */
function filesOf(cache: CompilationCache = noCache) {
  const fdsOf = (handles: CompilationCache["modelCache"]) =>
    handles.map(({ fds }) => (fds.length === 1 ? fds[0] : undefined) ?? -1);
  const fds = { modelCache: fdsOf(cache.modelCache), dataCache: fdsOf(cache.dataCache) };
  return { ...fds, token: cache.token };
}
