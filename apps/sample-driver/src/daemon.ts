/** A daemon: services of a runtime directory, each with its socket, until it is closed. */
import { createServer, type Server } from "node:net";
import { acceptClient, openDirectory, protectSocket, removeStale, socketPath } from "@nnhal/service";
import { type DescriptorServer, serveDescriptors } from "@nnhal/service/shared-memory";
import type { Trace } from "@nnhal/utils";
import { createServiceHost, type HostOptions, type ServiceHost } from "./service-host.ts";
import type { Service } from "./services.ts";

/** Options that all services share. */
export interface DaemonOptions extends Omit<HostOptions, "service" | "events" | "calibration"> {
  readonly directory: string;
  /** Numbers of users besides that of this process who may be clients. */
  readonly users: readonly number[];
  readonly services: readonly Service[];
  /** Descriptors of listening sockets that the process was started with, by service. */
  readonly inherited: ReadonlyMap<string, number>;
  calibrationOf(service: Service): Promise<HostOptions["calibration"]>;
  eventsOf(service: Service): HostOptions["events"];
}

/** A running daemon. */
export interface Daemon {
  readonly hosts: readonly ServiceHost[];
  /** Takes no more clients, lets running executions end, and removes the sockets. Resolves with the traces, by service. */
  close(): Promise<ReadonlyMap<string, Trace>>;
}

interface Listening {
  readonly host: ServiceHost;
  stop(): Promise<void>;
}

/** Starts to listen. Rejects, with nothing left behind, if a service cannot be offered. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const directory = await openDirectory(options.directory, { isShared: options.users.length > 0 });
  const listening: Listening[] = [];
  try {
    for (const service of options.services) listening.push(await listen(service, directory, options));
  } catch (error) {
    await Promise.all(listening.map((one) => one.stop()));
    throw error;
  }
  const close = async () => {
    await Promise.all(listening.map((one) => one.stop()));
    const traces = await Promise.all(
      listening.map(async ({ host }) => ({ name: host.name, trace: await host.close() })),
    );
    return new Map(traces.flatMap(({ name, trace }) => (trace === undefined ? [] : [[name, trace] as const])));
  };
  let closed: ReturnType<Daemon["close"]> | undefined;
  return {
    hosts: listening.map(({ host }) => host),
    close() {
      closed ??= close();
      return closed;
    },
  };
}

async function listen(service: Service, directory: string, options: DaemonOptions): Promise<Listening> {
  const events = options.eventsOf(service);
  const path = socketPath(directory, service.name);
  const host = createServiceHost({ ...options, service, events, calibration: await options.calibrationOf(service) });
  const fd = options.inherited.get(service.name);
  if (fd === undefined) await removeStale(path);
  await removeStale(`${path}.descriptors`);
  const channel = await serveDescriptors(path);
  const descriptors: DescriptorServer | string = "noSocket" in channel ? channel.noSocket : channel;
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    void acceptClient(socket, { descriptors, whyNot: host.whyNot, users: options.users }).then((client) => {
      if ("refused" in client) events.event("warn", `a client was refused: ${client.refused}`);
      else host.serve(client);
    });
    socket.resume();
  });
  // Such as no descriptors being left: clients that are connected are served on.
  server.on("error", (error) => events.event("error", `the socket: ${error.message}`));
  const stop = async () => {
    // With clients connected, `close` ends only when they are gone.
    server.close();
    if (typeof descriptors !== "string") await descriptors.close();
  };
  try {
    await listenAt(server, fd === undefined ? { path } : { fd });
    const sharing = { isShared: options.users.length > 0 };
    if (fd === undefined) await protectSocket(path, sharing);
    if (typeof descriptors !== "string") await protectSocket(`${path}.descriptors`, sharing);
  } catch (error) {
    await stop();
    throw error;
  }
  return { host, stop };
}

function listenAt(server: Server, place: { readonly path: string } | { readonly fd: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(place, () => {
      server.off("error", reject);
      resolve();
    });
  });
}
