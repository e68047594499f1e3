import { describe, expect, it } from "vitest";
import { isSoftware, quietly } from "./webgpu.ts";

describe("a driver that computes with the processor", () => {
  it("is recognised by the name of its adapter", () => {
    expect(["llvmpipe (LLVM 15.0.6)", "Google SwiftShader", "NVIDIA H200", ""].map(isSoftware)).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  it("is waited for without blocking the event loop, and its result is returned", async () => {
    let ticks = 0;
    const timer = setInterval(() => ticks++, 1);
    const later = new Promise<string>((resolve) => setTimeout(() => resolve("done"), 50));
    expect(await quietly(later)).toBe("done");
    clearInterval(timer);
    expect(ticks).toBeGreaterThan(0);
    await expect(quietly(Promise.reject(new Error("lost")))).rejects.toThrow("lost");
  });
});
