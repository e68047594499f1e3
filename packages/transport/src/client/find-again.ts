/** The session of a device whose service is found again after it was lost: calls that the loss has ended are made once more. */
import { DeviceStatus, ErrorStatus, type Outcome } from "@nnhal/types";
import type { Channel } from "../protocol/channel.ts";
import { deadObject } from "../protocol/connection.ts";
import { textOf } from "../protocol/frames.ts";
import { openSession, type Session, type SessionOptions, type Unavailable } from "./session.ts";

/** Options of connecting to a device. */
export interface ConnectOptions extends SessionOptions {
  /**
   * Finds the service again after it was lost. A call of the device that the loss has ended is made once more. Default: a
   * device that is lost stays lost.
   */
  readonly reconnect?: (() => Promise<Channel | Unavailable>) | undefined;
}

/** See the file's head. */
export interface FoundService {
  /** The current session. */
  readonly session: Session;
  readonly isClosed: boolean;
  /** Resolves with the reason when the service is lost for good, or closed. */
  readonly lost: Promise<string>;
  /** The device's status. A caller that waits for the device to come back asks for it: the service is looked for. */
  status(): DeviceStatus;
  /** Calls the device, once more if the service was lost and is found again. */
  call<Result extends { readonly outcome: Outcome }>(
    call: (session: Session) => Promise<Result>,
    failed: (outcome: Outcome) => Result,
  ): Promise<Result>;
  close(): void;
}

/** Begins with a session that is open. */
export function findAgain(opened: Session, { reconnect, ...sessionOptions }: ConnectOptions): FoundService {
  let session = opened;
  let isClosed = false;
  let reopening: Promise<Outcome | undefined> | undefined;
  let lose: (reason: string) => void = () => {};
  const lost = new Promise<string>((resolve) => {
    lose = resolve;
  });
  const watch = (of: Session) => {
    void of.connection.closed.then((reason) => {
      if (isClosed || reconnect === undefined) lose(reason);
    });
  };
  watch(opened);

  /** Finds the service again. Returns why it cannot. */
  const reopen = async (): Promise<Outcome | undefined> => {
    const reason = session.connection.over ?? "it is closed";
    if (isClosed || reconnect === undefined) return deadObject(reason);
    try {
      const channel = await reconnect();
      const found = "unavailable" in channel ? channel : await openSession(channel, sessionOptions);
      if ("unavailable" in found) return deadObject(`${reason}, and it is not found again: ${found.unavailable}`);
      if (isClosed) {
        found.connection.close("the client is closed");
        return deadObject("the client is closed");
      }
      session = found;
      watch(found);
      return undefined;
    } catch (error) {
      return deadObject(`${reason}, and it is not found again: ${textOf(error)}`);
    }
  };
  const find = (): Promise<Outcome | undefined> => {
    reopening ??= reopen().finally(() => {
      reopening = undefined;
    });
    return reopening;
  };

  return {
    get session() {
      return session;
    },
    get isClosed() {
      return isClosed;
    },
    lost,
    status() {
      if (isClosed) return DeviceStatus.OFFLINE;
      if (session.connection.over !== undefined && reconnect !== undefined) void find();
      return session.status();
    },
    async call(call, failed) {
      if (session.connection.over === undefined) {
        const used = session;
        const result = await call(used);
        if (used.connection.over === undefined) return result;
        if (result.outcome.status !== ErrorStatus.DEVICE_UNAVAILABLE) return result;
        if (reconnect === undefined || isClosed) return result;
      }
      if (session.connection.over !== undefined) {
        const problem = await find();
        if (problem !== undefined) return failed(problem);
      }
      return call(session);
    },
    close() {
      isClosed = true;
      session.connection.close("the client is closed");
    },
  };
}
