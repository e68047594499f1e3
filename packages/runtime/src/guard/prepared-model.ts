/**
 * A device's prepared model as the rest of the runtime sees it: no method throws, no promise rejects, and answers keep
 * the rules of the HAL. Part of the guard in device.ts.
 */
import type { CreateBurstResult } from "@nnhal/driver-core/burst";
import { mapMemory } from "@nnhal/driver-core/memory";
import {
  type BurstResult,
  ErrorStatus,
  type ExecutionResult,
  type Extension,
  type FencedResult,
  type HalVersion,
  type IBurstContext,
  type Memory,
  type Model,
  type PreparedModel,
  type Request,
} from "@nnhal/types";
import { loadOnce, notMeasured } from "@nnhal/utils";
import { broken, hasFields, readOutcome, show } from "@nnhal/validation";
import { attemptAsync, failureOf, type Refusal, textOf } from "./attempt.ts";
import { type AnswerReader, answerReader } from "./execution-answer.ts";
import { guardFence, guardFencedCallback, isFence } from "./fence.ts";

const bursts = loadOnce(() => import("@nnhal/driver-core/burst"));

/** A prepared model behind the guard. */
export interface GuardedModel extends PreparedModel {
  /** Starts a burst whose answers are checked as those of `execute` are. Present if the device serves bursts. */
  openBurst?(): Promise<OpenedBurst>;
}

/** The answer to `openBurst`. */
export interface OpenedBurst extends CreateBurstResult {
  /** Makes memory that the service sees, or throws. Absent: it sees all memory of this process. */
  readonly allocateShared?: (size: number) => Memory;
}

const unguarded = new WeakMap<PreparedModel, PreparedModel>();

/** The device's own prepared model behind a guarded one; any other model as it is. */
export function ownModel(model: PreparedModel): PreparedModel {
  return unguarded.get(model) ?? model;
}

/** Closes an object of a device. The outcome is ignored. */
export function closeSafely(closable: { close?(): unknown }): void {
  void attemptAsync(
    "close",
    async () => {
      await closable.close?.();
    },
    () => {},
  );
}

/**
 * See the file's head. `first`: the device's. `model`: its model; undefined if unknown. `again`: prepares it anew if its service is
 * gone (`isLost`); resolves with undefined if that fails.
 */
export function guardModel(
  first: PreparedModel,
  model: Model | undefined,
  device: { readonly name: string; readonly halVersion: HalVersion; readonly extensions: () => readonly Extension[] },
  again: () => Promise<PreparedModel | undefined> = async () => undefined,
): GuardedModel {
  let own = first;
  let isClosed = false;
  let reviving: Promise<PreparedModel | undefined> | undefined;
  /** Prepares the model anew, once for all calls that find it lost. */
  const revive = async (): Promise<PreparedModel | undefined> => {
    const revived = await again();
    if (revived === undefined) return undefined;
    if (isClosed) {
      closeSafely(revived);
      return undefined;
    }
    closeSafely(own);
    own = revived;
    unguarded.set(guarded, revived);
    return revived;
  };
  /** The prepared model to call again: the service of `used` was gone, and the request does not need what was lost with it. */
  const another = async (
    used: PreparedModel,
    { status }: { readonly status: ErrorStatus },
    request: Request,
  ): Promise<PreparedModel | undefined> => {
    if (status !== ErrorStatus.DEVICE_UNAVAILABLE || used.isLost !== true || isClosed) return undefined;
    if (request.pools.some(({ kind }) => kind === "token")) return undefined;
    if (own !== used) return own;
    reviving ??= revive().finally(() => {
      reviving = undefined;
    });
    return reviving;
  };
  /** Calls a prepared model, and another one if there is need. */
  const surviving = async <Answer extends { readonly status: ErrorStatus }>(
    request: Request,
    call: (on: PreparedModel) => Promise<Answer>,
  ): Promise<Answer> => {
    const used = own;
    const answer = await call(used);
    const next = await another(used, answer, request);
    return next === undefined ? answer : call(next);
  };
  const { name } = device;
  const usesExtensions = model !== undefined && model.extensionNameToPrefix.length > 0;
  const reader = answerReader(model, device.halVersion, usesExtensions ? device.extensions() : []);
  const failed = (refusal: Refusal): ExecutionResult => ({ ...refusal, outputShapes: [], timing: notMeasured });
  const canFence = typeof own.executeFenced === "function";
  const canBurst = typeof own.configureExecutionBurst === "function";
  const configure =
    (onFault: (refusal: Refusal) => void): NonNullable<PreparedModel["configureExecutionBurst"]> =>
    (...channels) =>
      attemptAsync(
        `${name}: configureExecutionBurst`,
        async () => burstResultOf(await own.configureExecutionBurst?.(...channels), onFault),
        (refusal): BurstResult => ({ ...refusal, context: null }),
      );
  const guarded: GuardedModel = {
    // Called for each execution of each step: the guard adds one function and one await.
    async execute(request, options) {
      try {
        const used = own;
        const answer = reader.read(await used.execute(request, options), request);
        if (answer.status !== ErrorStatus.DEVICE_UNAVAILABLE) return answer;
        const next = await another(used, answer, request);
        return next === undefined ? answer : reader.read(await next.execute(request, options), request);
      } catch (error) {
        return failed(failureOf(`${name}: execute`, error));
      }
    },
    ...(canFence && {
      executeFenced: (request, waitFor, options) =>
        attemptAsync(
          `${name}: executeFenced`,
          () =>
            surviving(request, async (on) => fencedResultOf(await on.executeFenced?.(request, waitFor, options), name)),
          (refusal): FencedResult => ({ ...refusal, syncFence: null, callback: null }),
        ),
    }),
    ...(canBurst && {
      configureExecutionBurst: configure(() => {}),
      openBurst: () => openBurst(configure, reader, name, sharedMemoryOf(own)),
    }),
    close() {
      isClosed = true;
      closeSafely(own);
    },
  };
  unguarded.set(guarded, own);
  return guarded;
}

function fencedResultOf(answer: unknown, name: string): FencedResult {
  const outcome = readOutcome(answer);
  if (!hasFields(answer) || outcome.status !== ErrorStatus.NONE) return { ...outcome, syncFence: null, callback: null };
  const { syncFence = null, callback } = answer;
  if (syncFence !== null && !isFence(syncFence)) return broken(`answered ${show(syncFence)} as a sync fence`);
  if (!isCallback(callback)) return broken("answered NONE without a callback");
  const fence = syncFence === null ? null : guardFence(syncFence);
  return { ...outcome, syncFence: fence, callback: guardFencedCallback(callback, name) };
}

function isCallback(value: unknown): value is NonNullable<FencedResult["callback"]> {
  return hasFields(value) && typeof value.getExecutionInfo === "function";
}

function burstResultOf(answer: unknown, onFault: (refusal: Refusal) => void): BurstResult {
  const outcome = readOutcome(answer);
  if (!hasFields(answer) || outcome.status !== ErrorStatus.NONE) return { ...outcome, context: null };
  const { context, refuseMemory } = answer;
  if (!isContext(context)) return broken("answered NONE without a burst context");
  const refusal = typeof refuseMemory === "function" && {
    refuseMemory: (memory: Memory) => refusalOf(refuseMemory as (memory: Memory) => unknown, memory),
  };
  return { ...outcome, context: guardContext(context, onFault), ...refusal };
}

/** Why a device refuses a memory for bursts. What it throws is a reason. */
function refusalOf(refuse: (memory: Memory) => unknown, memory: Memory): string | undefined {
  try {
    const why: unknown = refuse(memory);
    return why === undefined ? undefined : String(why);
  } catch (error) {
    return textOf(error);
  }
}

function isContext(value: unknown): value is IBurstContext {
  return hasFields(value) && typeof value.freeMemory === "function";
}

/**
 * The service's side of a burst. A remote service returns promises, which are awaited. If it fails to forget a memory, it would use
 * that memory for the next one of the slot, so the burst ends.
 */
function guardContext(own: IBurstContext, onFault: (refusal: Refusal) => void): IBurstContext {
  return {
    freeMemory: (slot) =>
      attemptAsync(
        "burst: freeMemory",
        async () => {
          const forgotten: unknown = own.freeMemory(slot);
          await forgotten;
        },
        (refusal) => {
          closeSafely(own);
          onFault(refusal);
        },
      ),
    close: () => closeSafely(own),
    ...(own.ended instanceof Promise && { ended: own.ended.catch(() => {}) }),
    // The client of the burst and the reader in `openBurst` check its errors and answers.
    ...(typeof own.execute === "function" && { execute: own.execute.bind(own) }),
  };
}

/** What makes memory that a device shares with this process, checked; undefined if it sees all memory. */
function sharedMemoryOf(own: PreparedModel): OpenedBurst["allocateShared"] {
  if (!hasFields(own.sharedMemory)) return undefined;
  return (size) => {
    const memory = own.sharedMemory?.allocate(size);
    const bytes = memory === undefined ? undefined : mapMemory(memory);
    if (memory !== undefined && bytes instanceof Uint8Array && bytes.length >= size) return memory;
    throw new Error(`sharedMemory.allocate(${size}) answered ${show(memory)} where a memory of that size is needed`);
  };
}

async function openBurst(
  configure: (onFault: (refusal: Refusal) => void) => NonNullable<PreparedModel["configureExecutionBurst"]>,
  reader: AnswerReader,
  name: string,
  allocateShared: OpenedBurst["allocateShared"],
): Promise<OpenedBurst> {
  // Few applications use bursts: a bundle for a browser loads them when one does.
  const { createBurst } = await bursts();
  const created = await createBurst(
    configure(({ message }) => created.burst?.abandon(message)),
    { allocate: allocateShared },
  );
  const { burst } = created;
  if (burst === null) return created;
  return {
    ...created,
    ...(allocateShared && { allocateShared }),
    burst: {
      ...burst,
      async compute(request, options) {
        const { fallback, ...answer } = await burst.compute(request, options);
        if (fallback) return { ...answer, fallback };
        try {
          return { ...reader.read(answer, request, true), fallback };
        } catch (error) {
          return { ...failureOf(`${name}: burst`, error), outputShapes: [], timing: notMeasured, fallback };
        }
      },
    },
  };
}
