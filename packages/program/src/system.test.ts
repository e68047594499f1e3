import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { inheritedSockets, notifySystem } from "./system.ts";

describe("sockets that the process was started with", () => {
  const named = (LISTEN_FDS: string, LISTEN_FDNAMES?: string, LISTEN_PID = "7") =>
    inheritedSockets({ LISTEN_PID, LISTEN_FDS, ...(LISTEN_FDNAMES !== undefined && { LISTEN_FDNAMES }) }, 7);

  it("have the names of devices, from descriptor 3", () => {
    expect([...named("2", "a:b")]).toEqual([
      ["a", 3],
      ["b", 4],
    ]);
    expect(named("1", "a", "8").size).toBe(0);
    expect(inheritedSockets({}, 7).size).toBe(0);
  });

  it("must have names, and a number", () => {
    expect(() => named("2", "a")).toThrow("LISTEN_FDNAMES has no name for socket 1");
    expect(() => named("1")).toThrow("LISTEN_FDNAMES has no name for socket 0");
    expect(() => named("many", "a")).toThrow("LISTEN_FDS is many, not a number of sockets");
  });
});

it("does not wait for systemd if there is none", async () => {
  await notifySystem("--ready", {});
  await notifySystem("--ready", { NOTIFY_SOCKET: join(tmpdir(), "nnhal-no-socket"), PATH: "" });
});
