/**
 * Serves a device to one client over a channel. The client has a separate device: the objects that it prepares and allocates are known by
 * its numbers only, is limited, and is freed when the channel closes.
 */

import { type Awaitable, canonicalHalVersion, type Device, DeviceStatus, isAidl } from "@nnhal/types";
import { readLast, UnreadableBytes } from "@nnhal/utils/codec";
import { systemTimer, type Timer } from "@nnhal/utils/time";
import { noPassing, type PassingFactory } from "../memory/passing.ts";
import { createServerMemories } from "../memory/server-memories.ts";
import type { Channel } from "../protocol/channel.ts";
import { type Connection, createConnection } from "../protocol/connection.ts";
import { FrameKind, textOf } from "../protocol/frames.ts";
import {
  commonVersion,
  type Hello,
  handshakeFrame,
  hello,
  protocolVersions,
  type Welcome,
  welcome,
} from "../protocol/handshake.ts";
import { createClientFences } from "./client-fences.ts";
import { clientHandlers } from "./handlers.ts";
import { createObjects } from "./objects.ts";

/** A device for one client. */
export interface ServedClient {
  readonly device: Device;
  /** Frees what the client has. */
  close?(): Promise<void> | void;
}

/** A client's device, or why there is none. */
type Found = ServedClient | { readonly unavailable: string };

/** Finds the device of a client by the name that it asks for; empty: any. */
export type Provider = (service: string) => Awaitable<Found>;

/** A device to serve. One of `openDevice` gives each client a separate device. */
export interface ServedDevice extends Device {
  connect?(): Device & { close(): Promise<void> };
}

/** Limits of one client; beyond them, calls return RESOURCE_EXHAUSTED_TRANSIENT. */
export interface ClientLimits {
  /** Most prepared models, buffers, bursts and fenced executions. Default 1024. */
  readonly objects?: number | undefined;
  /** Most calls under way. Default 256. */
  readonly calls?: number | undefined;
  /** Most memories that the client has defined. Default 65,536. */
  readonly memories?: number | undefined;
  /** Most bytes of memories that are copied. Default 1 GiB. */
  readonly copiedBytes?: number | undefined;
  /** Bytes of answers that the client has not read, above which its further calls wait. Default 8 MiB. */
  readonly unreadBytes?: number | undefined;
}

/** Options of serving a device. */
export interface ServeOptions {
  /** Passes memories; the client's must be the counterpart. Default: all are copied. */
  readonly passing?: PassingFactory | undefined;
  readonly limits?: ClientLimits | undefined;
  /** Nanoseconds in which the client must send its request. Default 5 s. */
  readonly connectLimit?: bigint | undefined;
  /** Default: the system's. */
  readonly timer?: Timer | undefined;
}

/** A client that is served. */
export interface ServedConnection {
  /** Resolves with the reason when the client is gone and all that it had is freed. */
  readonly ended: Promise<string>;
  /** Returns the number of the client's objects, and the bytes of its copied memory. */
  usage(): { readonly objects: number; readonly copiedBytes: number };
  /** Ends the connection. Resolves as `ended`. */
  close(reason?: string): Promise<string>;
}

/** Serves a device to the client at the other end of a channel. Never throws. */
export function serve(served: ServedDevice | Provider, channel: Channel, options: ServeOptions = {}): ServedConnection {
  const { passing = noPassing, limits = {}, connectLimit = 5_000_000_000n } = options;
  const { timer = systemTimer } = options;
  const objects = createObjects(limits.objects ?? 1024);
  const fences = createClientFences(limits.objects ?? 1024);
  const own = passing(() => {});
  const memories = createServerMemories(own, () => connection, {
    mostMemories: limits.memories ?? 65_536,
    mostCopiedBytes: limits.copiedBytes ?? 2 ** 30,
  });
  const provider = typeof served === "function" ? served : providerOf(served);
  let client: Promise<Found> | undefined;
  let device: Device | undefined;
  const current = (): Device => {
    if (device === undefined) throw new UnreadableBytes("received a call before the handshake was over");
    return device;
  };

  const greet = async ({ versions, service }: Hello) => {
    const version = commonVersion(versions);
    const own = protocolVersions.join(", ");
    const found =
      version === undefined
        ? { unavailable: `the service speaks versions ${own} of the protocol, the client ${versions.join(", ")}` }
        : await open(provider, service);
    if ("device" in found) device = found.device;
    if (connection.over === undefined) channel.send(handshakeFrame("welcome", welcome, welcomeOf(found, version ?? 1)));
    return found;
  };
  const connection: Connection = createConnection(
    channel,
    [
      ...memories.handlers,
      ...fences.handlers,
      ...clientHandlers({ current, objects, memories, fences, passing: own, connection: () => connection }),
    ],
    {
      timer,
      // A client may be silent for as long as it likes.
      silenceLimit: 60_000_000_000n,
      mostCalls: limits.calls ?? 256,
      mostWaiting: limits.unreadBytes ?? 8 * 2 ** 20,
    },
    (kind, from) => {
      if (kind !== FrameKind.hello || client !== undefined)
        throw new UnreadableBytes(`expected a handshake, received frame of kind ${kind}`);
      cancel();
      client = greet(readLast(hello, from));
    },
  );
  const cancel = timer(connectLimit, () => connection.close("the client has not said what it wants in time"));
  const ended = connection.closed.then(async (reason) => {
    cancel();
    fences.close();
    objects.close();
    memories.close();
    try {
      const found = await client;
      if (found !== undefined && "device" in found) await found.close?.();
    } catch {
      // A device that cannot be closed has nothing that this connection could free.
    }
    return reason;
  });
  return {
    ended,
    usage: () => ({ objects: objects.size, copiedBytes: memories.copiedBytes }),
    close(reason = "the service has closed the connection") {
      connection.close(reason);
      return ended;
    },
  };
}

/** A provider of one device, by its name or none. */
function providerOf(device: ServedDevice): Provider {
  return (service) => {
    if (service !== "" && service !== device.name) return { unavailable: `there is no device ${service}` };
    const own = device.connect?.();
    return own === undefined ? { device } : { device: own, close: () => own.close() };
  };
}

async function open(provider: Provider, service: string): Promise<Found> {
  try {
    return await provider(service);
  } catch (error) {
    return { unavailable: textOf(error) };
  }
}

function welcomeOf(found: Found, version: number): Welcome {
  const refused = {
    version,
    name: "",
    halVersion: canonicalHalVersion,
    status: DeviceStatus.OFFLINE,
  } as const;
  if ("unavailable" in found) {
    return { ...refused, refusal: found.unavailable, prepareModelFromCache: false, allocate: false };
  }
  const { device } = found;
  const { halVersion = canonicalHalVersion } = device;
  return {
    refusal: null,
    version,
    name: device.name,
    // Clients of the first version need not know those of AIDL, whose calls it lacks.
    halVersion: version === 1 && isAidl(halVersion) ? canonicalHalVersion : halVersion,
    status: device.getStatus(),
    prepareModelFromCache: device.prepareModelFromCache !== undefined,
    allocate: device.allocate !== undefined,
  };
}
