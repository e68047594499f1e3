import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { configDefaults, defineConfig } from "vitest/config";
import { TestOrder } from "./tools/repo/src/test-order.ts";

// Packages are tested from their sources: the "@nnhal/source" condition makes @nnhal/* resolve to src/, so no build is needed.
const conditions = ["@nnhal/source"];

// Programs of packages set it, to folders in which packages are that have not been built. The programs under test must not see these.
// biome-ignore lint/suspicious/noUndeclaredEnvVars: it is not a setting of a task
delete process.env.NODE_PATH;

// Programs under test keep what engines find here, and not in the home of the user.
process.env.XDG_STATE_HOME = join(tmpdir(), `nnhal-tests-state-${userInfo().uid}`);

// The processes of a run of all tests do not compare bundles of sources with these again: tools/launcher/src/source-bundles.mjs.
if (process.env.NNHAL_TESTS === "all") process.env.NNHAL_SOURCES_SINCE ??= String(Date.now());

const all = ["{packages,apps,tools}/*/{src,test}/**/*.test.ts"];
/** The packages that the others are made of. */
const base =
  "types,utils,operations,validation,extension-fibonacci,extension-tflite,tflite,backend,backend-reference,driver-core,runtime";
const baseFiles = [`packages/{${base}}/src/**/*.test.ts`];
const conformance = "packages/conformance/src/**/*.test.ts";
/** Large engines. */
const engines = "packages/backend-{tfjs,ort}/src/**/*.test.ts";
/** Tests that compare how many values an engine has, which it counts for the whole process. */
const counting = "packages/backend-tfjs/src/{memory,tfjs-backend,vectors}.test.ts";
/**
 * Callers that never stop, whose turns are counted: what other files have left to do in the process would take turns too. Full garbage
 * collections take twenty times as long with what other files keep.
 */
const stress = "packages/{driver-core/src/device/stress,utils/src/when-collected}.test.ts";

/**
 * In a run of all tests, files of packages that stand on others load these with the loader of the launcher, which bundles each package
 * once: importing their sources takes most of the time of many files. vitest does not see who imports what through a bundle, so it
 * loads sources in other runs.
 */
function bundlePackages(packages: string) {
  if (process.env.NNHAL_TESTS !== "all") return {};
  return {
    execArgv: ["--enable-source-maps", "--import", new URL("tools/launcher/src/sources.mjs", import.meta.url).href],
    server: { deps: { external: [new RegExp(`/packages/(?:${packages.replaceAll(",", "|")})/src/`)] } },
  };
}

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    // By default one processor is left alone, which of two is half.
    maxWorkers: "100%",
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Files leave nothing behind that another could see, and share what they import: a process for each takes a second more, and
    // kernels that one file has made fast are fast for the next.
    isolate: false,
    sequence: { sequencer: TestOrder },
    projects: [
      { extends: true, test: { name: "base", include: baseFiles, exclude: [...configDefaults.exclude, stress] } },
      { extends: true, test: { name: "stress", include: [stress], isolate: true } },
      { extends: true, test: { name: "conformance", include: [conformance], ...bundlePackages(base) } },
      {
        extends: true,
        test: {
          name: "others",
          include: all,
          exclude: [...configDefaults.exclude, ...baseFiles, conformance, engines],
          ...bundlePackages(`${base},conformance`),
        },
      },
      {
        extends: true,
        test: {
          name: "engines",
          include: [engines],
          exclude: [...configDefaults.exclude, counting],
          ...bundlePackages(`${base},conformance`),
        },
      },
      {
        extends: true,
        test: { name: "counting", include: [counting], isolate: true, ...bundlePackages(`${base},conformance`) },
      },
    ],
  },
});
