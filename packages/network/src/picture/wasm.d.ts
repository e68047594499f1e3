/** Files of WebAssembly are bytes in a build. */
declare module "*.wasm" {
  const bytes: Uint8Array;
  // biome-ignore lint/style/noDefaultExport: it is what esbuild makes of such a file.
  export default bytes;
}
