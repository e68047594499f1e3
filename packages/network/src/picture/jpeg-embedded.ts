/**
 * The WebAssembly of the decoder of JPEG, as a part of the build.
 */
export { default as jpeg } from "@jsquash/jpeg/codec/dec/mozjpeg_dec.wasm";
