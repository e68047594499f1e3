import type { ChildProcess } from "node:child_process";
import { EventEmitter } from "node:events";
import { describe, expect, it } from "vitest";
import { createChildStation, decode, encode, serveStation } from "./child-station.ts";
import type { Station } from "./station.ts";

it("carries arrays of bytes through JSON", () => {
  const value = { outputs: [Uint8Array.of(0, 255), new Uint8Array()], first: 1.5, cannot: "no" };
  expect(decode(encode(value))).toEqual(value);
});

/** A station that remembers nothing and answers everything. */
const answering: Station = {
  open: async () => ({ version: "1", settings: ["fast"], threads: null, milliseconds: 2 }),
  prepare: async () => ({ milliseconds: 3, keeps: false, first: 4, outputs: [Uint8Array.of(7)] }),
  warmUp: async () => ({ runs: 5, stable: true, least: 6 }),
  run: async (count) => ({ times: Array.from({ length: count }, (_, place) => place), cpu: 8 }),
  finish: () => Promise.reject(new Error("the engine is gone")),
  close: async () => {},
};

/** Both sides, joined without a process. */
function pair(station: Station) {
  const child = Object.assign(new EventEmitter(), {
    signals: [] as string[],
    send: (call: unknown) => parent.emit("message", JSON.parse(JSON.stringify(call))),
    kill: (signal: string) => void child.signals.push(signal),
  });
  const parent = Object.assign(new EventEmitter(), {
    send: (answer: unknown) => child.emit("message", JSON.parse(JSON.stringify(answer))),
  });
  const served = serveStation(station, parent);
  // A process as far as a station uses it.
  return { child, parent, served, station: createChildStation(child as unknown as ChildProcess, "litert") };
}

describe("a station in a child", () => {
  it("answers each call as the station in it does", async () => {
    const { station } = pair(answering);
    expect(await station.open()).toEqual(await answering.open());
    expect(await station.prepare()).toEqual(await answering.prepare());
    expect(await station.warmUp()).toEqual(await answering.warmUp());
    expect(await station.run(3)).toEqual({ times: [0, 1, 2], cpu: 8 });
    await expect(station.finish()).rejects.toThrow("the engine is gone");
  });

  it("rejects the call under way and all others when the child ends", async () => {
    const { station, child } = pair({ ...answering, run: () => new Promise(() => {}) });
    const running = station.run(1);
    child.emit("exit", null, "SIGSEGV");
    await expect(running).rejects.toThrow("the process of litert ended with SIGSEGV");
    await expect(station.warmUp()).rejects.toThrow("SIGSEGV");
    await station.close();
    expect(child.signals).toEqual([]);
  });

  it("ends a child that still runs", async () => {
    const { station, child } = pair(answering);
    await station.close();
    expect(child.signals).toEqual(["SIGKILL"]);
  });

  it("serves until the parent goes away, and ignores other messages", async () => {
    const { parent, served, station } = pair(answering);
    parent.emit("message", { method: "constructor", argument: 0 });
    parent.emit("message", "run");
    expect(await station.run(1)).toEqual({ times: [0], cpu: 8 });
    parent.emit("disconnect");
    await served;
  });
});
