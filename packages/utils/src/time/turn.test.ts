import { afterEach, expect, test, vi } from "vitest";
import { callSoon } from "./turn.ts";

afterEach(() => vi.unstubAllGlobals());

const inOrder = async () => {
  const order: string[] = [];
  const ended = new Promise<void>((resolve) => {
    callSoon(() => order.push("first"));
    callSoon(() => {
      order.push("second");
      resolve();
    });
  });
  void Promise.resolve().then(() => order.push("this turn"));
  await ended;
  return order;
};

test.each([
  ["setImmediate", []],
  ["messages, if there is no setImmediate", ["setImmediate"]],
  ["timers, if there are no messages either", ["setImmediate", "MessageChannel"]],
])("tasks run in order after this turn of the event loop, by %s", async (_, absent) => {
  for (const name of absent) vi.stubGlobal(name, undefined);
  expect(await inOrder()).toEqual(["this turn", "first", "second"]);
});
