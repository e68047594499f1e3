/** A client's connection to a server, with what both know of each other: memories, objects and fences. */

import { DeviceStatus, type IBurstCallback } from "@nnhal/types";
import { readLast, UnreadableBytes } from "@nnhal/utils/codec";
import { systemTimer, type Timer } from "@nnhal/utils/time";
import { type ClientMemories, createClientMemories } from "../memory/client-memories.ts";
import { type MemoryPassing, noPassing, type PassingFactory } from "../memory/passing.ts";
import { makeMessageHandler, makeMethodHandler } from "../protocol/answers.ts";
import type { Channel } from "../protocol/channel.ts";
import { type Connection, createConnection } from "../protocol/connection.ts";
import { FrameKind } from "../protocol/frames.ts";
import {
  commonVersion,
  handshakeFrame,
  hello,
  protocolVersions,
  type Welcome,
  welcome,
} from "../protocol/handshake.ts";
import { burstCallback, device, notices } from "../protocol/methods.ts";
import { getMemories } from "./burst-callback.ts";
import { createEarlyEnds } from "./early-ends.ts";
import { createSessionFences, type SessionFences } from "./session-fences.ts";

/** Options of connecting to a server. */
export interface SessionOptions {
  /** The name of the device. Default: the only one of the server. */
  readonly service?: string | undefined;
  /** Passes memories. Default: all are copied. */
  readonly passing?: PassingFactory | undefined;
  /** Nanoseconds in which the server must accept the client. Default 5 s. */
  readonly connectLimit?: bigint | undefined;
  /**
   * Nanoseconds without a sign of life from the server, while a call waits for it, after which it is given up: calls end with
   * DEVICE_UNAVAILABLE. It must be longer than the server ever blocks its thread. Time in which this process was stopped does not
   * count. Default 30 s.
   */
  readonly silenceLimit?: bigint | undefined;
  /** Most bytes that wait for the server to read them. Default 128 MiB. */
  readonly mostWaiting?: number | undefined;
  /** Default: the system's. */
  readonly timer?: Timer | undefined;
}

/** Why there is no connection. */
export interface Unavailable {
  readonly unavailable: string;
}

/** See the file's head. */
export interface Session extends Pick<SessionFences, "fenceOf" | "idOfFence"> {
  readonly connection: Connection;
  readonly welcome: Welcome;
  readonly memories: ClientMemories;
  readonly passing: MemoryPassing;
  /** The device's status as the server reported it last; OFFLINE if it is gone. Asks for it again. */
  status(): DeviceStatus;
  /** Waits for bytes of memories to be sent; objects are released after that. */
  waitOnRelease(sending: Promise<void>): Promise<void>;
  /** Releases an object of the server when nothing refers to its `owner` any more. */
  track(owner: object, id: number): void;
  /** Releases it now. */
  release(owner: object, id: number): void;
  /** The number by which the server calls a burst's client, until `forgetCallback`. */
  idOfCallback(callback: IBurstCallback): number;
  forgetCallback(id: number): void;
  /** Resolves when a burst of the server has ended. */
  burstEnded(id: number): Promise<void>;
}

/** Connects to a server. Never rejects. */
export function openSession(channel: Channel, options: SessionOptions = {}): Promise<Session | Unavailable> {
  const { service = "", passing: makePassing = noPassing, connectLimit = 5_000_000_000n } = options;
  const { silenceLimit = 30_000_000_000n, mostWaiting = 128 * 2 ** 20 } = options;
  const { timer = systemTimer } = options;
  const passing = makePassing((id) => connection.send(notices.releaseShared, { id }));
  const memories = createClientMemories(passing, () => connection);
  const fences = createSessionFences(() => connection);
  const callbacks = new Map<number, IBurstCallback>();
  const bursts = new Map<number, () => void>();
  const endedEarly = createEarlyEnds<true>();
  const sending = new Set<Promise<void>>();
  const unused = new FinalizationRegistry<number>((object) => connection.send(notices.release, { object }));
  let status: DeviceStatus = DeviceStatus.UNKNOWN;
  let isAsking = false;
  let lastId = 0;
  let accept: (given: Welcome) => void = () => {};
  const accepted = new Promise<Welcome>((resolve) => {
    accept = resolve;
  });
  const handlers = [
    ...memories.handlers,
    fences.handler,
    makeMessageHandler(notices.burstEnded, ({ burst }) => {
      const end = bursts.get(burst);
      if (end === undefined) endedEarly.keep(burst, true);
      else end();
    }),
    makeMethodHandler(burstCallback.getMemories, (id, { slots }) => getMemories(callbacks.get(id), slots, memories)),
  ];
  const connection: Connection = createConnection(
    channel,
    handlers,
    { timer, silenceLimit, mostCalls: 64, mostWaiting },
    (kind, from) => {
      if (kind !== FrameKind.welcome)
        throw new UnreadableBytes(`expected the server to welcome the client, received frame of kind ${kind}`);
      accept(readLast(welcome, from));
    },
  );
  void connection.closed.then(() => {
    fences.fail();
    for (const end of [...bursts.values()]) end();
    callbacks.clear();
    passing.close();
  });

  const session = (given: Welcome): Session => ({
    connection,
    welcome: given,
    memories,
    passing,
    status() {
      if (connection.over !== undefined) return DeviceStatus.OFFLINE;
      if (!isAsking) {
        isAsking = true;
        void connection.call(device.getStatus, 0, {}).then((answer) => {
          isAsking = false;
          ({ status } = answer);
        });
      }
      return status;
    },
    track: (owner, id) => unused.register(owner, id, owner),
    waitOnRelease(work) {
      sending.add(work);
      return work.finally(() => sending.delete(work));
    },
    release(owner, id) {
      unused.unregister(owner);
      const send = () => connection.send(notices.release, { object: id });
      // Calls that were made before are sent before.
      if (sending.size === 0) send();
      else void Promise.allSettled(sending).then(send);
    },
    fenceOf: fences.fenceOf,
    idOfFence: fences.idOfFence,
    idOfCallback(callback) {
      const id = ++lastId;
      callbacks.set(id, callback);
      return id;
    },
    forgetCallback: (id) => void callbacks.delete(id),
    burstEnded: (id) =>
      new Promise((resolve) => {
        if (connection.over !== undefined || endedEarly.take(id)) return resolve();
        bursts.set(id, () => {
          bursts.delete(id);
          resolve();
        });
      }),
  });

  return new Promise((resolve) => {
    const cancel = timer(connectLimit, () => {
      connection.close(`the service has not answered within ${connectLimit / 1_000_000n} ms`);
    });
    void connection.closed.then((reason) => {
      cancel();
      resolve({ unavailable: `connecting to ${service || "the service"}: ${reason}` });
    });
    void accepted.then((given) => {
      cancel();
      if (given.refusal !== null) return connection.close(given.refusal);
      if (commonVersion([given.version]) === undefined) {
        const own = protocolVersions.join(", ");
        return connection.close(`the service chose version ${given.version} of the protocol, of ${own}`);
      }
      ({ status } = given);
      resolve(session(given));
    });
    channel.send(handshakeFrame("hello", hello, { versions: protocolVersions, service }));
  });
}
