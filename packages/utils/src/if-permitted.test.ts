import { expect, test } from "vitest";
import { ifPermitted } from "./if-permitted.ts";

test("what a runtime refuses is undefined, and what it tells is that", () => {
  const refuse = (): number => {
    throw new Error('Requires sys access to "systemMemoryInfo", run again with the --allow-sys flag');
  };
  expect(ifPermitted(refuse)).toBeUndefined();
  expect(ifPermitted(() => 0)).toBe(0);
});
