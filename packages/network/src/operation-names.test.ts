import { tfliteExtension } from "@nnhal/extension-tflite";
import { describe, expect, it } from "vitest";
import { nameOperations } from "./operation-names.ts";

describe("nameOperations", () => {
  it("names operations of extensions that are known, wherever the text mentions them", () => {
    const text = "a: nnhal.tflite operation 71: no. b: IF: inside, nnhal.tflite operation 1126: no";
    expect(nameOperations(text, [tfliteExtension])).toBe(
      "a: nnhal.tflite PRELU: no. b: IF: inside, nnhal.tflite BATCH_MATMUL: no",
    );
  });

  it.each(["com.example.audio operation 71", "nnhal.tflite operation 65535", "operation 71 of 80"])(
    "leaves %j as it is",
    (text) => {
      expect(nameOperations(text, [tfliteExtension])).toBe(text);
      expect(nameOperations(text, [])).toBe(text);
    },
  );
});
