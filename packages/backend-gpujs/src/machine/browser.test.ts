import { afterEach, expect, it, vi } from "vitest";
import { browserHasGpu, isBrowser } from "./browser.ts";

afterEach(() => vi.unstubAllGlobals());

it("Node.js is not a browser", () => {
  expect(isBrowser).toBe(false);
});

it("a browser has a GPU if it finds an adapter", async () => {
  const adapters: readonly (readonly [adapter: unknown, hasGpu: boolean])[] = [
    [{}, true],
    [null, false],
  ];
  for (const [adapter, hasGpu] of adapters) {
    vi.stubGlobal("navigator", { gpu: { requestAdapter: async () => adapter } });
    expect(await browserHasGpu()).toBe(hasGpu);
  }
  vi.stubGlobal("navigator", {});
  expect(await browserHasGpu()).toBe(false);
});
