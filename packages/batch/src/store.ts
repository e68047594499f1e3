/**
 * Where models lie by their digests: a folder, or a server that answers GET, HEAD and PUT, such as S3 and what is compatible with it.
 */
import { randomUUID } from "node:crypto";
import { mkdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { BatchError, digestOf, messageOf } from "./task.ts";

/** Bytes by their digests. Its methods reject with a BatchError if the store cannot be used. */
export interface Store {
  /** For messages. */
  readonly name: string;
  /** undefined: it is not there. */
  get(digest: string): Promise<Uint8Array | undefined>;
  has(digest: string): Promise<boolean>;
  put(digest: string, bytes: Uint8Array): Promise<void>;
}

/** A function like `fetch`. */
export type Fetch = (url: string, init?: { method?: string; body?: Uint8Array }) => Promise<Response>;

/**
 * The store of an address: a folder, `http://` or `https://` with a path that digests are added to, or `s3+https://HOST/BUCKET/PATH`, whose
 * requests are signed by aws4fetch with the keys of the environment. Throws a BatchError.
 */
export async function openStore(address: string, env: NodeJS.ProcessEnv = process.env): Promise<Store> {
  if (/^https?:\/\//.test(address)) return createHttpStore(address, fetch);
  if (/^s3\+https?:\/\//.test(address)) return createHttpStore(address.slice("s3+".length), await signedFetch(env));
  const folder = address.startsWith("file:") ? fileURLToPath(address) : resolve(address);
  return createFolderStore(folder);
}

/** A store in a folder. */
export function createFolderStore(folder: string): Store {
  const path = (digest: string) => join(folder, digest);
  const used = async <Result>(work: () => Promise<Result>): Promise<Result | undefined> => {
    try {
      return await work();
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
      throw new BatchError(`the store ${folder} cannot be used: ${messageOf(error)}`);
    }
  };
  return {
    name: folder,
    get: (digest) => used(async () => new Uint8Array(await readFile(path(digest)))),
    has: async (digest) => (await used(() => stat(path(digest)))) !== undefined,
    async put(digest, bytes) {
      await used(async () => {
        await mkdir(folder, { recursive: true });
        const file = join(folder, `.${randomUUID()}`);
        await writeFile(file, bytes, { flag: "wx" });
        await rename(file, path(digest));
      });
    },
  };
}

/** A store behind a server. */
export function createHttpStore(address: string, send: Fetch): Store {
  const base = address.replace(/\/*$/, "");
  const ask = async (method: string, digest: string, body?: Uint8Array) => {
    try {
      const response = await send(`${base}/${digest}`, { method, ...(body && { body }) });
      if (response.ok || (response.status === 404 && method !== "PUT")) return response;
      throw new Error(`the answer is ${response.status} ${response.statusText}`.trim());
    } catch (error) {
      const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : "";
      throw new BatchError(`the store ${base} cannot be used, at ${method} ${digest}: ${messageOf(error)}${cause}`);
    }
  };
  return {
    name: base,
    async get(digest) {
      const response = await ask("GET", digest);
      return response.ok ? new Uint8Array(await response.arrayBuffer()) : undefined;
    },
    has: async (digest) => (await ask("HEAD", digest)).ok,
    async put(digest, bytes) {
      await ask("PUT", digest, bytes);
    },
  };
}

/** Signs requests with the keys that the environment has in AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN and AWS_REGION. */
async function signedFetch(env: NodeJS.ProcessEnv): Promise<Fetch> {
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
  return (url, init) => client.fetch(url, init);
}

/** The bytes of a digest. Rejects with a BatchError if they are not there, or not those. */
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
