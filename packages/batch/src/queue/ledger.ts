/**
 * The data that Redis keeps of a batch in addition to the jobs: its record, the digest of each name, the state of each input,
 * and the results as a stream. States change in one script, so that counts are right however often a change is repeated.
 */
import { createHash } from "node:crypto";
import type { ChainableCommander } from "ioredis";
import { BatchError } from "../task.ts";
import type { Connection } from "./connection.ts";
import { type BatchRecord, readRecord } from "./shapes.ts";

/** State of an input: waits, has a result (at a position in the stream), or has none for a reason. */
export type InputState =
  | { readonly kind: "queued" }
  | { readonly kind: "done"; readonly place?: string }
  | { readonly kind: "failed"; readonly reason: string };

/** A change of a state. An existing result stays, whatever comes later. `complete`: a submission has finished. */
export type Change =
  | { readonly to: "complete" }
  | { readonly to: "queued" | "queued again" | "dropped"; readonly input: string }
  | { readonly to: "done"; readonly input: string; readonly result?: string }
  | { readonly to: "failed"; readonly input: string; readonly reason: string };

/** Number of inputs by content. */
export interface LedgerCounts {
  readonly inputs: number;
  readonly done: number;
  readonly failed: number;
  /** Number of names; several may have the same content. */
  readonly names: number;
  readonly unreadable: number;
}

const longestReason = 300;

/** The batch is no longer in Redis. */
export class LostBatch extends BatchError {}

/** KEYS: record, states, stream. ARGV: kind, digest and payload of each change. Returns -1, and changes nothing, if there is no such batch. */
const markScript = `
if redis.call("HEXISTS", KEYS[1], "record") == 0 then return -1 end
local done, failed = 0, 0
for i = 1, #ARGV, 3 do
  local kind, input, payload = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  local state = kind ~= "c" and redis.call("HGET", KEYS[2], input)
  local was = state and string.sub(state, 1, 1) or ""
  if kind == "c" then
    redis.call("HSET", KEYS[1], "complete", "1")
  elseif kind == "q" then
    if was == "" then redis.call("HSET", KEYS[2], input, "q") end
  elseif kind == "a" then
    if was == "f" then failed = failed - 1 end
    if was ~= "d" then redis.call("HSET", KEYS[2], input, "q") end
  elseif kind == "x" then
    if was == "q" then redis.call("HDEL", KEYS[2], input) end
  elseif was ~= "d" then
    if was == "f" then failed = failed - 1 end
    if kind == "d" then
      local place = ""
      if payload ~= "" then place = redis.call("XADD", KEYS[3], "*", "input", input, "result", payload) end
      redis.call("HSET", KEYS[2], input, "d" .. place)
      done = done + 1
    else
      redis.call("HSET", KEYS[2], input, "f" .. payload)
      failed = failed + 1
    end
  end
end
if done ~= 0 then redis.call("HINCRBY", KEYS[1], "done", done) end
if failed ~= 0 then redis.call("HINCRBY", KEYS[1], "failed", failed) end
return done
`;

const markDigest = createHash("sha1").update(markScript).digest("hex");

/** Returns the keys of a batch. */
export function keysOf(queue: string, id: string) {
  const base = `nnhal:${queue}:batch:${id}`;
  return {
    record: base,
    names: `${base}:names`,
    unreadable: `${base}:unreadable`,
    states: `${base}:states`,
    stream: `${base}:results`,
  };
}

/** The ids of all batches, by the time of their creation. */
export const batchesKey = (queue: string) => `nnhal:${queue}:batches`;

/** Key of the number of jobs that workers have dropped. */
export const droppedKey = (queue: string) => `nnhal:${queue}:dropped`;

/** Returns a digest in 43 characters, as Redis keeps it. */
export const shortenDigest = (digest: string) => Buffer.from(digest, "hex").toString("base64url");
export const lengthenDigest = (short: string) => Buffer.from(short, "base64url").toString("hex");

/** Opens the ledger of one batch. `input`s are shortened digests. */
export function openLedger({ redis, name: queue }: Pick<Connection, "redis" | "name">, id: string) {
  const keys = keysOf(queue, id);
  return {
    keys,
    /** Reads the record; undefined if there is no such batch. Rejects with a ShapeError if the data is not a record. */
    async record(): Promise<BatchRecord | undefined> {
      const text = await redis.hget(keys.record, "record");
      return text === null ? undefined : readRecord(text, id);
    },
    /** Begins the batch, or continues it with the new record. */
    async begin(record: BatchRecord): Promise<void> {
      const pipeline = redis.pipeline();
      pipeline.hset(keys.record, "record", JSON.stringify(record));
      pipeline.hdel(keys.record, "complete");
      pipeline.zadd(batchesKey(queue), "NX", record.created, id);
      pipeline.hget(keys.record, "open");
      const replies = await repliesOf(pipeline);
      if (replies.at(-1) === null) await this.renew();
    },
    async isCancelled(): Promise<boolean> {
      return (await redis.hget(keys.record, "open")) === null;
    },
    /** Removes the mark that the batch is open: that needs no memory, so it is possible if Redis has none left. */
    async cancel(): Promise<void> {
      await redis.hdel(keys.record, "open");
    },
    /** Opens the batch, with new job ids: a job that ends must not prevent adding one of the same id. Resolves to the epoch. */
    async renew(): Promise<string> {
      const pipeline = redis.pipeline();
      // A batch that Redis has lost and that begins again must not have the ids of jobs that workers still have.
      pipeline.hsetnx(keys.record, "epoch", Date.now());
      pipeline.hincrby(keys.record, "epoch", 1);
      pipeline.hset(keys.record, "open", "1");
      const [, epoch] = await repliesOf(pipeline);
      return String(epoch);
    },
    /** Returns the counter that makes job ids new. */
    async epoch(): Promise<string> {
      return (await redis.hget(keys.record, "epoch")) ?? "0";
    },
    async states(inputs: readonly string[]): Promise<(InputState | undefined)[]> {
      if (inputs.length === 0) return [];
      return (await redis.hmget(keys.states, ...inputs)).map(stateOf);
    },
    async names(names: readonly string[]): Promise<(NameEntry | undefined)[]> {
      if (names.length === 0) return [];
      return (await redis.hmget(keys.names, ...names)).map((text) => (text === null ? undefined : nameOf(text)));
    },
    /** Changes states, in order. Rejects with a LostBatch if there is no such batch. */
    async mark(changes: readonly Change[]): Promise<void> {
      if (changes.length === 0) return;
      const words = [keys.record, keys.states, keys.stream, ...changes.flatMap(wordsOf)];
      const reply = await redis.evalsha(markDigest, 3, ...words).catch((error: unknown) => {
        // A restarted Redis does not know the script.
        if (error instanceof Error && error.message.startsWith("NOSCRIPT")) return redis.eval(markScript, 3, ...words);
        throw error;
      });
      if (reply === -1) throw new LostBatch(`the queue ${queue} no longer has the batch ${id}`);
    },
    async counts(): Promise<LedgerCounts & { readonly isCancelled: boolean; readonly isComplete: boolean }> {
      // Not a transaction: a Redis whose memory is full refuses it. A counted input has its state, so the number of states
      // comes later.
      const pipeline = redis.pipeline();
      pipeline.hmget(keys.record, "done", "failed", "open", "complete");
      pipeline.hlen(keys.states);
      pipeline.hlen(keys.names);
      pipeline.hlen(keys.unreadable);
      const [fields, inputs, names, unreadable] = await repliesOf(pipeline);
      const [done, failed, open, complete] = Array.isArray(fields) ? fields : [];
      return {
        ...{ inputs: Number(inputs), names: Number(names), unreadable: Number(unreadable) },
        ...{ done: Number(done ?? 0), failed: Number(failed ?? 0) },
        isCancelled: typeof open !== "string",
        isComplete: typeof complete === "string",
      };
    },
    /** Yields a hash in pages. */
    async *scan(key: "names" | "states" | "unreadable"): AsyncGenerator<readonly (readonly [string, string])[]> {
      let cursor = "0";
      do {
        const [next, words] = await redis.hscan(keys[key], cursor, "COUNT", 500);
        cursor = next;
        yield words.flatMap((word, place) => (place % 2 === 0 ? [[word, words[place + 1] ?? ""] as const] : []));
      } while (cursor !== "0");
    },
  };
}

/** Sends commands together. Rejects with the first error among their replies. */
export async function repliesOf(pipeline: ChainableCommander): Promise<readonly unknown[]> {
  return ((await pipeline.exec()) ?? []).map(([error, reply]) => {
    if (error !== null) throw error;
    return reply;
  });
}

export type Ledger = ReturnType<typeof openLedger>;

/** Parses a state as Redis keeps it. */
export function stateOf(text: string | null): InputState | undefined {
  if (text === null) return undefined;
  const rest = text.slice(1);
  if (text.startsWith("d")) return { kind: "done", ...(rest !== "" && { place: rest }) };
  return text.startsWith("f") ? { kind: "failed", reason: rest } : { kind: "queued" };
}

function wordsOf(change: Change): string[] {
  switch (change.to) {
    case "complete":
      return ["c", "", ""];
    case "queued":
      return ["q", change.input, ""];
    case "queued again":
      return ["a", change.input, ""];
    case "dropped":
      return ["x", change.input, ""];
    case "done":
      return ["d", change.input, change.result ?? ""];
    case "failed":
      return ["f", change.input, change.reason.slice(0, longestReason)];
  }
}

/** Entry of a name: the digest of its content at this size and time of change. */
export interface NameEntry {
  readonly input: string;
  readonly size: number;
  readonly changed: number;
}

export const nameText = ({ input, size, changed }: NameEntry) => `${input} ${size} ${changed}`;

export function nameOf(text: string): NameEntry {
  const [input = "", size, changed] = text.split(" ");
  return { input, size: Number(size), changed: Number(changed) };
}
