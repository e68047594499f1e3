import type { Model } from "@nnhal/types";
import { createLogger, type LogEntry } from "@nnhal/utils";
import { expect, it, vi } from "vitest";
import { logGraph as logLater } from "./log-graph.browser.ts";
import { logGraph } from "./log-graph.ts";

const model: Model = {
  main: { operands: [], operations: [], inputIndexes: [], outputIndexes: [] },
  referenced: [],
  operandValues: new Uint8Array(),
  pools: [],
  relaxComputationFloat32toFloat16: false,
  extensionNameToPrefix: [],
};

function logLines() {
  const entries: LogEntry[] = [];
  return { entries, log: createLogger({ sink: (entry) => entries.push(entry) }) };
}

it("in a browser the log shows the same drawing, once what draws is loaded", async () => {
  const [now, later] = [logLines(), logLines()];
  logGraph("a model", model, now.log, "MODEL");
  logLater("a model", model, later.log, "MODEL");
  expect(later.entries).toEqual([]);
  await vi.waitUntil(() => later.entries.length > 0);
  expect(later.entries).toEqual(now.entries);
});

it("in a browser the log says that a model cannot be drawn", async () => {
  const { entries, log } = logLines();
  const broken: Model = {
    ...model,
    get main(): Model["main"] {
      throw new Error("broken");
    },
  };
  logLater("a model", broken, log, "MODEL");
  await vi.waitUntil(() => entries.some(({ severity }) => severity === "warning"));
  expect(entries.at(-1)?.message).toBe("a model cannot be drawn: Error: broken");
});
