import { availableParallelism } from "node:os";
import { expect, it } from "vitest";
import { threadsOf } from "./engines.ts";
import { defaultSettings } from "./settings.ts";

it.each([
  [{ instances: 1 }, undefined],
  [{ instances: 2 }, Math.max(1, Math.floor(availableParallelism() / 2))],
  [{ instances: 256 }, 1],
  [{ instances: 1, threads: 3 }, 3],
  [{ instances: 2, threads: 5 }, 5],
])("%j: each instance has %s threads", (settings, threads) => {
  expect(threadsOf({ ...defaultSettings, ...settings })).toBe(threads);
});
