import { expect, it } from "vitest";
import { installOf, loadModule } from "./platform-node.ts";

it("loads nothing that is not installed", async () => {
  expect(await loadModule("@nnhal/backend-that-is-missing")).toBeUndefined();
});

it("names what an engine computes with, beside its package", () => {
  expect(installOf("@nnhal/backend-ort")).toBe("@nnhal/backend-ort onnxruntime-node");
  expect(installOf("@nnhal/backend-tfjs")).toBe("@nnhal/backend-tfjs");
  expect(installOf("@acme/backend-npu")).toBe("@acme/backend-npu");
});
