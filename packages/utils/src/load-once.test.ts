import { expect, it, vi } from "vitest";
import { loadOnce } from "./load-once.ts";

it("loads a part once, also if several callers need it at the same time", async () => {
  const part = {};
  const load = vi.fn(async () => part);
  const loaded = loadOnce(load);
  expect(load).not.toHaveBeenCalled();
  const [first, second] = await Promise.all([loaded(), loaded()]);
  expect([first, second, await loaded()].every((one) => one === part)).toBe(true);
  expect(load).toHaveBeenCalledTimes(1);
});

it("tries again after a failure", async () => {
  const load = vi.fn(async () => "a part").mockRejectedValueOnce(new Error("no network"));
  const loaded = loadOnce(load);
  await expect(loaded()).rejects.toThrow("no network");
  expect(await loaded()).toBe("a part");
  expect(await loaded()).toBe("a part");
  expect(load).toHaveBeenCalledTimes(2);
});
