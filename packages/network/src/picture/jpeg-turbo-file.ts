/**
 * The WebAssembly of libjpeg-turbo, in sources: a file of its package.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

/** The bytes of the file. */
export const jpegTurbo: Uint8Array = readFileSync(
  createRequire(import.meta.url).resolve("@cwasm/jpeg-turbo/jpeg-turbo.wasm"),
);
