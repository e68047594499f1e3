import { configDefaults, defineConfig } from "vitest/config";

// Packages are tested from their sources: the "@nnhal/source" condition makes @nnhal/* resolve to src/, so no build is needed.
const conditions = ["@nnhal/source"];

const all = ["{packages,apps,tools}/*/{src,test}/**/*.test.ts"];
// Test files of these packages leave nothing behind that another could see, so they share what they import: that is half of their time.
// Engines count their tensors for the whole process, and tools and applications change its environment: their files stay apart.
const sharing = [
  "packages/{types,utils,operations,validation,tflite,backend,backend-reference,driver-core,runtime}/src/**/*.test.ts",
];

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
      { extends: true, test: { name: "apart", include: all, exclude: [...configDefaults.exclude, ...sharing] } },
    ],
  },
});
