import { EventEmitter } from "node:events";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { createInterrupts } from "./children.ts";

function interrupts() {
  const events = new EventEmitter();
  return { events, ...createInterrupts(events) };
}

it("calls a listener at the first Ctrl-C, and leaves the next one to others", async () => {
  const { events, onInterrupt, isHandled } = interrupts();
  let calls = 0;
  expect(isHandled()).toBe(false);
  onInterrupt(() => calls++);
  // A child starter asks in the same turn, before or after the listener.
  events.on("SIGINT", () => expect(isHandled()).toBe(true));
  expect(isHandled()).toBe(true);
  events.emit("SIGINT");
  expect(calls).toBe(1);
  await nextTurn();
  expect(isHandled()).toBe(false);
  events.removeAllListeners("SIGINT");
  events.emit("SIGINT");
  expect(calls).toBe(1);
});

it("calls a listener at SIGTERM too, and only once", async () => {
  const { events, onInterrupt } = interrupts();
  let calls = 0;
  onInterrupt(() => calls++);
  events.emit("SIGTERM");
  await nextTurn();
  events.emit("SIGINT");
  expect(calls).toBe(1);
});

it.each(["SIGINT", "SIGTERM"])("leaves %s to others when the listener is taken away", (signal) => {
  const { events, onInterrupt, isHandled } = interrupts();
  const stop = onInterrupt(() => {
    throw new Error("was taken away");
  });
  stop();
  expect(isHandled()).toBe(false);
  expect(events.listenerCount(signal)).toBe(0);
  events.emit(signal);
});
