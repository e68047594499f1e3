/** The program that runs inputs, bundled with instrumented sources of the packages. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";
import { countsName } from "./coverage.ts";
import { instrument } from "./instrument.ts";

export const root = fileURLToPath(new URL("../../../", import.meta.url));

/** Room for counts. There are about 40,000 places. */
export const mostPlaces = 2 ** 17;

/** A built program. */
export interface Built {
  /** The file to run. */
  readonly program: string;
  /** Where each place is: the source from the root, and the line. */
  readonly places: readonly (readonly [source: string, line: number])[];
}

/** Builds the program into a folder. */
export async function buildProgram(folder: string): Promise<Built> {
  const places: (readonly [string, number])[] = [];
  const program = join(folder, "child.mjs");
  mkdirSync(folder, { recursive: true });
  await build({
    absWorkingDir: root,
    entryPoints: [join(root, "tools/fuzz/src/child.ts")],
    outfile: program,
    conditions: ["@nnhal/source"],
    target: `node${process.versions.node}`,
    platform: "node",
    format: "esm",
    bundle: true,
    sourcemap: true,
    sourcesContent: false,
    external: ["koffi"],
    logLevel: "error",
    banner: {
      js: `const ${countsName} = globalThis.${countsName} = new Uint8Array(${mostPlaces});
import { createRequire as createRequireOfBundle } from "node:module"; const require = createRequireOfBundle(import.meta.url);`,
    },
    plugins: [makeInstrumenting(places)],
  });
  if (places.length > mostPlaces) throw new RangeError(`${places.length} places, and room for ${mostPlaces}`);
  writeFileSync(join(folder, "places.json"), JSON.stringify(places));
  return { program, places };
}

/** Sources of packages are instrumented; those of this tool only keep their URLs. */
function makeInstrumenting(places: (readonly [string, number])[]): Plugin {
  return {
    name: "instrumenting",
    setup({ onLoad }) {
      onLoad({ filter: /\.ts$/ }, ({ path }) => {
        const text = readFileSync(path, "utf8").replaceAll("import.meta.url", JSON.stringify(pathToFileURL(path).href));
        const source = relative(root, path);
        if (!source.startsWith("packages")) return { contents: text, loader: "ts", resolveDir: dirname(path) };
        const { code, lines } = instrument(text, path, places.length);
        for (const line of lines) places.push([source, line]);
        return { contents: code, loader: "js", resolveDir: dirname(path) };
      });
    },
  };
}
