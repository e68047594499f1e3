/**
 * A device's prepared model as the rest of the runtime sees it: no method throws, no promise rejects, and answers keep
 * the rules of the HAL. Part of the guard in device.ts.
 */
import {
  answerReader,
  CheckedAnswer,
  closeSafely,
  failedExecution,
  failedFenced,
  failureOf,
  readFencedResult,
  untimedGuard,
} from "@nnhal/driver-core/guard";
import { factsByCode } from "@nnhal/operations";
import {
  ErrorStatus,
  type Extension,
  type HalVersion,
  type Model,
  type PreparedModel,
  type Request,
} from "@nnhal/types";
import { loadOnce } from "@nnhal/utils";
import type { OpenedBurst } from "./burst.ts";

const bursts = loadOnce(() => import("./burst.ts"));
const reusables = loadOnce(() => import("./reusable.ts"));

/** A prepared model behind the guard. */
export interface GuardedModel extends PreparedModel {
  /** Starts a burst whose answers are checked as those of `execute` are. Present if the device serves bursts. */
  openBurst?(): Promise<OpenedBurst>;
}

const unguarded = new WeakMap<PreparedModel, PreparedModel>();

/** The device's own prepared model behind a guarded one; any other model as it is. */
export function ownModel(model: PreparedModel): PreparedModel {
  return unguarded.get(model) ?? model;
}

/**
 * See the file's head. `first`: the device's. `model`: its model; undefined if unknown. `again`: prepares it again if its service is
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
  /** Prepares the model again, once for all calls that find it lost. */
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
    if (own !== used && own.isLost !== true) return own;
    reviving ??= revive().finally(() => {
      reviving = undefined;
    });
    return reviving;
  };
  /** Calls a prepared model, and another one if there is need. */
  const survive = async <Answer extends { readonly status: ErrorStatus }>(
    request: Request,
    call: (on: PreparedModel) => Promise<Answer>,
  ): Promise<Answer> => {
    const used = own;
    const answer = await call(used);
    const next = await another(used, answer, request);
    return next === undefined ? answer : call(next);
  };
  const { name } = device;
  const guard = untimedGuard(name);
  const prefixes = model?.extensionNameToPrefix ?? [];
  const reader = answerReader(model, factsByCode(prefixes, prefixes.length > 0 ? device.extensions() : []));
  // Drivers older than HAL 1.2 answer no shapes: the known ones are used.
  const reading = { mayOmitShapes: device.halVersion < "1.2" };
  const read = (answer: unknown, request: Request) =>
    CheckedAnswer.isTo(request, answer) ? answer : reader.read(answer, reader.expect(request), reading);
  const canFence = typeof own.executeFenced === "function";
  const canReuse = typeof own.createReusableExecution === "function";
  const canBurst = typeof own.configureExecutionBurst === "function";
  const guarded: GuardedModel = {
    // Called for each execution of each step: the guard adds one function and one await.
    async execute(request, options) {
      try {
        const used = own;
        const answer = read(await used.execute(request, options), request);
        if (answer.status !== ErrorStatus.DEVICE_UNAVAILABLE) return answer;
        const next = await another(used, answer, request);
        return next === undefined ? answer : read(await next.execute(request, options), request);
      } catch (error) {
        return failedExecution(failureOf(`${name}: execute`, error));
      }
    },
    ...(canFence && {
      executeFenced: (request, waitFor, options) =>
        guard.call(
          "executeFenced",
          () =>
            survive(request, async (on) =>
              readFencedResult(await on.executeFenced?.(request, waitFor, options), guard),
            ),
          failedFenced,
        ),
    }),
    ...(canBurst && {
      configureExecutionBurst: async (...channels) =>
        (await bursts()).configureBurst(own, guard, () => {})(...channels),
      openBurst: async () => (await bursts()).openBurst(own, guard, reader, name),
    }),
    ...(canReuse && {
      createReusableExecution: async (request, options) =>
        (await reusables()).guardReusable(own, request, options, { guard, name, read, another }),
    }),
    close() {
      isClosed = true;
      closeSafely(own);
    },
  };
  unguarded.set(guarded, own);
  return guarded;
}
