/**
 * A keyed digest at the head of a model file. It covers who wrote the file (device, backend and version), for which token,
 * how long it is and what is in it: none of it is looked at before the digest is right.
 */
import { createHmac, timingSafeEqual } from "node:crypto";

/** What a cache is bound to beside its token. */
export interface SealOwner {
  readonly key: Uint8Array;
  readonly device: string;
  readonly backend: string;
  readonly version: string;
}

/** Of this form of cache files: other forms, older ones among them, have other digests. */
const form = "nnhal compilation cache 1";

const digestLength = 32;

/** The content of a model file with its digest before it. */
export function seal(content: Uint8Array, token: Uint8Array, owner: SealOwner): Uint8Array {
  const sealed = new Uint8Array(digestLength + content.length);
  sealed.set(digestOf(content, token, owner));
  sealed.set(content, digestLength);
  return sealed;
}

/** The content of a sealed file, a view; undefined where the digest is another. */
export function unseal(sealed: Uint8Array, token: Uint8Array, owner: SealOwner): Uint8Array | undefined {
  if (sealed.length < digestLength) return undefined;
  const content = sealed.subarray(digestLength);
  return timingSafeEqual(digestOf(content, token, owner), sealed.subarray(0, digestLength)) ? content : undefined;
}

function digestOf(content: Uint8Array, token: Uint8Array, { key, device, backend, version }: SealOwner): Uint8Array {
  const hmac = createHmac("sha256", key);
  // Each part with its length before it: no two lists of parts are the same bytes.
  for (const part of [form, device, backend, version, token, content]) {
    const bytes = typeof part === "string" ? new TextEncoder().encode(part) : part;
    hmac.update(Uint32Array.of(bytes.length)).update(bytes);
  }
  return hmac.digest();
}
