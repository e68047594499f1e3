import { readFileSync } from "node:fs";
import type { Options } from "tsup";
import { library } from "../../tsup.base.ts";

// What there is of decoders, files and workers depends on where the package runs: the field "imports" of its package.json says so.
const entry = {
  index: "src/index.ts",
  tensors: "src/tensors.ts",
  "decoders-node": "src/picture/decoders-node.ts",
  "decoders-browser": "src/picture/decoders-browser.ts",
  "platform-node": "src/platform-node.ts",
  "platform-browser": "src/platform-browser.ts",
  webp: "src/picture/webp-embedded.ts",
  "worker-node": "src/worker-node.ts",
  "worker-browser": "src/worker-browser.ts",
  "workers-node": "src/workers-node.ts",
  "workers-browser": "src/workers-browser.ts",
};

/** The loader of the decoder of WebP is given its WebAssembly: bundlers would look for the file that it names. */
const namesNoFile: NonNullable<Options["esbuildPlugins"]>[number] = {
  name: "the decoder of WebP names no file",
  setup({ onLoad }) {
    onLoad({ filter: /webp_dec\.js$/ }, ({ path }) => {
      const code = readFileSync(path, "utf8");
      const contents = code.replace('new URL("webp_dec.wasm",import.meta.url).href', '"webp_dec.wasm"');
      if (contents === code) throw new Error(`${path} does not name its file as expected`);
      return { contents };
    });
  },
};

export default library(entry, { loader: { ".wasm": "binary" }, external: [/^#/], esbuildPlugins: [namesNoFile] });
