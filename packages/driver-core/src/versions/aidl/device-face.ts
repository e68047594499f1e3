/**
 * The faces of a device for clients of AIDL. They are those of HIDL with other signatures: arguments are converted and checked first, a
 * launch tells its callback of a fault and then throws it, and statuses are exceptions.
 */
import {
  type AidlVersion,
  BYTE_SIZE_OF_CACHE_TOKEN,
  type CompilationCache,
  type Device,
  type Handle,
  type Model,
  type PreparedModel,
  type PrepareOptions,
} from "@nnhal/types";
import type { AIDL1, AIDL2, AIDL3, AIDL4 } from "@nnhal/types/aidl";
import { steadyClock } from "@nnhal/utils/time";
import { show } from "@nnhal/validation";
import { readHints } from "../../guard/hints.ts";
import { invalid } from "../../guard/refusal.ts";
import { whenAnswered } from "../callback.ts";
import { allocate, cacheOptions, contextOf, prepare, prepareFromCache, supportedOperations } from "../device-face.ts";
import { type FaceOptions, refuseQuality } from "../face-context.ts";
import { bufferFace } from "./buffer.ts";
import { exceptionOf, raise, take } from "./exceptions.ts";
import { preparedModelFace } from "./prepared-model-face.ts";
import { listOf, readBufferRole, readIndexes, readModel } from "./read.ts";
import { type BootClockOptions, type DeadlineConverter, deadlineConverter } from "./time.ts";
import { conversionsToAidl } from "./write.ts";

/** Options for presenting a device as a driver of AIDL. */
export interface AidlFaceOptions extends FaceOptions, BootClockOptions {}

/** A device as a driver of AIDL 1. */
export function asAidl1(device: Device, options: AidlFaceOptions = {}): AIDL1.IDevice {
  return deviceFace(device, options, "aidl1").methods;
}

/** A device as a driver of AIDL 2. */
export function asAidl2(device: Device, options: AidlFaceOptions = {}): AIDL2.IDevice {
  return deviceFace(device, options, "aidl2").methods;
}

/** A device as a driver of AIDL 3. */
export function asAidl3(device: Device, options: AidlFaceOptions = {}): AIDL3.IDevice {
  return deviceFace(device, options, "aidl3").methods;
}

/** A device as a driver of AIDL 4. */
export function asAidl4(device: Device, options: AidlFaceOptions = {}): AIDL4.IDevice {
  const { methods, prepareModel } = deviceFace(device, options, "aidl4");
  return {
    ...methods,
    prepareModelWithConfig(model, config, callback) {
      prepareModel(model, callback, (deadlines) => {
        const { preference, priority, deadlineNs, modelCache, dataCache, cacheToken, compilationHints } = config;
        const hints = readHints(compilationHints, config, "compilationHints");
        return {
          ...settingsOf(preference, priority, deadlines.read(deadlineNs)),
          ...cacheOptions(handlesOf(modelCache), handlesOf(dataCache), tokenOf(cacheToken)),
          ...(hints !== undefined && { hints }),
        };
      });
    },
  };
}

/** The facts of each version that its objects answer: its number, and the hash of its frozen definition. */
const interfaceFacts: Readonly<Record<AidlVersion, AIDL1.AidlInterface>> = {
  aidl1: factsOf(1, "ae57b48403df6752d8d8d56d215c3e31db74935d"),
  aidl2: factsOf(2, "04c95c94c96062e5faf35c00b4ae0e50a3f11d0d"),
  aidl3: factsOf(3, "8c2c4ca2327e6f779dad6119c03d832ea4e1def1"),
  aidl4: factsOf(4, "53178f8de9b8861df391cf0593f6f3e08adad33d"),
};

function factsOf(version: number, hash: string): AIDL1.AidlInterface {
  return { getInterfaceVersion: () => version, getInterfaceHash: () => hash };
}

type Callback = AIDL1.IPreparedModelCallback | null;

/** The parts of a face. */
interface DeviceFace {
  /** The methods of AIDL 1. */
  readonly methods: AIDL1.IDevice;
  /** Launches a preparation. `settings`: reads the other arguments; it throws if one is not valid. */
  prepareModel(
    model: AIDL1.Model,
    callback: Callback,
    settings: (deadlines: DeadlineConverter) => PrepareOptions,
  ): void;
}

function deviceFace(device: Device, options: AidlFaceOptions, version: AidlVersion): DeviceFace {
  const interfaces = interfaceFacts[version];
  const presented = new WeakMap<object, PreparedModel>();
  const deadlines = deadlineConverter(options, options.now ?? steadyClock);
  const context = contextOf(device, options, (prepared) => {
    const face = preparedModelFace(prepared, { version, interfaces, deadlines });
    presented.set(face, prepared.preparedModel);
    return face;
  });
  const to = conversionsToAidl(version);
  const { facts, log } = context;
  const prepareModel: DeviceFace["prepareModel"] = (model, callback, settings) => {
    if (!callback) return raise(noCallback);
    let read: Model | undefined;
    const canonical = () => {
      read ??= readModel(model);
      return read;
    };
    let options: PrepareOptions = {};
    const outcome = prepare(device, context, {
      version,
      model: canonical,
      options() {
        options = settings(deadlines);
        return options;
      },
      check: () => {
        const { preference = -1, priority } = options;
        return refuseQuality(preference, priority);
      },
      notify: (status, preparedModel) => callback.notify(status, preparedModel),
    });
    raise(outcome);
  };
  return {
    prepareModel,
    methods: {
      ...interfaces,
      async allocate(desc, preparedModels, inputRoles, outputRoles) {
        const request = take(
          () =>
            [
              { dimensions: readIndexes(desc.dimensions, "desc.dimensions") },
              listOf(preparedModels, "preparedModels", ({ preparedModel }) => preparedModel),
              listOf(inputRoles, "inputRoles", readBufferRole),
              listOf(outputRoles, "outputRoles", readBufferRole),
            ] as const,
        );
        const { buffer, token, ...outcome } = await allocate(device, context, presented, request);
        if (buffer === null) throw exceptionOf(outcome);
        return { buffer: bufferFace(buffer, interfaces), token };
      },
      getCapabilities() {
        const { capabilities, ...outcome } = facts.getCapabilities();
        raise(outcome);
        return to.capabilities(capabilities, log).value;
      },
      getNumberOfCacheFilesNeeded() {
        const { numModelCache, numDataCache, ...outcome } = facts.getNumberOfCacheFilesNeeded();
        raise(outcome);
        return { numModelCache, numDataCache };
      },
      getSupportedExtensions() {
        const { extensions, ...outcome } = facts.getSupportedExtensions();
        raise(outcome);
        return extensions;
      },
      getSupportedOperations(model) {
        const canonical = take(() => readModel(model));
        return whenAnswered(
          supportedOperations(context, canonical, version),
          ({ supportedOperations: supported, ...outcome }) => {
            raise(outcome);
            return supported;
          },
        );
      },
      getType() {
        const { type, ...outcome } = facts.getType();
        raise(outcome);
        return to.deviceType(type, log).value;
      },
      getVersionString() {
        const { version: text, ...outcome } = facts.getVersionString();
        raise(outcome);
        return text;
      },
      prepareModel: (model, preference, priority, deadlineNs, modelCache, dataCache, token, callback) =>
        prepareModel(model, callback, () => ({
          ...settingsOf(preference, priority, deadlines.read(deadlineNs)),
          ...cacheOptions(handlesOf(modelCache), handlesOf(dataCache), tokenOf(token)),
        })),
      prepareModelFromCache(deadlineNs, modelCache, dataCache, token, callback) {
        if (!callback) return raise(noCallback);
        const cache: CompilationCache = { modelCache: handlesOf(modelCache), dataCache: handlesOf(dataCache), token };
        const outcome = prepareFromCache(
          device,
          context,
          cache,
          () => {
            const deadline = deadlines.read(deadlineNs);
            tokenOf(token);
            const { numModelCache, numDataCache } = facts.getNumberOfCacheFilesNeeded();
            expectCount("modelCache", cache.modelCache, numModelCache);
            expectCount("dataCache", cache.dataCache, numDataCache);
            return deadline === undefined ? {} : { deadline };
          },
          (status, preparedModel) => callback.notify(status, preparedModel),
        );
        raise(outcome);
      },
    },
  };
}

/** Throws a RangeError for a cache of another number of files than the device needs. */
function expectCount(name: string, { length }: readonly Handle[], needed: number): void {
  if (length !== needed) throw new RangeError(`${name}: expected ${needed} files, got ${length}`);
}

const noCallback = invalid("the callback is null");

function settingsOf(
  preference: NonNullable<PrepareOptions["preference"]>,
  priority: NonNullable<PrepareOptions["priority"]>,
  deadline: bigint | undefined,
): PrepareOptions {
  return { preference, priority, ...(deadline !== undefined && { deadline }) };
}

/** The files of a cache, of which each has one descriptor. What cannot be one is left out: the device does not use the files then. */
function handlesOf(fds: readonly AIDL1.ParcelFileDescriptor[]): Handle[] {
  return Array.isArray(fds) ? fds.map((fd: number) => ({ fds: Number.isInteger(fd) && fd >= 0 ? [fd] : [] })) : [];
}

/** A token of a cache. Throws a RangeError for one of another length than 32 bytes. */
function tokenOf(token: Uint8Array): Uint8Array {
  if (token instanceof Uint8Array && token.length === BYTE_SIZE_OF_CACHE_TOKEN) return token;
  const got = token instanceof Uint8Array ? `${token.length}` : show(token);
  throw new RangeError(`the cache token: expected ${BYTE_SIZE_OF_CACHE_TOKEN} bytes, got ${got}`);
}
