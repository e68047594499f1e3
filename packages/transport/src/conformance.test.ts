/**
 * The conformance kit through a connection, on the device as it is: some suites over each carrier, with NNHAL_TRANSPORT=all every
 * suite over each, and through each HAL version.
 */
import { type ConformanceTestsOptions, defineConformanceTests } from "@nnhal/conformance";
import { describe, it } from "vitest";
import { connectDevice } from "./client/index.ts";
import { pairs, reference } from "./ends.test-helper.ts";
import { serve } from "./server/index.ts";

const isWhole = process.env.NNHAL_TRANSPORT === "all";

/** The carriers differ in how memory crosses: over a socket it is copied here. */
const suites: Readonly<Record<string, ConformanceTestsOptions["suites"]>> = {
  memory: ["burst"],
  port: ["device", "fenced", "caching"],
  socket: ["prepared-model", "memory"],
};

describe.each(pairs)("the reference device over a carrier of kind %s", (name, pair, passing) => {
  const open = async () => {
    const device = await reference();
    const [client, server] = await pair();
    serve(device, server, { passing });
    return connectDevice(client, { passing });
  };
  const always = ["other clients", "unsupported operations", "direct bursts"] as const;
  defineConformanceTests(it, open, {
    ...(!isWhole && { suites: suites[name], versions: [] }),
    lacks: name === "socket" ? [...always, "kept models", "bursts"] : always,
  });
});
