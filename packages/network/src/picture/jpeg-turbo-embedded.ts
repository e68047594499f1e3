/**
 * The WebAssembly of libjpeg-turbo, as a part of the build.
 */
export { default as jpegTurbo } from "@cwasm/jpeg-turbo/jpeg-turbo.wasm";
