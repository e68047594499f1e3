import { expect, it } from "vitest";
import { loadModule } from "./platform-node.ts";

it("loads nothing that is not installed", async () => {
  expect(await loadModule("@nnhal/backend-that-is-missing")).toBeUndefined();
});
