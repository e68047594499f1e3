import { tensorInfo } from "@nnhal/operations";
import { expect, it } from "vitest";
import type { KernelTensor } from "./kernel.ts";
import { optionalTensor, requiredTensor } from "./tensor-args.ts";

it("tensor arguments are found by name", () => {
  const info = tensorInfo({ type: "TENSOR_FLOAT32", dimensions: [2], scale: 0, zeroPoint: 0 }, [2]);
  const weights: KernelTensor = { ...info, index: 3 };
  const args = { weights, activation: 1, bias: undefined };
  expect(optionalTensor(args, "weights")).toBe(weights);
  expect(requiredTensor(args, "weights")).toBe(weights);
  expect(optionalTensor(args, "bias")).toBeUndefined();
  expect(optionalTensor(args, "activation")).toBeUndefined();
  expect(() => requiredTensor(args, "bias")).toThrow("bias is omitted");
});
