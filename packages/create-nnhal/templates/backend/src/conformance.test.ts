import { defineConformanceTests } from "@nnhal/conformance";
import { openDevice } from "@nnhal/driver-core/device";
import { describe, it } from "vitest";
import { backend } from "./index.ts";

describe("the device", () => {
  defineConformanceTests(it, () => openDevice({ backend }), {
    // Parts that the backend does not compute yet. A test fails if a case needs any other absent part.
    lacks: [
      ...(["TENSOR_FLOAT16", "TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM_SIGNED"] as const),
      ...(["AVERAGE_POOL_2D", "CONV_2D", "DEPTHWISE_CONV_2D", "L2_POOL_2D", "MAX_POOL_2D"] as const),
      ...(["FILL", "TILE", "WHILE", "constant tensors", "scalar inputs", "models to break"] as const),
    ],
  });
});
