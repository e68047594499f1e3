/** Stores of models by their digests: a folder, or a server that answers GET, HEAD and PUT, such as S3 and compatible ones. */
import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { mkdir, open, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expectKnownOptions, type OptionNames } from "@nnhal/operations";
import { anyPlace, folderOf, type Places } from "./places.ts";
import { type RequestLimits, type StoreAnswer, type StoreRequest, send } from "./request.ts";
import { BatchError, digestOf, messageOf } from "./task.ts";

/** Bytes by their digests. Its methods reject with a BatchError if the store cannot be used. */
export interface Store {
  /** Name for messages. */
  readonly name: string;
  /** Reads bytes; undefined if the store does not have them. */
  get(digest: string): Promise<Uint8Array | undefined>;
  has(digest: string): Promise<boolean>;
  put(digest: string, bytes: Uint8Array): Promise<void>;
}

/** Options for opening a store. */
export interface StoreOptions {
  /** Environment with the keys of `s3+https://`. Default: the environment of the process. */
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** Permitted places. Default: any folder and any server. */
  readonly places?: Places | undefined;
  readonly limits?: StoreLimits | undefined;
}

/** Limits of a store. `bytes`: of a model, default 512 MiB. `silence` and `time`: of a request, default 30 s and 600 s. */
export interface StoreLimits extends Partial<RequestLimits> {}

const defaultLimits: RequestLimits = { bytes: 2 ** 29, silence: 30_000, time: 600_000 };

const storeOptions: OptionNames<StoreOptions> = { env: true, places: true, limits: true };
const limitNames: OptionNames<StoreLimits> = { bytes: true, silence: true, time: true };

/** Sends a request to the server of a store. */
type Send = (url: string, request: StoreRequest) => Promise<StoreAnswer>;

/**
 * Opens the store of an address: a folder, `http://` or `https://` with a path that digests are added to, or
 * `s3+https://HOST/BUCKET/PATH`, whose requests are signed by aws4fetch with the keys of the environment. Rejects with a
 * BatchError if it is not permitted, and with a RangeError for an unknown option.
 */
export async function openStore(address: string, options: StoreOptions = {}): Promise<Store> {
  expectKnownOptions("openStore", options, storeOptions);
  expectKnownOptions("openStore: limits", options.limits ?? {}, limitNames);
  const { env = process.env, places = anyPlace } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const sent: Send = (url, request) => send(url, request, { places, limits });
  if (/^(s3\+)?https?:\/\//.test(address)) {
    const plain = address.replace(/^s3\+/, "");
    const url = URL.canParse(plain) ? new URL(plain) : undefined;
    if (url === undefined || /[?#]/.test(plain))
      throw new BatchError(`expected the address of a store such as https://HOST/PATH, got ${plain}`);
    places.reach(url);
    return createHttpStore(url.href, plain === address ? sent : await signedSend(env, sent));
  }
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(address) && !address.startsWith("file:"))
    throw new BatchError(`expected a folder, http(s):// or s3+https:// as a store, got ${address}`);
  return createFolderStore(await places.folder(folderOf(address), "the store"), limits.bytes);
}

/** Opening a pipe waits for its other end unless this is set. Windows has neither this flag nor such pipes. */
const withoutWaiting = constants.O_NONBLOCK ?? 0;
const withoutLinks = constants.O_NOFOLLOW ?? 0;

/** Creates a store in a folder. `most`: maximum bytes of a model, default 512 MiB. */
export function createFolderStore(folder: string, most: number = defaultLimits.bytes): Store {
  const path = (digest: string) => join(folder, digest);
  const use = async <Result>(work: () => Promise<Result>): Promise<Result | undefined> => {
    try {
      return await work();
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
      throw new BatchError(`the store ${folder} cannot be used: ${messageOf(error)}`);
    }
  };
  return {
    name: folder,
    get: (digest) =>
      use(async () => {
        // The target of a link was not checked.
        const handle = await open(path(digest), constants.O_RDONLY | withoutWaiting | withoutLinks);
        try {
          const status = await handle.stat();
          if (!status.isFile()) throw new Error(`${digest} is not a regular file`);
          if (status.size > most) throw new Error(`${digest} has ${status.size} bytes, and ${most} are the most`);
          return new Uint8Array(await handle.readFile());
        } finally {
          await handle.close();
        }
      }),
    has: async (digest) => (await use(() => stat(path(digest)))) !== undefined,
    async put(digest, bytes) {
      await use(async () => {
        await mkdir(folder, { recursive: true });
        const file = join(folder, `.${randomUUID()}`);
        await writeFile(file, bytes, { flag: "wx" });
        await rename(file, path(digest));
      });
    },
  };
}

/** Creates a store behind a server. */
function createHttpStore(address: string, send: Send): Store {
  const base = address.replace(/\/*$/, "");
  const ask = async (method: string, digest: string, body?: Uint8Array) => {
    try {
      const answer = await send(`${base}/${digest}`, { method, ...(body && { body }) });
      const isThere = answer.status >= 200 && answer.status < 300;
      if (isThere || (answer.status === 404 && method !== "PUT")) return { isThere, body: answer.body };
      throw new Error(`the answer is ${answer.status} ${answer.text}`.trim());
    } catch (error) {
      throw new BatchError(`the store ${base} cannot be used, at ${method} ${digest}: ${connectionProblem(error)}`);
    }
  };
  return {
    name: base,
    async get(digest) {
      const { isThere, body } = await ask("GET", digest);
      return isThere ? body : undefined;
    },
    has: async (digest) => (await ask("HEAD", digest)).isThere,
    async put(digest, bytes) {
      await ask("PUT", digest, bytes);
    },
  };
}

/**
 * Returns the message of a connection's error: one that was tried at several addresses has an error for each, and no message.
 */
function connectionProblem(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join("; ");
  return messageOf(error);
}

/** Milliseconds before each new request to a busy server. */
const pauses = [200, 400, 800, 1600];

/** Signs requests with the keys that the environment has in AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN and AWS_REGION. */
async function signedSend(env: NodeJS.ProcessEnv, send: Send): Promise<Send> {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, AWS_SESSION_TOKEN, AWS_REGION } = env;
  if (accessKeyId === undefined || secretAccessKey === undefined)
    throw new BatchError("a store s3+https:// needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment");
  const { AwsClient } = await import("aws4fetch").catch((error: unknown) => {
    throw new BatchError(
      `a store s3+https:// needs the package aws4fetch: npm install aws4fetch (${messageOf(error)})`,
    );
  });
  const client = new AwsClient({
    accessKeyId,
    secretAccessKey,
    service: "s3",
    region: AWS_REGION ?? "us-east-1",
    ...(AWS_SESSION_TOKEN !== undefined && { sessionToken: AWS_SESSION_TOKEN }),
  });
  return async (url, { method, body }) => {
    for (let tries = 0; ; tries++) {
      const signed = await client.sign(url, { method, ...(body && { body }) });
      const answer = await send(url, { method, headers: Object.fromEntries(signed.headers), ...(body && { body }) });
      const pause = pauses[tries];
      if (pause === undefined || (answer.status < 500 && answer.status !== 429)) return answer;
      await new Promise((resolve) => setTimeout(resolve, pause * (0.5 + Math.random() / 2)));
    }
  };
}

/** Reads the bytes of a digest. Rejects with a BatchError if they are missing, or have another digest. */
export async function checkedGet(store: Store, digest: string): Promise<Uint8Array> {
  const bytes = await store.get(digest);
  if (bytes === undefined) throw new BatchError(`the model ${digest} is not in the store ${store.name}`);
  const actual = digestOf(bytes);
  if (actual !== digest)
    throw new BatchError(
      `the model ${digest} in the store ${store.name} has the SHA-256 ${actual}: it is another file`,
    );
  return bytes;
}

/** Puts bytes into a store, unless it has them. */
export async function ensureIn(store: Store, digest: string, bytes: Uint8Array): Promise<void> {
  if (!(await store.has(digest))) await store.put(digest, bytes);
}
