/**
 * The WebAssembly of the decoder of WebP, as a part of the build: a bundle of one file decodes it, too.
 */
export { default as webp } from "@jsquash/webp/codec/dec/webp_dec.wasm";
