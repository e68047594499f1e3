/**
 * The device suites on the gpu.js backend. `nnhal conformance --device gpujs` runs them in the mode that is best here.
 */
import { defineConformanceTests } from "@nnhal/conformance";
import { describe, it } from "vitest";
import { deviceOn } from "./_devices.test-helper.ts";

describe("the gpu.js device", () => {
  defineConformanceTests(it, () => deviceOn("webasm"), {
    versions: ["1.0"],
    lacks: ["unsupported operations"],
  });
});
