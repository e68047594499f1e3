import { setTimeout } from "node:timers/promises";
import { expect, it } from "vitest";
import { createMutex } from "./mutex.ts";

it("runs tasks one at a time, in the order of the calls, whether they end well or not", async () => {
  const exclusive = createMutex();
  const seen: string[] = [];
  const task = (name: string, fails = false) =>
    exclusive(async () => {
      seen.push(`${name} begins`);
      await setTimeout(1);
      seen.push(`${name} ends`);
      if (fails) throw new Error(name);
      return name;
    });
  const all = [task("a"), task("b", true), task("c")];
  expect(seen).toEqual(["a begins"]);
  expect(await Promise.allSettled(all)).toMatchObject([{ value: "a" }, { reason: { message: "b" } }, { value: "c" }]);
  expect(seen).toEqual(["a begins", "a ends", "b begins", "b ends", "c begins", "c ends"]);
  const later = task("d");
  expect(seen.at(-1)).toBe("d begins");
  expect(await later).toBe("d");
});

it("gives the next task its turn if one throws before it returns a promise", async () => {
  const exclusive = createMutex();
  const thrown = exclusive(() => {
    throw new Error("at once");
  });
  const next = exclusive(async () => "next");
  await expect(thrown).rejects.toThrow("at once");
  expect(await next).toBe("next");
});
