/**
 * A device of another process or thread as a canonical device. Its facts are read once, as HAL says of them that they do not
 * change. When the server is gone, calls end with DEVICE_UNAVAILABLE, and a call of the device finds it again (HAL clients:
 * prepared models of a service that is gone stay unusable).
 */
import {
  type AllocateResult,
  type CompilationCache,
  type Device,
  ErrorStatus,
  type Outcome,
  type PrepareResult,
} from "@nnhal/types";
import { decode, encode, Unwritable, type ValueOf } from "@nnhal/utils/codec";
import type { Channel } from "../protocol/channel.ts";
import { deadObject } from "../protocol/connection.ts";
import { device as methods } from "../protocol/methods.ts";
import { Refused } from "../protocol/refused.ts";
import { cache as cacheCodec } from "../protocol/values.ts";
import { wireModel } from "./arguments.ts";
import { remoteBuffer } from "./buffer.ts";
import { callWith, callWithConfig } from "./call.ts";
import { type ConnectOptions, findAgain } from "./find-again.ts";
import { ownerOf, remotePreparedModel } from "./prepared-model.ts";
import { openSession, type Session, type Unavailable } from "./session.ts";
import { listOf, objectOf } from "./values.ts";

/** A device of a server. */
export interface RemoteDevice extends Device {
  /** Resolves with the reason when the connection is lost for good, or closed. */
  readonly lost: Promise<string>;
  /** Closes the connection: frees all that the client has on the server. */
  close(): void;
}

/** Connects to a device of a server. Never rejects. */
export async function connectDevice(
  channel: Channel,
  options: ConnectOptions = {},
): Promise<RemoteDevice | Unavailable> {
  const opened = await openSession(channel, options);
  if ("unavailable" in opened) return opened;
  const facts = await readFacts(opened);
  if ("unavailable" in facts) {
    opened.connection.close(facts.unavailable);
    return facts;
  }
  return remoteDevice(opened, facts, options);
}

type Facts = Pick<
  Device,
  "getCapabilities" | "getType" | "getVersionString" | "getSupportedExtensions" | "getNumberOfCacheFilesNeeded"
>;

/** Reads what does not change. A device that does not tell it is not usable (HAL: it is not registered). */
async function readFacts({ connection, welcome, passing }: Session): Promise<Facts | Unavailable> {
  const [capabilities, type, version, extensions, cacheFiles] = await Promise.all([
    connection.call(methods.getCapabilities, 0, {}),
    connection.call(methods.getType, 0, {}),
    connection.call(methods.getVersionString, 0, {}),
    connection.call(methods.getSupportedExtensions, 0, {}),
    connection.call(methods.getNumberOfCacheFilesNeeded, 0, {}),
  ]);
  for (const { outcome } of [capabilities, type, version, extensions, cacheFiles]) {
    const { status, message = `status ${status}` } = outcome;
    if (status !== ErrorStatus.NONE) return { unavailable: `${welcome.name}: ${message}` };
  }
  const known = capabilities.capabilities;
  if (known === null) return { unavailable: `${welcome.name}: getCapabilities: NONE without capabilities` };
  const ok = { status: ErrorStatus.NONE } as const;
  // Without a way to pass files there is nothing to cache in.
  const { numModelCache, numDataCache } = passing.passFile === undefined ? noFiles : cacheFiles;
  return {
    getCapabilities: () => ({ ...ok, capabilities: known }),
    getType: () => ({ ...ok, type: type.type }),
    getVersionString: () => ({ ...ok, version: version.version }),
    getSupportedExtensions: () => ({ ...ok, extensions: extensions.extensions }),
    getNumberOfCacheFilesNeeded: () => ({ ...ok, numModelCache, numDataCache }),
  };
}

const noFiles = { numModelCache: 0, numDataCache: 0 };

function remoteDevice(opened: Session, facts: Facts, options: ConnectOptions): RemoteDevice {
  const { name, halVersion } = opened.welcome;
  const service = findAgain(opened, options);
  const gone = (): Outcome | undefined => (service.isClosed ? deadObject("the client is closed") : undefined);
  /** A fact; to a closed client with status DEVICE_UNAVAILABLE, as every device answers one. */
  const fact =
    <Fact extends Outcome>(read: () => Fact): (() => Fact) =>
    () => ({ ...read(), ...gone() });
  /** A preparation, and the prepared model of the session that it was made in. */
  const prepare = async (call: (of: Session) => Promise<PreparedAnswer>): Promise<PrepareResult> => {
    const { outcome, preparedModel, of } = await service.call(
      async (of) => ({ ...(await call(of)), of }),
      (outcome) => ({ ...methods.prepareModel.answerFailure(outcome), of: service.session }),
    );
    if (outcome.status !== ErrorStatus.NONE) return { ...outcome, preparedModel: null };
    if (preparedModel !== null) return { ...outcome, preparedModel: remotePreparedModel(of, preparedModel) };
    const message = "the service answered NONE without a prepared model";
    return { status: ErrorStatus.GENERAL_FAILURE, message, preparedModel: null };
  };

  return {
    name,
    halVersion,
    lost: service.lost,
    getCapabilities: fact(facts.getCapabilities),
    getType: fact(facts.getType),
    getVersionString: fact(facts.getVersionString),
    getSupportedExtensions: fact(facts.getSupportedExtensions),
    getNumberOfCacheFilesNeeded: fact(facts.getNumberOfCacheFilesNeeded),
    getStatus: () => service.status(),
    async getSupportedOperations(model) {
      const method = methods.getSupportedOperations;
      const { outcome, supported, reasons, dispatches } = await service.call(
        (of) =>
          callWith(of, method, 0, () => {
            const { model: wired, use } = wireModel(model, of.memories);
            return { given: { model: wired }, use };
          }),
        method.answerFailure,
      );
      return { ...outcome, supported, reasons, ...(dispatches !== undefined && { dispatches }) };
    },
    prepareModel: (model, given) =>
      prepare((of) =>
        callWithConfig(
          of,
          methods.prepareModel,
          methods.prepareModelWithHints,
          0,
          () => given?.hints,
          () => {
            const { model: wired, use } = wireModel(model, of.memories);
            const { preference, priority, deadline, cache } = given ?? {};
            const wiredCache = cache === undefined ? undefined : wireCache(cache, of);
            return { given: { model: wired, preference, priority, deadline, cache: wiredCache }, use };
          },
        ),
      ),
    ...(opened.welcome.prepareModelFromCache && {
      prepareModelFromCache: (cache, given) =>
        prepare((of) =>
          callWith(of, methods.prepareModelFromCache, 0, () => {
            const wired = wireCache(cache, of);
            if (wired === undefined) {
              throw new Refused(ErrorStatus.GENERAL_FAILURE, "the files of the cache cannot be passed to the service");
            }
            return { given: { cache: wired, deadline: given?.deadline } };
          }),
        ),
    }),
    ...(opened.welcome.allocate && {
      async allocate(desc, preparedModels, inputRoles, outputRoles): Promise<AllocateResult> {
        let used = service.session;
        const { outcome, buffer, token, inHostMemory } = await service.call((of) => {
          used = of;
          return callWith(of, methods.allocate, 0, () => {
            const ids = listOf(preparedModels, "preparedModels").map((model) => {
              if (model === null) return null;
              const owner = ownerOf(model);
              if (owner?.session !== of) throw new Unwritable("a prepared model is not of this connection");
              return owner.id;
            });
            return {
              given: { dimensions: objectOf(desc, "desc").dimensions, preparedModels: ids, inputRoles, outputRoles },
            };
          });
        }, methods.allocate.answerFailure);
        if (outcome.status !== ErrorStatus.NONE) return { ...outcome, buffer: null, token: 0 };
        if (buffer === null) {
          const message = "the service answered NONE without a buffer";
          return { status: ErrorStatus.GENERAL_FAILURE, message, buffer: null, token: 0 };
        }
        return { ...outcome, ...remoteBuffer(used, buffer, token), ...(inHostMemory && { inHostMemory }) };
      },
    }),
    close: () => service.close(),
  };
}

type PreparedAnswer = ValueOf<typeof methods.prepareModel.result>;

/** The files of a cache, as numbers; undefined if they cannot be passed, which is not an error of a preparation. */
function wireCache(given: CompilationCache, { passing }: Session): ValueOf<typeof cacheCodec> | undefined {
  const { passFile } = passing;
  if (passFile === undefined) return undefined;
  try {
    const { modelCache, dataCache, token } = given;
    const wire = (handles: CompilationCache["modelCache"]) =>
      handles.map(({ fds }) =>
        fds.map((fd) => {
          const passed = passFile(fd);
          if (typeof passed !== "number") throw new Error(passed.refused);
          return passed;
        }),
      );
    // Finds values that cannot be written: later they would fail the preparation.
    return decode(cacheCodec, encode(cacheCodec, { modelCache: wire(modelCache), dataCache: wire(dataCache), token }));
  } catch {
    return undefined;
  }
}
