import { describe, expect, it } from "vitest";
import { openThreads } from "./open.ts";

const open = async (threads: number) => threads;

describe("openThreads", () => {
  it.each([1, "1"])("opens none for %j", async (given) => {
    expect(await openThreads(given, "SOME_THREADS", () => Promise.reject(new Error("called")))).toEqual({
      choices: [],
    });
  });

  it.each([2, "2", 64])("opens others for %j", async (given) => {
    expect(await openThreads(given, "SOME_THREADS", open)).toEqual({
      team: Number(given),
      choices: [{ subject: "threads", chosen: String(given) }],
    });
  });

  it.each([0, "0", 65, "65", 1.5, -1, Number.NaN, "many"])("refuses %j", async (given) => {
    expect(await openThreads(given, "SOME_THREADS", open)).toEqual({
      unavailable: `${given} is not a valid number of threads`,
      remedy: "set threads or SOME_THREADS to a whole number from 1 to 64",
    });
  });

  it("says why there are no others", async () => {
    expect(await openThreads(3, "SOME_THREADS", () => Promise.reject(new Error("no file")))).toEqual({
      choices: [{ subject: "threads", chosen: "1", reason: "3 threads were asked for: no file" }],
    });
  });

  it("opens none where threads can share no memory", async () => {
    const shared = globalThis.SharedArrayBuffer;
    Reflect.deleteProperty(globalThis, "SharedArrayBuffer");
    try {
      expect(await openThreads(2, "SOME_THREADS", open)).toEqual({
        choices: [
          { subject: "threads", chosen: "1", reason: expect.stringContaining("there is no SharedArrayBuffer") },
        ],
      });
    } finally {
      Object.defineProperty(globalThis, "SharedArrayBuffer", { value: shared, configurable: true, writable: true });
    }
  });
});
