import { configDefaults, defineConfig } from "vitest/config";

// Packages are tested from their sources: the "@nnhal/source" condition makes @nnhal/* resolve to src/, so no build is needed.
const conditions = ["@nnhal/source"];

const all = ["{packages,apps,tools}/*/{src,test}/**/*.test.ts"];
// Test files of these packages leave nothing behind that another could see, so they share what they import: that is half of their time.
// Engines count their tensors for the whole process, and tools and applications change its environment: their files stay apart.
const base =
  "types,utils,operations,validation,extension-fibonacci,extension-tflite,tflite,backend,backend-reference,driver-core,runtime";
const sharing = [`packages/{${base}}/src/**/*.test.ts`];

const apart = [...configDefaults.exclude, ...sharing];
const conformance = "packages/conformance/src/**/*.test.ts";

/**
 * In a run of all tests, files that stay apart load the packages below their own with the loader of the launcher, which
 * bundles each package once: importing their sources takes most of the time of many files. vitest does not see who imports what
 * through a bundle, so it loads sources in other runs.
 */
function bundled(packages: string) {
  if (process.env.NNHAL_TESTS !== "all") return {};
  return {
    execArgv: ["--import", new URL("tools/launcher/src/sources.mjs", import.meta.url).href],
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
    projects: [
      { extends: true, test: { name: "shared", include: sharing, isolate: false } },
      { extends: true, test: { name: "conformance", include: [conformance], ...bundled(base) } },
      {
        extends: true,
        test: { name: "apart", include: all, exclude: [...apart, conformance], ...bundled(`${base},conformance`) },
      },
    ],
  },
});
