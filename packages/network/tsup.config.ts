import { readFileSync } from "node:fs";
import { brotliCompressSync } from "node:zlib";
import { transform } from "esbuild";
import type { Options } from "tsup";
import { library } from "../../tsup.base.ts";

// Decoders, files and workers depend on where the package runs: the field "imports" of its package.json says so.
const entry = {
  index: "src/index.ts",
  "program-session": "src/program-session.ts",
  tensors: "src/tensors.ts",
  "decode-apart-node": "src/picture/decode-apart-node.ts",
  "decode-apart-browser": "src/picture/decode-apart-browser.ts",
  "decoders-node": "src/picture/decoders-node.ts",
  "decoders-browser": "src/picture/decoders-browser.ts",
  "platform-node": "src/platform-node.ts",
  "platform-browser": "src/platform-browser.ts",
  jpeg: "src/picture/jpeg-embedded.ts",
  "jpeg-turbo": "src/picture/jpeg-turbo-embedded.ts",
  webp: "src/picture/webp-embedded.ts",
  "worker-decoder": "src/picture/worker-decoder.ts",
  "worker-node": "src/worker-node.ts",
  "worker-browser": "src/worker-browser.ts",
  "workers-node": "src/workers-node.ts",
  "workers-browser": "src/workers-browser.ts",
};

/** The loaders of the decoders are given their WebAssembly: bundlers would look for the files that they name. */
const namesNoFile: NonNullable<Options["esbuildPlugins"]>[number] = {
  name: "decoders name no file",
  setup({ onLoad }) {
    onLoad({ filter: /(webp|mozjpeg)_dec\.js$/ }, ({ path }) => {
      const code = readFileSync(path, "utf8");
      const contents = code.replace(/new URL\("(\w+\.wasm)",import\.meta\.url\)\.href/, '"$1"');
      if (contents === code) throw new Error(`${path} does not name its file as expected`);
      return { contents };
    });
  },
};

/** WebAssembly is a part of the build, compressed. */
const packsWasm: NonNullable<Options["esbuildPlugins"]>[number] = {
  name: "WebAssembly compressed by brotli",
  setup({ onLoad }) {
    onLoad({ filter: /\.wasm$/ }, ({ path }) => ({
      contents: brotliCompressSync(readFileSync(path)),
      loader: "binary",
    }));
  },
};

/** The code of decoders is not ours, and large: it is not for reading in a build. */
const minifiesDecoders: NonNullable<Options["plugins"]>[number] = {
  name: "decoders minified",
  async renderChunk(code, { path }) {
    if (!/\/(decoder|webp_dec|mozjpeg_dec)-\w+\.js$/.test(path)) return null;
    const minified = await transform(code, { minify: true, format: "esm" });
    return { code: minified.code };
  },
};

/** As in other packages, except in files with comments that bundlers read, which would go with the white space. */
const stripsWhiteSpace: NonNullable<Options["plugins"]>[number] = {
  name: "without white space",
  async renderChunk(code, { path }) {
    if (!path.endsWith(".js") || code.includes("webpackIgnore")) return null;
    const options = { minifyWhitespace: true, minifySyntax: true, lineLimit: 200, format: "esm" } as const;
    return { code: (await transform(code, options)).code };
  },
};

export default library(entry, {
  external: [/^#/],
  esbuildPlugins: [namesNoFile, packsWasm],
  plugins: [minifiesDecoders, stripsWhiteSpace],
});
