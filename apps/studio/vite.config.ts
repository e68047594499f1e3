/**
 * Builds the page into `dist/page`, from the sources of this package and of those that it uses.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));

export default defineConfig({
  root: path("src/page"),
  // The page works in any folder of a server.
  base: "./",
  publicDir: false,
  plugins: [
    {
      name: "demonstration",
      generateBundle() {
        const source = readFileSync(path("../cli/demo/digits-uint8.tflite"));
        this.emitFile({ type: "asset", fileName: "demo/digits-uint8.tflite", source });
      },
    },
  ],
  logLevel: "error",
  resolve: {
    conditions: ["@nnhal/source", "module", "browser", "production"],
    alias: { "#workers": path("src/engine/no-workers.ts") },
  },
  build: {
    outDir: path("dist/page"),
    emptyOutDir: true,
    // The policy of the page permits no script inside of it.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 4000,
    target: "es2022",
  },
  worker: { format: "es" },
});
