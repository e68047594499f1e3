import { configDefaults, defineConfig } from "vitest/config";

// Packages are tested from their sources: the "@nnhal/source" condition makes @nnhal/* resolve to src/, so no build is needed.
const conditions = ["@nnhal/source"];

const all = ["{packages,apps,tools}/*/{src,test}/**/*.test.ts"];
// Neither these packages nor their tests change anything that another test could see, so their files may share what they have
// imported: that is most of the time that they take.
const pure = ["packages/{tflite,validation}/src/**/*.test.ts"];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    // By default one processor is left alone, which of two is half.
    maxWorkers: "100%",
    testTimeout: 30_000,
    hookTimeout: 60_000,
    projects: [
      { extends: true, test: { name: "pure", include: pure, isolate: false } },
      { extends: true, test: { name: "other", include: all, exclude: [...configDefaults.exclude, ...pure] } },
    ],
  },
});
