/** A prepared model of a server. */
import {
  ErrorStatus,
  type ExecutionInfo,
  type FencedResult,
  type IBurstContext,
  type IFencedExecutionCallback,
  type Memory,
  type Outcome,
  type PreparedModel,
  type Request,
  type ReusableExecution,
  type ReusableResult,
  type SharedMemorySource,
  type SyncFence,
} from "@nnhal/types";
import { loadOnce, notMeasured } from "@nnhal/utils";
import { Unwritable, type ValueOf } from "@nnhal/utils/codec";
import type { MemoryPassing } from "../memory/passing.ts";
import { textOf } from "../protocol/frames.ts";
import { burst, fencedCallback, preparedModel as methods, reusable } from "../protocol/methods.ts";
import { type MemoryUse, wireRequest } from "./arguments.ts";
import { serviceToken } from "./buffer.ts";
import { callWith, callWithConfig } from "./call.ts";
import type { Session } from "./session.ts";
import { listOf, objectOf } from "./values.ts";

const bursts = loadOnce(() => import("@nnhal/driver-core/burst"));

/** The server's description of a prepared model. */
interface Described {
  readonly id: number;
  readonly executeFenced: boolean;
  readonly configureExecutionBurst: boolean;
}

interface Owner {
  readonly session: Session;
  readonly id: number;
}

const owners = new WeakMap<PreparedModel, Owner>();

/** The session and number of a prepared model; undefined if it is not one of a server. */
export function ownerOf(model: PreparedModel): Owner | undefined {
  return owners.get(model);
}

/** A prepared model of a session. It is released on the server when it is closed, or nothing refers to it. */
export function remotePreparedModel(session: Session, described: Described): PreparedModel {
  const { id } = described;
  let isClosed = false;
  const model: PreparedModel = {
    async execute(request, options) {
      const { outcome, ...result } = await callWithConfig(
        session,
        methods.execute,
        methods.executeWithConfig,
        id,
        () => options?.hints,
        () => {
          const { request: wired, use } = wireFor(session, request);
          return { given: { request: wired, ...timesOf(options) }, use };
        },
      );
      return { ...outcome, ...result };
    },
    ...(described.executeFenced && {
      executeFenced: (request, waitFor, options) => executeFenced({ session, id }, request, waitFor, options),
    }),
    ...(described.configureExecutionBurst && {
      async configureExecutionBurst(callback, requestChannel, resultChannel) {
        if (session.passing.sharesMemory !== false)
          return configureBurst({ session, id }, callback, requestChannel, resultChannel);
        const message = "configuring a burst: the prepared model is closed";
        if (isClosed) return { status: ErrorStatus.INVALID_ARGUMENT, message, context: null };
        return burstOfCalls(model, session, callback, requestChannel, resultChannel);
      },
    }),
    ...(session.welcome.version >= 2 && {
      createReusableExecution: (request, options) => createReusable({ session, id }, request, options),
    }),
    ...(session.passing.allocate && { sharedMemory: sharedMemoryOf(session.passing.allocate) }),
    get isLost() {
      return session.connection.over !== undefined;
    },
    close() {
      if (isClosed) return;
      isClosed = true;
      session.release(model, id);
    },
  };
  owners.set(model, { session, id });
  session.track(model, id);
  return model;
}

function sharedMemoryOf(allocate: NonNullable<MemoryPassing["allocate"]>): SharedMemorySource {
  return {
    allocate(size) {
      const memory = allocate(size);
      if ("refused" in memory) throw new Error(`${size} bytes of shared memory: ${memory.refused}`);
      return memory;
    },
  };
}

function wireFor(session: Session, request: Request) {
  return wireRequest(request, session.memories, (token) => serviceToken(session, token));
}

type Execute = PreparedModel["execute"];
type ExecuteFenced = NonNullable<PreparedModel["executeFenced"]>;
type ConfigureBurst = NonNullable<PreparedModel["configureExecutionBurst"]>;

/** The options that all executions have. */
function timesOf(options: Parameters<Execute>[1]) {
  return {
    measure: options?.measure,
    deadline: options?.deadline,
    loopTimeoutDuration: options?.loopTimeoutDuration,
  };
}

/** Sets up an execution on the server. */
async function createReusable(
  owner: Owner,
  ...[request, options]: Parameters<NonNullable<PreparedModel["createReusableExecution"]>>
): Promise<ReusableResult> {
  const { session } = owner;
  let use: MemoryUse | undefined;
  const { outcome, execution: id } = await callWith(session, methods.createReusableExecution, owner.id, () => {
    const wired = wireFor(session, request);
    ({ use } = wired);
    const { measure, loopTimeoutDuration, hints } = options ?? {};
    return { given: { request: wired.request, measure, loopTimeoutDuration, hints } };
  });
  if (outcome.status !== ErrorStatus.NONE) return { ...outcome, execution: null };
  if (id === null) {
    const message = "createReusableExecution: NONE without an execution";
    return { status: ErrorStatus.GENERAL_FAILURE, message, execution: null };
  }
  const busy = { status: ErrorStatus.GENERAL_FAILURE, message: "the execution is running: it runs once at a time" };
  let isRunning = false;
  let isClosed = false;
  const execution: ReusableExecution = {
    async execute(times) {
      if (isRunning) return { ...busy, outputShapes: [], timing: notMeasured };
      isRunning = true;
      const { outcome: ended, ...result } = await callWith(session, reusable.execute, id, () => ({
        given: { deadline: times?.deadline },
        ...(use && { use }),
      }));
      isRunning = false;
      return { ...ended, ...result };
    },
    async executeFenced(waitFor, times) {
      if (isRunning) return { ...busy, syncFence: null, callback: null };
      isRunning = true;
      let load = () => {};
      const answer = await callWith(session, reusable.executeFenced, id, () => {
        const { deadline, duration } = times ?? {};
        load = () => use?.load();
        const store = () => use?.store();
        return { given: { waitFor: wireFences(waitFor, session), deadline, duration }, use: { store, load() {} } };
      });
      const launched = readLaunched(answer, session, load);
      void Promise.resolve(launched.syncFence?.wait()).then(() => {
        isRunning = false;
      });
      return launched;
    },
    close() {
      if (isClosed) return;
      isClosed = true;
      session.release(execution, id);
    },
  };
  session.track(execution, id);
  return { ...outcome, execution };
}

async function executeFenced(
  { session, id }: Owner,
  ...[request, waitFor, options]: Parameters<ExecuteFenced>
): Promise<FencedResult> {
  let load = () => {};
  const answer = await callWithConfig(
    session,
    methods.executeFenced,
    methods.executeFencedWithConfig,
    id,
    () => options?.hints,
    () => {
      const { request: wired, use } = wireFor(session, request);
      ({ load } = use);
      const given = { request: wired, waitFor: wireFences(waitFor, session), ...timesOf(options) };
      return { given: { ...given, duration: options?.duration }, use: { store: use.store, load() {} } };
    },
  );
  return readLaunched(answer, session, load);
}

/** Fences as numbers. Throws Unwritable for what is not a list of fences. */
function wireFences(waitFor: readonly (SyncFence | null)[], session: Session) {
  return listOf(waitFor, "waitFor").map((fence: SyncFence | null) =>
    fence === null ? null : session.idOfFence(fence),
  );
}

/** The answer to a launch. `load`: makes the outputs visible when it has ended, or throws. */
function readLaunched(
  { outcome, syncFence, callback }: ValueOf<typeof methods.executeFenced.result>,
  session: Session,
  load: () => void,
): FencedResult {
  const refuse = (failed: Outcome) => ({ ...failed, syncFence: null, callback: null });
  const fail = (message: string) =>
    refuse({ status: ErrorStatus.GENERAL_FAILURE, message: `executeFenced: ${message}` });
  if (outcome.status !== ErrorStatus.NONE) return refuse(outcome);
  if (callback === null) return fail("NONE without a callback");
  try {
    if (syncFence === null) load();
  } catch (error) {
    session.release(load, callback);
    return fail(`the outputs cannot be read: ${textOf(error)}`);
  }
  const fence = syncFence === null ? null : session.fenceOf(syncFence, load);
  return { ...outcome, syncFence: fence, callback: remoteCallback(session, callback, fence) };
}

/** Callbacks whose answers the server keeps for a client. Older ones are fetched eagerly, because garbage collection may never happen. */
const mostKept = 256;
const kept = new WeakMap<Session, (() => void)[]>();

/** The callback of an execution that ends when `fence` does; null: it has ended. */
function remoteCallback(session: Session, id: number, fence: SyncFence | null): IFencedExecutionCallback {
  let fetched: Promise<ExecutionInfo> | undefined;
  const ask = async (): Promise<ExecutionInfo> => {
    const { outcome, ...times } = await session.connection.call(fencedCallback.getExecutionInfo, id, {});
    return { ...outcome, ...times };
  };
  const callback: IFencedExecutionCallback = { getExecutionInfo: () => fetched ?? ask() };
  session.track(callback, id);
  const fetchLater = async () => {
    await fence?.wait();
    fetched = ask();
    // It is sent behind the question.
    session.release(callback, id);
  };
  const ofSession = kept.get(session) ?? [];
  kept.set(session, ofSession);
  ofSession.push(() => void fetchLater());
  if (ofSession.length > mostKept) ofSession.shift()?.();
  return callback;
}

/**
 * A burst over a connection that copies: the server would see copies of its queues, so it is served on this side, and each request is a
 * call. The server ends with the connection.
 */
async function burstOfCalls(
  model: PreparedModel,
  { connection }: Session,
  ...[callback, requestChannel, resultChannel]: Parameters<ConfigureBurst>
): ReturnType<ConfigureBurst> {
  // Most users of a connection have no bursts.
  const { configureExecutionBurst } = await bursts();
  const answer = configureExecutionBurst(model, callback, requestChannel, resultChannel);
  const { context } = answer;
  if (context !== null) void connection.closed.then(() => context.close());
  return answer;
}

async function configureBurst(
  { session, id }: Owner,
  ...[callback, requestChannel, resultChannel]: Parameters<ConfigureBurst>
): ReturnType<ConfigureBurst> {
  const { memories, connection } = session;
  let callbackId: number | null = null;
  const { outcome, context } = await callWith(session, methods.configureExecutionBurst, id, () => {
    const channels = [requestChannel, resultChannel].map((channel) => {
      const { memory, capacity, datum } = objectOf(channel, "a queue");
      if (!memories.isShared(memory)) throw new Unwritable("the connection cannot share the memory of a queue");
      return { memory: memories.idOf(memory), capacity, datum };
    });
    const [requests, results] = channels;
    if (requests === undefined || results === undefined) throw new Unwritable("a queue is missing");
    callbackId = callback === null ? null : session.idOfCallback(callback);
    return { given: { callback: callbackId, requestChannel: requests, resultChannel: results } };
  });
  const forget = () => {
    if (callbackId !== null) session.forgetCallback(callbackId);
  };
  if (context === null) {
    forget();
    return { ...outcome, context: null };
  }
  const ended = session.burstEnded(context);
  const remote: IBurstContext = {
    freeMemory: (slot) => connection.call(burst.freeMemory, context, { slot }).then(() => {}),
    close() {
      forget();
      session.release(remote, context);
      return ended;
    },
    ended,
  };
  session.track(remote, context);
  const refuseMemory = (memory: Memory) => (memories.isShared(memory) ? undefined : "the connection copies the memory");
  return { ...outcome, context: remote, refuseMemory };
}
