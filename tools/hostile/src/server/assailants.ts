/**
 * A program that attacks a server with all kinds of hostile input at the same time, until its time is over. Its argument is
 * JSON: an `Order`. It is a separate process, so that its computations do not delay the answers to honest clients.
 */
import { constants, setPriority } from "node:os";
import { setTimeout as wait } from "node:timers/promises";
import { randomFrom } from "../random.ts";
import { grpcKinds } from "./grpc-kinds.ts";
import type { ServerAddress } from "./peers.ts";
import { restKinds } from "./rest-kinds.ts";

/** Server and kinds of an attack. */
export interface Order {
  readonly address: ServerAddress;
  readonly seconds: number;
  readonly seed: number;
}

const { address, seconds, seed }: Order = JSON.parse(process.argv[2] ?? "");
const kinds = [...restKinds(address), ...grpcKinds(address)];
// Hostile clients have machines of their own, and take no processor time from the server.
setPriority(constants.priority.PRIORITY_LOW);
process.stdout.write("ready\n");
// It does not outlive the program that started it.
const parent = process.ppid;
setInterval(() => {
  if (process.ppid !== parent) process.exit();
}, 1000).unref();
const over = AbortSignal.timeout(seconds * 1000);
await Promise.all(
  kinds.map(async ({ send }, place) => {
    const random = randomFrom(seed + place);
    while (!over.aborted) {
      // Each kind is judged for itself elsewhere; it rests if it cannot even connect.
      await send(random, over, () => {}).catch(() => wait(100));
    }
  }),
);
