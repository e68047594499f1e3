/**
 * The WebAssembly of the decoder of JPEG, in sources: a file of its package.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

/** The bytes of the file. */
export const jpeg: Uint8Array = readFileSync(
  createRequire(import.meta.url).resolve("@jsquash/jpeg/codec/dec/mozjpeg_dec.wasm"),
);
