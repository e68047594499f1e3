/** A device as one client sees it, with the client's own prepared models, buffers, tokens and bursts. */
import { describeExtension } from "@nnhal/operations";
import {
  type Device,
  DeviceStatus,
  ErrorStatus,
  type Model,
  newestHalVersion,
  type PrepareOptions,
  type PrepareResult,
  type SupportedOperations,
} from "@nnhal/types";
import { inSection, loadOnce, modelSummary, type TracePhase } from "@nnhal/utils";
import { cacheFiles } from "../cache/caching.ts";
import { closeBuffers, createBufferDomain } from "../domains/domain.ts";
import { type Client, createClient } from "../engine/client.ts";
import { failedAllocation, failedPreparation, failedSupport } from "../guard/failed.ts";
import { failure, invalid, messageOf, type Refusal } from "../guard/refusal.ts";
import { allocateArguments, prepareArguments } from "./arguments.ts";
import { checkModel } from "./check-model.ts";
import type { DeviceContext, SharedContext } from "./context.ts";
import { outcomeText, supportText } from "./log-text.ts";
import { prepareChecked } from "./prepare.ts";
import { prepareFromCache } from "./prepare-from-cache.ts";
import { supportOf, whyUnsupported } from "./support.ts";

const allocating = loadOnce(() => import("./allocate.ts"));

/** The optional members of a device, which this one has. */
type Optional = "prepareModelFromCache" | "allocate";

/** A device, for one of its clients. */
export interface ClientDevice extends Omit<Device, Optional>, Required<Pick<Device, Optional>> {
  /** Answers at once. */
  getSupportedOperations(model: Model): SupportedOperations;
  /**
   * Closes the client: frees its buffers, bursts and prepared models. Waiting executions and later calls return
   * DEVICE_UNAVAILABLE; running executions may end within `closeTimeout`. Resolves when everything is freed.
   */
  close(): Promise<void>;
}

const ok = { status: ErrorStatus.NONE } as const;

/** A client's device, and the client, which is closed if the engine is lost. */
export function clientDevice(shared: SharedContext): { readonly device: ClientDevice; readonly client: Client } {
  const { scheduler, closeTimeout, timer, bufferBytes } = shared;
  const client = createClient({ closeTimeout, timer });
  const domain = createBufferDomain(bufferBytes);
  const context: DeviceContext = { ...shared, client, domain };
  const { name, session, log, trace, caching } = context;
  client.onClose(() => {
    scheduler.dismiss(client);
    closeBuffers(domain);
  });
  /** Runs a call, logged and traced. */
  const call = <Result>(method: string, phase: TracePhase, answer: () => Result): Result => {
    log.VLOG("DRIVER", () => `${name}: ${method}`);
    return inSection(trace, "LD", phase, `${name}: ${method}`, answer);
  };
  /** Returns a fact about the device; to a closed client with status DEVICE_UNAVAILABLE. */
  const fact = <Fact extends object>(method: string, value: Fact): (() => Fact & { status: ErrorStatus }) => {
    return () => call(method, "PI", () => ({ ...(client.gone ?? ok), ...value }));
  };
  /** Returns the result of some work and logs it. Never rejects. */
  const tell = <Result extends { readonly status: ErrorStatus }>(
    method: string,
    phase: TracePhase,
    refused: (refusal: Refusal) => Result,
    answer: () => Promise<Result> | Result,
  ) =>
    call(method, phase, async () => {
      let result: Result;
      try {
        result = client.gone === undefined ? await answer() : refused(client.gone);
      } catch (error) {
        result = refused(failure(`${method}: ${messageOf(error)}`));
      }
      log.VLOG("DRIVER", () => `${name}: ${method} gives ${outcomeText(result)}`);
      return result;
    });
  const { capabilities, deviceType: type, version, extensions } = session;
  const capabilitiesFact = fact("getCapabilities", { capabilities });
  const device: ClientDevice = {
    name,
    halVersion: newestHalVersion,
    getCapabilities() {
      log.initVLogMask();
      return capabilitiesFact();
    },
    getType: fact("getType", { type }),
    getVersionString: fact("getVersionString", { version }),
    getSupportedExtensions: fact("getSupportedExtensions", { extensions: extensions.map(describeExtension) }),
    getNumberOfCacheFilesNeeded: fact(
      "getNumberOfCacheFilesNeeded",
      caching === undefined ? { numModelCache: 0, numDataCache: 0 } : cacheFiles,
    ),
    getStatus: () =>
      call("getStatus", "PU", () => {
        if (client.gone !== undefined) return DeviceStatus.OFFLINE;
        return scheduler.isFull(client) ? DeviceStatus.BUSY : DeviceStatus.AVAILABLE;
      }),
    getSupportedOperations: (model) =>
      call("getSupportedOperations", "PC", () => {
        if (client.gone !== undefined) return failedSupport(client.gone);
        try {
          const checked = checkModel(model, context);
          if ("status" in checked) return failedSupport(checked);
          const { reasons, dispatches } = supportOf(checked, session);
          log.VLOG("DRIVER", () => `${name}: ${supportText(reasons)}`);
          const isPlain = dispatches.every((count) => count === 1);
          const supported = reasons.map((reason) => reason === undefined);
          return { ...ok, supported, reasons, ...(!isPlain && { dispatches }) };
        } catch (error) {
          return failedSupport(failure(`getSupportedOperations: ${messageOf(error)}`));
        }
      }),
    prepareModel: (model, options) =>
      tell("prepareModel", "PC", failedPreparation, () => prepare(model, options, context)),
    prepareModelFromCache: (cache, options, model) =>
      tell("prepareModelFromCache", "PC", failedPreparation, () => prepareFromCache(cache, options, model, context)),
    allocate: (desc, preparedModels, inputRoles, outputRoles) =>
      tell("allocate", "PIO", failedAllocation, async () => {
        const taken = allocateArguments(desc, preparedModels, inputRoles, outputRoles);
        if ("status" in taken) return failedAllocation({ ...taken, message: `allocating a buffer: ${taken.message}` });
        // Few applications use memory domains: a bundle for a browser loads them when one does.
        const { allocate } = await allocating();
        return client.gone === undefined ? allocate(context, taken) : failedAllocation(client.gone);
      }),
    close: () => client.close(),
  };
  return { device, client };
}

async function prepare(
  model: Model,
  given: PrepareOptions | undefined,
  context: DeviceContext,
): Promise<PrepareResult> {
  const taken = prepareArguments(given, context.session.takeHints);
  if ("status" in taken) return failedPreparation(taken);
  const { preference, priority, deadline, cache, hints } = taken;
  const source = checkModel(model, context);
  if ("status" in source) return failedPreparation(source);
  context.log.VLOG("MODEL", () => `${context.name}: a model of ${modelSummary(source.model)}`);
  if (deadline !== undefined && context.now() >= deadline) {
    const message = "the deadline had passed before the model was prepared";
    return failedPreparation({ status: ErrorStatus.MISSED_DEADLINE_PERSISTENT, message });
  }
  const reason = whyUnsupported(source, context);
  if (reason !== undefined) return failedPreparation(invalid(reason));
  const options = { preference, priority, ...(hints !== undefined && { hints }) };
  return prepareChecked({ source, options, deadline, cache }, context);
}
