/** Clients and servers at the two ends of each channel, and a model to run through them. */
import { rmSync } from "node:fs";
import { connect as connectSocket, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MessageChannel } from "node:worker_threads";
import { referenceBackend } from "@nnhal/backend-reference";
import { type OpenedDevice, openDevice } from "@nnhal/driver-core/device";
import type { Memory, PreparedModel, Request } from "@nnhal/types";
import { type Channel, type ChannelOptions, memoryChannels, portChannel, socketChannel } from "./channel/index.ts";
import { type ConnectOptions, connectDevice, type RemoteDevice } from "./client/index.ts";
import { noPassing, threadPassing } from "./memory/passing.ts";
import { type Provider, type ServedDevice, type ServeOptions, serve } from "./server/index.ts";

/** Makes the two ends of a connection. */
export type Pair = (options?: ChannelOptions) => Promise<readonly [client: Channel, server: Channel]>;

let sockets = 0;

/** A connected pair of unix-domain sockets. */
export async function socketPair(): Promise<readonly [Socket, Socket]> {
  const path = join(tmpdir(), `nnhal-transport-${process.pid}-${sockets++}.sock`);
  const listener = createServer();
  await new Promise<void>((resolve) => listener.listen(path, resolve));
  const arrived = new Promise<Socket>((resolve) => listener.once("connection", resolve));
  const first = connectSocket(path);
  await new Promise<void>((resolve) => first.once("connect", resolve));
  const second = await arrived;
  listener.close();
  rmSync(path, { force: true });
  return [first, second];
}

/** Every channel, with how memories cross it. */
export const pairs: readonly (readonly [name: string, pair: Pair, passing: typeof threadPassing])[] = [
  ["memory", async (options) => memoryChannels(options), threadPassing],
  [
    "port",
    async (options) => {
      const { port1, port2 } = new MessageChannel();
      return [portChannel(port1, options), portChannel(port2, options)];
    },
    threadPassing,
  ],
  [
    "socket",
    async (options) => {
      const [client, server] = await socketPair();
      return [socketChannel(client, options), socketChannel(server, options)];
    },
    noPassing,
  ],
];

/** A device over the reference backend. */
export async function reference(): Promise<OpenedDevice> {
  const device = await openDevice({ backend: referenceBackend, name: "nnhal-served" });
  if ("unavailable" in device) throw new Error(device.unavailable);
  return device;
}

/** A device that is served, and its client. */
export async function connectEnds(
  device: ServedDevice | Provider,
  pair: Pair,
  { passing, ...options }: ConnectOptions & Pick<ServeOptions, "limits"> = {},
) {
  const [client, server] = await pair();
  const served = serve(device, server, { ...options, passing });
  const remote = await connectDevice(client, { ...options, passing });
  if ("unavailable" in remote) throw new Error(remote.unavailable);
  return { remote, served, client, server };
}

/** Prepares a model that must be prepared. */
export async function prepare(
  device: Pick<RemoteDevice, "prepareModel">,
  model: Parameters<RemoteDevice["prepareModel"]>[0],
): Promise<PreparedModel> {
  const { preparedModel, message } = await device.prepareModel(model);
  if (preparedModel === null) throw new Error(message);
  return preparedModel;
}

/** A request for `addModel([2])` in a memory of 24 bytes: two inputs, then the output. */
export function addRequest(memory: Memory): Request {
  const argument = (offset: number) => ({
    hasNoValue: false,
    location: { poolIndex: 0, offset, length: 8 },
    dimensions: [],
  });
  return { inputs: [argument(0), argument(8)], outputs: [argument(16)], pools: [{ kind: "memory", memory }] };
}

/** A device whose service is restarted each time that the client looks for it. Each server is added to `servers`. */
export async function makeReconnecting(
  device: ServedDevice,
): Promise<{ readonly remote: RemoteDevice; readonly servers: readonly ReturnType<typeof serve>[] }> {
  const servers: ReturnType<typeof serve>[] = [];
  const open = async (): Promise<Channel> => {
    const [client, server] = memoryChannels();
    servers.push(serve(device, server));
    return client;
  };
  const remote = await connectDevice(await open(), { reconnect: open });
  if ("unavailable" in remote) throw new Error(remote.unavailable);
  return { remote, servers };
}

/** A frame: its kind, numbers of 32 bits, and what follows. */
export function frame(kind: number, numbers: readonly number[], content: Uint8Array = new Uint8Array(0)): Uint8Array {
  const bytes = new Uint8Array(1 + 4 * numbers.length + content.length);
  const view = new DataView(bytes.buffer);
  bytes[0] = kind;
  numbers.forEach((number, index) => {
    view.setUint32(1 + 4 * index, number, true);
  });
  bytes.set(content, 1 + 4 * numbers.length);
  return bytes;
}
