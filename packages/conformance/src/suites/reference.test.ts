/**
 * The device suites on the reference device, as it is and through each HAL version: the test that the author of a backend
 * writes.
 */
import { referenceBackend } from "@nnhal/backend-reference";
import { openDevice } from "@nnhal/driver-core/device";
import { describe, it } from "vitest";
import { defineConformanceTests } from "../tests.ts";

describe("the reference device", () => {
  defineConformanceTests(it, () => openDevice({ backend: referenceBackend }), {
    lacks: ["unsupported operations"],
  });
});
