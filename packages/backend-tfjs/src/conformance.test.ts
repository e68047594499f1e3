/**
 * The device suites on the tfjs backend. `nnhal conformance --device tfjs --hal 1.2` runs them through other HAL versions.
 */
import { defineConformanceTests } from "@nnhal/conformance";
import { describe, it } from "vitest";
import { deviceOn } from "./_devices.test-helper.ts";

describe("the tfjs device", () => {
  defineConformanceTests(it, () => deviceOn("wasm"), {
    versions: ["1.0"],
    lacks: ["unsupported operations"],
  });
});
