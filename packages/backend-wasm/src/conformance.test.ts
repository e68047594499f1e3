/**
 * The device suites on the wasm backend. `nnhal conformance --device wasm --hal 1.2` runs them through other HAL versions.
 */
import { defineConformanceTests } from "@nnhal/conformance";
import { describe, it } from "vitest";
import { deviceOf } from "./_devices.test-helper.ts";

describe("the wasm device", () => {
  defineConformanceTests(it, () => deviceOf(), {
    // The faces of HAL versions do not depend on the backend: the reference device runs through them.
    versions: [],
    lacks: ["scalar inputs", "unsupported operations"],
  });
});
