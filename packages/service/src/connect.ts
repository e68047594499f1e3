/** The client's side: connects to a service of a runtime directory, and finds it again after its process was replaced. */
import { connect as connectSocket, type Socket } from "node:net";
import { allocateMemory } from "@nnhal/driver-core/memory";
import { type Channel, noPassing, type PassingFactory, socketChannel } from "@nnhal/transport/channels";
import { connectDevice, type RemoteDevice, type SessionOptions, type Unavailable } from "@nnhal/transport/client";
import type { Memory } from "@nnhal/types";
import { takeFirst } from "./first-frame.ts";
import { decodeReply, encodeGreeting } from "./greeting.ts";
import { clientSocketProblem, peerProblem } from "./ownership.ts";
import { defaultDirectory, listSockets, socketPath } from "./runtime-directory.ts";
import { connectDescriptors, type DescriptorSocket } from "./shared-memory/descriptor-socket.ts";
import { descriptorWay } from "./shared-memory/file-way.ts";
import { createPassing } from "./shared-memory/passing.ts";
import { createSharedMemory } from "./shared-memory/shared-memory.ts";

/** Opening a device for its first client can take long: an engine is loaded. */
const defaultConnectLimit = 60_000_000_000n;

/** Options of connecting to a service. `connectLimit`: default 60 s. */
export interface ServiceOptions extends Omit<SessionOptions, "service" | "passing"> {
  /** Default: `defaultDirectory()`. */
  readonly directory?: string | undefined;
  /**
   * The number of the user whose daemon is meant. Default: the user of this process. A directory of another user, also one of root, is used
   * only if its owner is named here. Then others may be able to open the directory, but not to change it.
   */
  readonly owner?: number | undefined;
  /** True if memories may be shared. Default: true; they are if the system can. */
  readonly sharing?: boolean | undefined;
  /** True if the connection keeps the process alive while no call waits for the service. Default: false. */
  readonly keepAlive?: boolean | undefined;
  /** Milliseconds in which the service must take the client. Default 5000. */
  readonly limit?: number | undefined;
}

/** The form in which memories are passed to a service. `reason`: why they are copied. */
export type MemoryWay = { readonly kind: "shared" } | { readonly kind: "copied"; readonly reason: string };

/** A device of a service. */
export interface ServiceDevice extends RemoteDevice {
  /** The form in which memories are passed now. */
  readonly memoryWay: MemoryWay;
  createMemory(size: number): Memory;
}

/** A connection whose protocol has not begun. */
interface Joined {
  readonly channel: Channel;
  readonly way: MemoryWay;
  readonly descriptors: DescriptorSocket | undefined;
}

/**
 * Connects to the service of a name. When the connection is lost, calls under way end with DEVICE_UNAVAILABLE, and a call of the device
 * connects again and is made once more; prepared models stay lost, as those of HAL services do. Never rejects.
 */
export async function connectService(name: string, options: ServiceOptions = {}): Promise<ServiceDevice | Unavailable> {
  const { directory, owner, sharing, keepAlive, limit, ...session } = options;
  const first = await joinService(name, options);
  if ("unavailable" in first) return first;
  let current = first;
  const passing: PassingFactory = (onUnused) => {
    const { descriptors } = current;
    if (descriptors === undefined) return noPassing(onUnused);
    const way = descriptorWay(descriptors.fd);
    return "notPassed" in way ? noPassing(onUnused) : createPassing(way, { onUnused });
  };
  const reconnect = async (): Promise<Channel | Unavailable> => {
    const again = await joinService(name, options);
    if ("unavailable" in again) return again;
    current = again;
    return again.channel;
  };
  const device = await connectDevice(current.channel, {
    connectLimit: defaultConnectLimit,
    ...session,
    service: name,
    passing,
    reconnect,
  });
  if ("unavailable" in device) return device;
  const createMemory = (size: number): Memory => {
    const memory = current.way.kind === "shared" ? createSharedMemory(size) : { refused: current.way.reason };
    return "refused" in memory ? allocateMemory(size) : memory;
  };
  return Object.defineProperty({ ...device, createMemory, memoryWay: current.way }, "memoryWay", {
    enumerable: true,
    get: () => current.way,
  });
}

/**
 * Connects to all services of a directory; those that do not answer are in the list with the reason. Rejects with the system's error if the
 * directory cannot be read.
 */
export async function connectServices(
  options: ServiceOptions = {},
): Promise<readonly { readonly name: string; readonly opened: ServiceDevice | Unavailable }[]> {
  const names = await listSockets(options.directory ?? defaultDirectory());
  return Promise.all(names.map(async (name) => ({ name, opened: await connectService(name, options) })));
}

async function joinService(name: string, options: ServiceOptions, isAgain = false): Promise<Joined | Unavailable> {
  const { directory = defaultDirectory(), owner, sharing = true, keepAlive = false, limit = 5000 } = options;
  let path: string;
  try {
    path = socketPath(directory, name);
  } catch (error) {
    return { unavailable: messageOf(error) };
  }
  const refuse = (why: string) => ({ unavailable: `connecting to ${name} in ${directory}: ${why}` });
  const problem = await clientSocketProblem(path, owner).catch((error: unknown) => explainError(error));
  if (problem !== undefined) return refuse(problem);
  const socket = await openSocket(path);
  if ("unavailable" in socket) return refuse(socket.unavailable);
  const problemOfPeer = peerProblem(socket, owner);
  if (problemOfPeer !== undefined) {
    socket.destroy();
    return refuse(problemOfPeer);
  }
  const own = sharing ? await connectDescriptors(path) : { noSocket: "sharing is off" };
  const secret = "secret" in own ? own.secret : undefined;
  const whole = socketChannel(socket);
  whole.send(encodeGreeting({ secret }));
  const release = () => {
    if ("close" in own) own.close();
  };
  const first = await takeFirst(whole, limit);
  const reply = "bytes" in first ? decodeReply(first.bytes) : undefined;
  if ("closed" in first || reply === undefined || reply.kind === "refused") {
    release();
    if ("channel" in first) first.channel.close();
    const why = "closed" in first ? first.closed : (reply?.reason ?? "it does not answer as a service of this version");
    return refuse(why);
  }
  // A daemon that the first connection has started has its socket for descriptors now.
  if (!isAgain && reply.kind === "copied" && "noSocket" in own && own.noSocket.includes("ENOENT")) {
    first.channel.close();
    return joinService(name, options, true);
  }
  if (!keepAlive) socket.unref();
  socket.once("close", release);
  const isShared = reply.kind === "shared" && "fd" in own;
  if (!isShared) release();
  // A service without the socket says why it has none.
  const isOwn = "noSocket" in own && !own.noSocket.includes("ENOENT");
  const why = isOwn ? own.noSocket : `the service cannot share them: ${reply.reason}`;
  return {
    channel: first.channel,
    way: isShared ? { kind: "shared" } : { kind: "copied", reason: why },
    descriptors: isShared ? own : undefined,
  };
}

/** Meanings of socket errors. */
const noService: Readonly<Record<string, string>> = {
  ENOENT: "there is no such service",
  ECONNREFUSED: "its daemon has ended without removing the socket; start it again",
  EACCES: "this user is not allowed to use the services of the directory",
};

function openSocket(path: string): Promise<Socket | Unavailable> {
  return new Promise((resolve) => {
    const socket = connectSocket(path);
    socket.once("connect", () => resolve(socket));
    socket.once("error", (error) => resolve({ unavailable: explainError(error) }));
  });
}

function explainError(error: unknown): string {
  const code = error instanceof Error && "code" in error ? noService[String(error.code)] : undefined;
  return code ?? messageOf(error);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
