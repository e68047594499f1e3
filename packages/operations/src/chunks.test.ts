import { expect, it } from "vitest";
import { CHUNK, pacer } from "./chunks.ts";

it("says when the work adds up", () => {
  const isTime = pacer();
  expect([isTime(CHUNK / 2), isTime(CHUNK / 2 - 1), isTime(1), isTime(1)]).toEqual([false, false, true, false]);
});
