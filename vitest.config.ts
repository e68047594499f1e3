import { defineConfig } from "vitest/config";

// Packages are tested from their sources: the "@nnhal/source" condition makes @nnhal/* resolve to src/, so no build is needed.
const conditions = ["@nnhal/source"];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ["{packages,apps,tools}/*/{src,test}/**/*.test.ts"],
    // By default one processor is left alone, which of two is half.
    maxWorkers: "100%",
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
