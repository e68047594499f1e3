/**
 * The device suites on the tfjs backend. `nnhal conformance --device tfjs --hal 1.2` runs them through other HAL versions.
 */
import { defineConformanceTests } from "@nnhal/conformance";
import { describe, it } from "vitest";
import { deviceOn } from "./_devices.test-helper.ts";

describe("the tfjs device", () => {
  defineConformanceTests(it, () => deviceOn("wasm"), {
    // The faces of HAL versions do not depend on the backend: the reference device runs through them.
    versions: [],
    lacks: ["unsupported operations"],
  });
});
