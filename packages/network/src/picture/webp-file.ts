/**
 * The WebAssembly of the decoder of WebP, in sources: a file of its package.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

/** The bytes of the file. */
export const webp: Uint8Array = readFileSync(
  createRequire(import.meta.url).resolve("@jsquash/webp/codec/dec/webp_dec.wasm"),
);
