/**
 * A guard around a backend: the only place where a device calls its engine. A backend can throw, reject, return invalid
 * data or never answer; the guard neither throws nor rejects, ends by its deadline, and returns checked data. Each
 * breach of the contract is logged once.
 */

import {
  type Backend,
  type BackendBuffer,
  type BackendSession,
  type BufferInfo,
  type CacheBlobs,
  type CompileOptions,
  type Executable,
  type GraphView,
  type OperationView,
  type OutcomeStore,
  StatusError,
  type Support,
  type Unavailable,
} from "@nnhal/backend";
import { describeExtension, type ExtensionDefinition, type VendorDefinitions } from "@nnhal/operations";
import { type Capabilities, DeviceType, ErrorStatus, type HardwareBufferDescription } from "@nnhal/types";
import { isErrorStatus, type Logger } from "@nnhal/utils";
import { endsWithin, type Timer } from "@nnhal/utils/time";
import { extensionIssues, hasFields, show, takeCapabilities } from "@nnhal/validation";
import type { HintsTaker } from "../guard/hints.ts";
import { failure, messageOf, type Refusal } from "../guard/refusal.ts";
import { createClient, type Halting } from "./client.ts";
import { type GuardedExecutable, type GuardOptions, guardExecutable } from "./guarded-executable.ts";
import type { GuardedPlace } from "./guarded-place.ts";
import { missedDeadline, type Patience, settleWithin } from "./settle-within.ts";

/** An open engine: see `BackendSession` for the meaning of each member. */
export interface GuardedSession extends VendorDefinitions {
  readonly version: string;
  readonly capabilities: Capabilities;
  readonly deviceType: DeviceType;
  readonly extensions: readonly ExtensionDefinition[];
  /** Undefined if the backend does not declare it. */
  readonly concurrency: number | undefined;
  /** True if it can restore a serialised executable. */
  readonly restores: boolean;
  /** Takes the hints of a call: see `hintsTaker`. Absent if the engine reads none. */
  readonly takeHints?: HintsTaker;
  supports(operation: OperationView, referenced?: readonly GraphView[]): Support;
  supportsHardwareBuffer(description: HardwareBufferDescription): Support;
  /**
   * Compiles a graph, or restores it if there are blobs and the backend supports it. An executable that arrives too
   * late is closed.
   */
  make(
    graph: GraphView,
    options: CompileOptions,
    blobs: CacheBlobs | undefined,
    patience: Patience,
  ): Promise<GuardedExecutable | Refusal>;
  /** Undefined if the value lies in plain bytes. */
  allocate(value: BufferInfo): GuardedPlace | Refusal | undefined;
  /** Calls back once, when the backend reports that the engine is lost. */
  onLost(callback: (reason: string) => void): void;
  /** Frees the engine. Resolves when that is done or `closeTimeout` is over. */
  close(): Promise<void>;
}

/** Options for guarding a backend. */
export interface GuardedSessionOptions {
  readonly log: Logger;
  /** The device's name, for the log. */
  readonly name: string;
  readonly now: () => bigint;
  readonly timer: Timer;
  /** See `OpenOptions.outcomes`. */
  readonly outcomes?: OutcomeStore | undefined;
  /** Maximum nanoseconds to open. */
  readonly openTimeout: bigint;
  /** Maximum nanoseconds to close. */
  readonly closeTimeout: bigint;
}

/** Opens a backend. Never rejects: a failure is an answer. */
export async function openGuarded(
  backend: Backend,
  options: GuardedSessionOptions,
): Promise<GuardedSession | Unavailable> {
  const { now, timer, openTimeout } = options;
  try {
    if (!hasFields(backend) || typeof backend.open !== "function") {
      return { unavailable: `the backend: expected an object with the function open, got ${show(backend)}` };
    }
    const patience = {
      now,
      timer,
      deadline: now() + openTimeout,
      client: createClient(),
      missed: `the backend has not opened in ${openTimeout} ns`,
    };
    const waited = await settleWithin(Promise.resolve(backend.open({ outcomes: options.outcomes })), patience);
    if ("error" in waited) return { unavailable: `opening the backend: it threw: ${messageOf(waited.error)}` };
    if ("refusal" in waited) {
      void waited.late.then((late) => {
        if ("value" in late && !("unavailable" in late.value)) void closeLate(late.value);
      });
      return { unavailable: waited.refusal.message };
    }
    const opened: unknown = waited.value;
    if (!hasFields(opened)) return { unavailable: `opening the backend: expected a session, got ${show(opened)}` };
    if ("unavailable" in opened) return soundUnavailable(opened);
    const session = waited.value as BackendSession;
    const guarded = guardSession(session, backend, options);
    if ("unavailable" in guarded || session.hintedExtensions === undefined) return guarded;
    // Few engines read hints: a bundle for a browser loads this with one that does.
    const { hintsTaker } = await import("../guard/hints.ts");
    const takeHints = hintsTaker(session.hintedExtensions);
    return "status" in takeHints ? { unavailable: takeHints.message } : { ...guarded, takeHints };
  } catch (error) {
    return { unavailable: `opening the backend: it threw: ${messageOf(error)}` };
  }
}

async function closeLate(session: BackendSession): Promise<void> {
  try {
    await session.close();
  } catch {
    // Nothing uses the session, and a failure to close it has no consequence.
  }
}

function soundUnavailable({ unavailable, remedy }: { unavailable?: unknown; remedy?: unknown }): Unavailable {
  const reason = typeof unavailable === "string" ? unavailable : `the backend gives ${show(unavailable)} as the reason`;
  return { unavailable: reason, ...(typeof remedy === "string" && { remedy }) };
}

/** Maximum number of distinct breaches that are logged. */
const mostComplaints = 100;

function createComplaints(log: Logger, name: string): (problem: string) => void {
  const told = new Set<string>();
  return (problem) => {
    const text = `${name}: ${problem}`;
    if (told.has(problem) || told.size >= mostComplaints) {
      log.VLOG("DRIVER", text);
      return;
    }
    told.add(problem);
    log.error(text);
  };
}

/** The facts of a session, read once. Throws an Error if one is not valid. */
function factsOf(session: BackendSession, backend: Backend) {
  const { version, capabilities, deviceType = backend.deviceType, concurrency, lost, oemOperation } = session;
  const { extensions = [] } = session;
  if (typeof version !== "string" || version === "") {
    throw new Error(`its version: expected a string that is not empty, got ${show(version)}`);
  }
  const taken = takeCapabilities(capabilities);
  if ("issue" in taken) throw new Error(`its capabilities are not valid: ${taken.issue.path}: ${taken.issue.message}`);
  if (!Object.values(DeviceType).includes(deviceType)) {
    throw new Error(`its deviceType is ${show(deviceType)}, which is not a DeviceType`);
  }
  if (concurrency !== undefined && !(Number.isInteger(concurrency) && concurrency >= 1)) {
    throw new Error(`its concurrency: expected an integer >= 1, got ${show(concurrency)}`);
  }
  if (lost !== undefined && !(hasFields(lost) && typeof lost.then === "function")) {
    throw new Error(`its lost: expected a promise, got ${show(lost)}`);
  }
  if (!Array.isArray(extensions) || !extensions.every(isExtension)) {
    throw new Error(`its extensions: expected a list of extensions, got ${show(extensions)}`);
  }
  const [extensionIssue] = extensionIssues(extensions.map(describeExtension));
  if (extensionIssue !== undefined) {
    throw new Error(`its extensions are not valid: ${extensionIssue.path}: ${extensionIssue.message}`);
  }
  if (oemOperation !== undefined && !(hasFields(oemOperation) && Array.isArray(oemOperation.forms))) {
    throw new Error(`its oemOperation: expected the definition of an operation, got ${show(oemOperation)}`);
  }
  const own = [...extensions];
  return { version, ...taken, deviceType, extensions: own, oemOperation, concurrency, lost };
}

function isExtension(value: unknown): boolean {
  if (!hasFields(value)) return false;
  const { operandTypes, operations }: { operandTypes?: unknown; operations?: unknown } = value;
  return [operandTypes, operations].every((list) => Array.isArray(list) && list.every(hasFields));
}

/** The methods of a session, read once. Throws an Error if one is not a function. */
function methodsOf(session: BackendSession) {
  const { supports, compile, close, restore, allocate, supportsHardwareBuffer } = session;
  for (const [name, method] of Object.entries({ supports, compile, close })) {
    if (typeof method !== "function") throw new Error(`its ${name}: expected a function, got ${show(method)}`);
  }
  for (const [name, method] of Object.entries({ restore, allocate, supportsHardwareBuffer })) {
    if (method !== undefined && typeof method !== "function") {
      throw new Error(`its ${name}: expected a function or nothing, got ${show(method)}`);
    }
  }
  return {
    supports: supports.bind(session),
    compile: compile.bind(session),
    close: close.bind(session),
    restore: restore?.bind(session),
    allocate: allocate?.bind(session),
    supportsHardwareBuffer: supportsHardwareBuffer?.bind(session),
  };
}

/** Guards a session. An invalid session is closed, if it can be. */
function guardSession(
  session: BackendSession,
  backend: Backend,
  options: GuardedSessionOptions,
): GuardedSession | Unavailable {
  try {
    return guard(factsOf(session, backend), methodsOf(session), options);
  } catch (error) {
    void closeLate(session);
    return { unavailable: `the backend cannot be used: ${messageOf(error)}` };
  }
}

function guard(
  { lost, ...facts }: ReturnType<typeof factsOf>,
  methods: ReturnType<typeof methodsOf>,
  { log, name, timer, closeTimeout }: GuardedSessionOptions,
): GuardedSession {
  const complain = createComplaints(log, name);
  const abandoned = new Set<Promise<void>>();
  const guardOptions: GuardOptions = {
    timer,
    complain,
    onAbandoned(underWay) {
      abandoned.add(underWay);
      void underWay.then(() => abandoned.delete(underWay));
    },
  };
  const supportOf = (what: string, ask: () => Support): Support => {
    const refuse = (problem: string): Support => {
      complain(problem);
      return { supported: false, reason: problem };
    };
    try {
      const answer = ask();
      const support = soundSupport(answer);
      return support ?? refuse(`${what}: expected a Support from the backend, got ${show(answer)}`);
    } catch (error) {
      return refuse(`${what}: the backend threw: ${messageOf(error)}`);
    }
  };
  return {
    ...facts,
    restores: methods.restore !== undefined,
    supports: (operation, referenced) =>
      supportOf(operation.definition.name, () => methods.supports(operation, referenced)),
    supportsHardwareBuffer(description) {
      const { supportsHardwareBuffer } = methods;
      if (supportsHardwareBuffer !== undefined) {
        return supportOf("a hardware_buffer", () => supportsHardwareBuffer(description));
      }
      return { supported: false, reason: "it supports no hardware buffers except BLOBs" };
    },
    async make(graph, options, blobs, patience) {
      const { compile, restore } = methods;
      const fail = (error: unknown): Refusal => {
        const { status } = error instanceof StatusError ? error : { status: ErrorStatus.GENERAL_FAILURE };
        const isFailure = isErrorStatus(status) && status !== ErrorStatus.NONE;
        const message = `preparing the model: ${messageOf(error)}`;
        return { status: isFailure ? status : ErrorStatus.GENERAL_FAILURE, message };
      };
      let making: Promise<Executable>;
      try {
        making = Promise.resolve(
          blobs === undefined || restore === undefined ? compile(graph, options) : restore(blobs, graph, options),
        );
      } catch (error) {
        return fail(error);
      }
      const waited = await settleWithin(making, patience);
      if ("error" in waited) return fail(waited.error);
      if ("refusal" in waited) {
        guardOptions.onAbandoned(
          waited.late.then((late) => {
            if ("value" in late) executableOf(late.value, graph, guardOptions)?.close();
          }),
        );
        return waited.refusal;
      }
      const executable = executableOf(waited.value, graph, guardOptions);
      if (executable === undefined) {
        const problem = `preparing the model: expected an executable from the backend, got ${show(waited.value)}`;
        complain(problem);
        return failure(problem);
      }
      const { now, deadline, missed } = patience;
      if (deadline === undefined || now() < deadline) return executable;
      executable.close();
      return missedDeadline(missed);
    },
    allocate(value) {
      try {
        const place = methods.allocate?.(value);
        if (place === undefined) return undefined;
        return isPlace(place)
          ? guardPlace(place, complain, timer)
          : failure(`the backend gave ${show(place)} as a place`);
      } catch (error) {
        return failure(messageOf(error));
      }
    },
    onLost(callback) {
      lost?.then(
        (reason) => callback(typeof reason === "string" ? reason : show(reason)),
        (error) => callback(messageOf(error)),
      );
    },
    async close() {
      if (abandoned.size > 0) await endsWithin(Promise.all(abandoned), closeTimeout, timer);
      const closing = (async () => methods.close())();
      closing.catch((error) => complain(`close: the backend threw: ${messageOf(error)}`));
      if (!(await endsWithin(closing, closeTimeout, timer))) {
        complain(`close: the backend has not closed in ${closeTimeout} ns`);
      }
    },
  };
}

/** An answer about support as plain data; undefined if it is not valid. */
function soundSupport(answer: Support): Support | undefined {
  if (!hasFields(answer)) return undefined;
  if (answer.supported === true) {
    const { dispatches } = answer;
    return dispatches !== undefined && Number.isInteger(dispatches) && dispatches >= 1
      ? { supported: true, dispatches }
      : { supported: true };
  }
  const { supported, reason } = answer;
  return supported === false && typeof reason === "string" && reason !== "" ? { supported, reason } : undefined;
}

function executableOf(executable: Executable, graph: GraphView, options: GuardOptions): GuardedExecutable | undefined {
  try {
    const isOne =
      hasFields(executable) && typeof executable.run === "function" && typeof executable.close === "function";
    return isOne ? guardExecutable(executable, graph, options) : undefined;
  } catch {
    return undefined;
  }
}

function isPlace(place: BackendBuffer): boolean {
  return hasFields(place) && [place.read, place.write, place.close].every((method) => typeof method === "function");
}

function guardPlace(place: BackendBuffer, complain: (problem: string) => void, timer: Timer): GuardedPlace {
  const during = async (
    what: string,
    client: Halting,
    work: () => void | Promise<void>,
  ): Promise<Refusal | undefined> => {
    const patience = { now: () => 0n, timer, deadline: undefined, client, missed: "" };
    const waited = await settleWithin((async () => work())(), patience);
    if ("refusal" in waited) return waited.refusal;
    if (!("error" in waited)) return undefined;
    const message = messageOf(waited.error);
    complain(`${what} a device buffer: the backend threw: ${message}`);
    return failure(message);
  };
  return {
    place,
    read: (bytes, client) => during("reading", client, () => place.read(bytes)),
    write: (bytes, dimensions, client) => during("writing", client, () => place.write(bytes, dimensions)),
    close() {
      try {
        place.close();
      } catch (error) {
        complain(`closing a device buffer: the backend threw: ${messageOf(error)}`);
      }
    },
  };
}
