/**
 * The conformance kit through a connection, on the device as it is: some suites over each channel, without arithmetic, which is the same over
 * all. With NNHAL_TRANSPORT=all every case of every suite over each, and through each HAL version.
 */
import { type DeviceSuiteName, defineConformanceTests, runDeviceSuites } from "@nnhal/conformance";
import { describe, expect, it } from "vitest";
import { connectDevice } from "./client/index.ts";
import { pairs, reference } from "./ends.test-helper.ts";
import { serve } from "./server/index.ts";

const isWhole = process.env.NNHAL_TRANSPORT === "all";

/** The omitted cases spend their time in the convolution, not in the connection. */
const filter = (name: string) => !name.startsWith("prepared-model/windows");

/** The channels differ in how memory crosses: over a socket it is copied here. */
const suites: Readonly<Record<string, readonly DeviceSuiteName[]>> = {
  memory: ["burst"],
  port: ["device", "fenced", "caching"],
  socket: ["prepared-model", "memory", "burst"],
};

describe.each(pairs)("the reference device over a channel of kind %s", (name, pair, passing) => {
  const open = async () => {
    const device = await reference();
    const [client, server] = await pair();
    serve(device, server, { passing });
    return connectDevice(client, { passing });
  };
  // A burst over a connection that copies is served on the client's side.
  const lacks = [
    "other clients",
    "unsupported operations",
    name === "socket" ? "kept models" : "direct bursts",
  ] as const;
  if (isWhole) return defineConformanceTests(it, open, { lacks });
  it.each(suites[name] ?? [])(
    "a part of the suite %s passes",
    async (suite) => {
      const device = await open();
      if ("unavailable" in device) throw new Error(device.unavailable);
      const [problems, needs]: [string[], unknown[]] = [[], []];
      let passed = 0;
      for await (const { verdict, name: of, reason, cause } of runDeviceSuites(device, { suites: [suite], filter })) {
        if (verdict === "passed") passed++;
        else if (verdict === "unsupported" && cause?.kind === "need") needs.push(cause.need);
        else problems.push(`${of}: ${reason}`);
      }
      expect(problems).toEqual([]);
      expect(lacks).toEqual(expect.arrayContaining(needs));
      expect(passed).toBeGreaterThan(15);
      device.close();
    },
    120_000,
  );
});
