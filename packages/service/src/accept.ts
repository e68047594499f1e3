/** The service's side: a socket becomes a channel of one client, whose user is checked, with a socket for descriptors if there is one. */
import type { Socket } from "node:net";
import { type Channel, type ChannelOptions, socketChannel } from "@nnhal/transport/channels";
import { takeFirst } from "./first-frame.ts";
import { decodeGreeting, encodeReply, type Reply } from "./greeting.ts";
import type { DescriptorServer, DescriptorSocket } from "./shared-memory/descriptor-socket.ts";
import { peerCredentials } from "./shared-memory/peer-credentials.ts";

/** A client that is accepted. */
export interface AcceptedClient {
  readonly channel: Channel;
  /** Over which memories cross; undefined: they are copied. The service closes it when the client is gone. */
  readonly descriptors: DescriptorSocket | undefined;
  /** The client's process; undefined if the system does not say. */
  readonly pid: number | undefined;
}

/** Options of accepting clients. */
export interface AcceptOptions extends ChannelOptions {
  /** Where sockets for descriptors arrive; a text says why there are none. */
  readonly descriptors: DescriptorServer | string;
  /** Why no client is taken now; undefined if one is. Asked once for each client. */
  readonly whyNot?: (() => string | undefined) | undefined;
  /**
   * Numbers of users besides that of this process whose clients are taken. If there are any, the system must report the user of a client. Default:
   * none.
   */
  readonly users?: readonly number[] | undefined;
  /** Milliseconds in which a client must greet. Default 5000. */
  readonly limit?: number | undefined;
}

/** Accepts a client, or closes its socket and says why. Never rejects. */
export async function acceptClient(
  socket: Socket,
  { descriptors, whyNot = () => undefined, users = [], limit = 5000, ...options }: AcceptOptions,
): Promise<AcceptedClient | { readonly refused: string }> {
  const whole = socketChannel(socket, options);
  const credentials = peerCredentials(socket);
  const first = await takeFirst(whole, limit);
  if ("closed" in first) return { refused: first.closed };
  const { channel } = first;
  const refuse = (reason: string) => {
    channel.send(encodeReply({ kind: "refused", reason }));
    channel.close(reason);
    return { refused: reason };
  };
  const greeting = decodeGreeting(first.bytes);
  if (greeting === undefined) return refuse("the client does not greet as a client of this version");
  const user = process.getuid?.();
  if ("uid" in credentials) {
    const isOwn = user === undefined || [user, ...users].includes(credentials.uid);
    if (!isOwn)
      return refuse(`the client belongs to user ${credentials.uid}, not to user ${[user, ...users].join(" or ")}`);
  } else if (users.length > 0) return refuse(`the system does not say whose the client is: ${credentials.unknown}`);
  const why = whyNot();
  if (why !== undefined) return refuse(why);
  const pid = "pid" in credentials ? credentials.pid : undefined;
  const reply = (value: Reply) => channel.send(encodeReply(value));
  const copy = (reason: string) => {
    reply({ kind: "copied", reason });
    return { channel, descriptors: undefined, pid };
  };
  // The reason of the service comes first: it may be why the client has no socket.
  if (typeof descriptors === "string") return copy(descriptors);
  if (greeting.secret === undefined) return copy("the client copies memories");
  const accepted = await descriptors.accept(greeting.secret, socket);
  if ("noSocket" in accepted) return copy(accepted.noSocket);
  reply({ kind: "shared", reason: "" });
  return { channel, descriptors: accepted, pid };
}
