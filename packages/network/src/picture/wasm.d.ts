/** Files of WebAssembly are bytes in a build. */
declare module "*.wasm" {
  const bytes: Uint8Array;
  // biome-ignore lint/style/noDefaultExport: it is what esbuild makes of such a file.
  export default bytes;
}

/** The decoder of jpeg-js, without its encoder. */
declare module "jpeg-js/lib/decoder.js" {
  // biome-ignore lint/style/noDefaultExport: it is what bundlers make of a file of CommonJS.
  export { decode as default } from "jpeg-js";
}
