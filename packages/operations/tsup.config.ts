import { basename } from "node:path";
import type { Options } from "tsup";
import { library } from "../../tsup.base.ts";

/** Sources of nnhal.tflite. */
const isTflite = (path: string) => /\.tflite\.ts$|^tflite[-a-z]*(\.gen)?\.ts$/.test(basename(path));

/**
 * The operations of nnhal.tflite are files of their own, the same ones in Node.js and in browsers. The rest of the package stays outside: what is loaded
 * with them is `#kernels`, and their types need only what each page has.
 */
const namesOwnPackage: NonNullable<Options["esbuildPlugins"]>[number] = {
  name: "names the own package",
  setup({ onResolve }) {
    onResolve({ filter: /^\.\.?\// }, ({ path, importer, kind }) => {
      if (kind === "entry-point" || !isTflite(importer) || isTflite(path)) return undefined;
      const entry = importer.endsWith(".tflite.ts") ? "#kernels" : "@nnhal/operations";
      return { path: entry, external: true };
    });
  },
};

export default [
  library({
    index: "src/index.ts",
    authoring: "src/authoring.ts",
    compiling: "src/compiling.ts",
    kernels: "src/kernels.ts",
  }),
  library(
    { tflite: "src/tflite.ts", "tflite-types": "src/tflite-types.ts" },
    { outDir: "dist/tflite", dts: false, esbuildPlugins: [namesOwnPackage] },
  ),
].flat();
