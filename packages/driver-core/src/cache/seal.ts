/**
 * A keyed digest at the head of a model file. It covers who wrote the file (device, backend and version), for which
 * token, its length and its content. The content is read only if the digest is right.
 */
import { nodeModule } from "@nnhal/utils/node";

/** The device that a cache is bound to, in addition to its token. */
export interface SealOwner {
  readonly key: Uint8Array;
  readonly device: string;
  readonly backend: string;
  readonly version: string;
}

/** Version of the file format: files of other versions have other digests. */
const form = "nnhal compilation cache 1";

const digestLength = 32;

/** The content of a model file, preceded by its digest. */
export function seal(content: Uint8Array, token: Uint8Array, owner: SealOwner): Uint8Array {
  const sealed = new Uint8Array(digestLength + content.length);
  sealed.set(digestOf(content, token, owner));
  sealed.set(content, digestLength);
  return sealed;
}

/** The content of a sealed file, a view; undefined if the digest is wrong. */
export function unseal(sealed: Uint8Array, token: Uint8Array, owner: SealOwner): Uint8Array | undefined {
  if (sealed.length < digestLength) return undefined;
  const content = sealed.subarray(digestLength);
  const isRight = digests().timingSafeEqual(digestOf(content, token, owner), sealed.subarray(0, digestLength));
  return isRight ? content : undefined;
}

const digests = () => nodeModule("node:crypto", "a compilation cache");

function digestOf(content: Uint8Array, token: Uint8Array, { key, device, backend, version }: SealOwner): Uint8Array {
  const hmac = digests().createHmac("sha256", key);
  // Each part is preceded by its length, so that two different lists of parts never have the same bytes.
  for (const part of [form, device, backend, version, token, content]) {
    const bytes = typeof part === "string" ? new TextEncoder().encode(part) : part;
    hmac.update(Uint32Array.of(bytes.length)).update(bytes);
  }
  return hmac.digest();
}
