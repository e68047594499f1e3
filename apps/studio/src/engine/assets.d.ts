/**
 * Files of packages that Vite copies into the page.
 */
declare module "*.wasm?url" {
  /** Its address. */
  const address: string;
  // biome-ignore lint/style/noDefaultExport: Vite exports it so
  export default address;
}
