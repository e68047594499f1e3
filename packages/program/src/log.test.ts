import { expect, it } from "vitest";
import { createLog, writeEntry } from "./log.ts";

it("writes lines of JSON", () => {
  const lines: string[] = [];
  const log = createLog("json", (line) => lines.push(line));
  log.info({ service: "a", client: 3 }, "a client has connected");
  writeEntry(log, "b", { severity: "verbose", tag: "DRIVER", message: "b: getStatus" });
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    { level: "info", time: expect.stringMatching(/^20.*Z$/), service: "a", client: 3, msg: "a client has connected" },
    { level: "debug", time: expect.any(String), service: "b", tag: "DRIVER", msg: "b: getStatus" },
  ]);
});

it("writes lines of text", () => {
  const lines: string[] = [];
  const log = createLog("text", (line) => lines.push(line));
  log.warn({ service: "a", client: 3 }, "too many");
  writeEntry(log, "b", { severity: "error", message: "broken" });
  log.info("ready");
  expect(lines.map((line) => line.replace(/^[\d:.]{12} /, ""))).toEqual([
    "warn a: too many (client=3)\n",
    "error b: broken\n",
    "info ready\n",
  ]);
});

it("leaves out what is less severe than its level", () => {
  const lines: string[] = [];
  const log = createLog("text", (line) => lines.push(line), "warn");
  log.info("not seen");
  log.warn("seen");
  expect(lines).toEqual([expect.stringMatching(/ warn seen\n$/)]);
});
