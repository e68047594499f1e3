/**
 * The device suites on the gpu.js backend. `nnhal conformance --device gpujs` runs them in the mode that is best here.
 */
import { defineConformanceTests } from "@nnhal/conformance";
import { describe, it } from "vitest";
import { deviceOn } from "./_devices.test-helper.ts";

describe("the gpu.js device", () => {
  defineConformanceTests(it, () => deviceOn("webasm"), {
    // The faces of HAL versions do not depend on the backend: the reference device runs through them.
    versions: [],
    lacks: ["unsupported operations"],
  });
});
