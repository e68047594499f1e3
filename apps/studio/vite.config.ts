/**
 * Builds the page into `dist/page`, from the sources of this package and of those that it uses.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vite";
import { joinLicences, licenceIn } from "../../tsup.base.ts";

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const gpujs = createRequire(path("../../packages/backend-gpujs/package.json")).resolve("gpu.js");

/** The kernels of gpu.js for OpenGL, which @nnhal/backend-gpujs uses with a package of Node.js alone. */
const openGl = /\/gpu\.js\/src\/backend\/(?:web-gl2?|headless-gl|gl)\//;
/** Plain JavaScript in TensorFlow.js takes the place of WebAssembly, which all browsers have that can show the page. */
const plainTfjs = "@tensorflow/tfjs-backend-cpu";

/** Leaves out what no browser uses. */
const lean = (): Plugin => ({
  name: "lean",
  enforce: "pre",
  resolveId: (id) => (id === plainTfjs ? `\0${plainTfjs}` : null),
  load(id) {
    if (id === `\0${plainTfjs}`) return 'throw new Error("plain JavaScript is not a part of the page");';
    if (openGl.test(id)) return "module.exports = new Proxy({}, { get: () => class { static isSupported = false; } });";
    return null;
  },
});

/** Collects the packages of others that become a part of the page or of its worker, as their folders. */
const collect = (folders: Set<string>): Plugin => ({
  name: "collect",
  generateBundle(_, bundle) {
    for (const part of Object.values(bundle))
      for (const id of part.type === "chunk" ? Object.keys(part.modules) : []) {
        const [folder] = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id.replace(/^\0/, "")) ?? [];
        if (folder !== undefined) folders.add(folder);
      }
  },
});

/** Files beside the page: the licences, and the network of the demonstration. */
const besides = (folders: ReadonlySet<string>): Plugin => ({
  name: "besides",
  generateBundle: {
    order: "post",
    handler() {
      const source = readFileSync(path("../cli/demo/digits-uint8.tflite"));
      this.emitFile({ type: "asset", fileName: "demo/digits-uint8.tflite", source });
      const licences = [...folders].sort().map((folder) => licenceIn(folder));
      this.emitFile({
        type: "asset",
        fileName: "THIRD-PARTY-LICENSES.txt",
        source: joinLicences("This page", licences),
      });
    },
  },
});

/** Names without `_` at their start: some static hosting leaves such files out. */
const chunkFileNames = ({ name }: { readonly name: string }) => `assets/${name.replace(/^_+/, "")}-[hash].js`;

const folders = new Set<string>();

export default defineConfig({
  root: path("src/page"),
  // The page works in any folder of a server.
  base: "./",
  publicDir: false,
  plugins: [collect(folders), besides(folders)],
  logLevel: "error",
  resolve: {
    conditions: ["@nnhal/source", "module", "browser", "production"],
    alias: { "#workers": path("src/engine/no-workers.ts"), "gpu.js": gpujs },
  },
  build: {
    outDir: path("dist/page"),
    emptyOutDir: true,
    // The policy of the page permits no script inside of it.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 4000,
    target: "es2022",
    rolldownOptions: { output: { chunkFileNames } },
  },
  worker: {
    format: "es",
    plugins: () => [lean(), collect(folders)],
    rolldownOptions: { output: { chunkFileNames } },
  },
});
