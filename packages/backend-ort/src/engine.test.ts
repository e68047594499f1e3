import { describe, expect, it } from "vitest";
import { loadOrt, sessionOptions } from "./engine.ts";

describe("loading the engine", () => {
  it("returns the engine", async () => {
    expect(await loadOrt()).toHaveProperty("InferenceSession");
  });

  it("reports that the package is not installed, and how to add it", async () => {
    expect(await loadOrt("onnxruntime-absent")).toEqual({
      unavailable: "onnxruntime-absent is not installed",
      remedy:
        "npm install onnxruntime-absent; where scripts or downloads are blocked: npm install --ignore-scripts onnxruntime-absent",
    });
  });

  it("reports a package that is another one", async () => {
    expect(await loadOrt("node:path")).toMatchObject({
      unavailable: expect.stringContaining("has no InferenceSession"),
    });
  });
});

describe("the options of sessions", () => {
  it("keep weights as they are, and add further options", () => {
    const { extra } = sessionOptions(1, { extra: { more: "1" } });
    expect(extra).toMatchObject({ "session.disable_quant_qdq": "1", more: "1" });
    // It would change weights by the processor that optimises a model, and the optimised model would be wrong on another one.
    expect(extra).not.toHaveProperty("session.x64quantprecision");
  });
});
