import { elementAt } from "@nnhal/operations";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createLogger, defaultLogger, silentLogger } from "./logger.ts";
import { consoleSink, formatLogEntry, type LogEntry } from "./sink.ts";

/** A logger, its output, and its property. */
function logger(setting?: string) {
  const entries: LogEntry[] = [];
  const state = { setting, asked: [] as string[] };
  const log = createLogger({
    sink: (entry) => entries.push(entry),
    properties(name) {
      state.asked.push(name);
      return state.setting;
    },
  });
  return { log, entries, state };
}

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

describe("createLogger", () => {
  it("has every tag on before the mask is read for the first time", () => {
    const { log, entries, state } = logger("");
    log.VLOG("MEMORY", "early");
    expect(log.VLOG_IS_ON("DRIVER")).toBe(true);
    expect(entries).toEqual([{ severity: "verbose", tag: "MEMORY", message: "early" }]);
    expect(state.asked).toEqual([]);
  });

  it("lets through the tags that the property selects", () => {
    const { log, entries, state } = logger("driver");
    log.initVLogMask();
    log.VLOG("DRIVER", "seen");
    log.VLOG("MODEL", "not seen");
    expect([log.VLOG_IS_ON("DRIVER"), log.VLOG_IS_ON("MODEL")]).toEqual([true, false]);
    expect(entries).toEqual([{ severity: "verbose", tag: "DRIVER", message: "seen" }]);
    expect(state.asked).toEqual(["debug.nn.vlog"]);
  });

  it("is off where the property is not set", () => {
    const { log, entries } = logger(undefined);
    log.initVLogMask();
    log.VLOG("DRIVER", "not seen");
    expect(entries).toEqual([]);
  });

  it("reads the property again when it is told to, and not before", () => {
    const { log, state } = logger("driver");
    log.initVLogMask();
    state.setting = "model";
    expect([log.VLOG_IS_ON("MODEL"), log.VLOG_IS_ON("DRIVER")]).toEqual([false, true]);
    log.initVLogMask();
    expect([log.VLOG_IS_ON("MODEL"), log.VLOG_IS_ON("DRIVER")]).toEqual([true, false]);
  });

  it("makes a message only where its tag is on", () => {
    const { log, entries } = logger("driver");
    log.initVLogMask();
    let made = 0;
    const message = () => `made ${++made}`;
    log.VLOG("MODEL", message);
    expect(made).toBe(0);
    log.VLOG("DRIVER", message);
    expect(entries.map((entry) => entry.message)).toEqual(["made 1"]);
  });

  it("reports unknown tags once for each value of the property", () => {
    const { log, entries, state } = logger("driver bogus");
    log.initVLogMask();
    log.initVLogMask();
    expect(entries).toHaveLength(1);
    expect(elementAt(entries, 0).severity).toBe("error");
    expect(elementAt(entries, 0).message).toContain(
      'debug.nn.vlog (NNHAL_VLOG): "bogus" is not a tag; the tags are model, compilation,',
    );
    state.setting = "bogus";
    log.initVLogMask();
    expect(entries).toHaveLength(2);
  });

  it("writes information, warnings and errors whatever is on", () => {
    const { log, entries } = logger("");
    log.initVLogMask();
    log.info("a line", "MODEL");
    log.info(() => "lazy");
    log.warning("careful");
    log.error("broken");
    expect(entries).toEqual([
      { severity: "info", tag: "MODEL", message: "a line" },
      { severity: "info", message: "lazy" },
      { severity: "warning", message: "careful" },
      { severity: "error", message: "broken" },
    ]);
  });

  it("takes the property from NNHAL_VLOG and writes to the console unless told otherwise", () => {
    const written = vi.spyOn(console, "error").mockImplementation(() => {});
    vi.stubEnv("NNHAL_VLOG", "memory");
    const log = createLogger();
    log.initVLogMask();
    log.VLOG("MEMORY", "seen");
    log.VLOG("DRIVER", "not seen");
    expect(written.mock.calls).toEqual([["nnhal memory: seen"]]);
  });
});

describe("the loggers that there are", () => {
  it("the default one is off without the variable", () => {
    const written = vi.spyOn(console, "error").mockImplementation(() => {});
    vi.stubEnv("NNHAL_VLOG", undefined);
    defaultLogger.initVLogMask();
    defaultLogger.VLOG("DRIVER", "not seen");
    expect(written).not.toHaveBeenCalled();
  });

  it("the silent one says nothing and makes no message", () => {
    const written = vi.spyOn(console, "error").mockImplementation(() => {});
    const never = () => expect.unreachable("a message was made");
    silentLogger.initVLogMask();
    silentLogger.VLOG("DRIVER", never);
    silentLogger.info(never);
    silentLogger.warning(never);
    silentLogger.error(never);
    expect(silentLogger.VLOG_IS_ON("MODEL")).toBe(false);
    expect(written).not.toHaveBeenCalled();
  });
});

describe("formatLogEntry", () => {
  it("names the tag, else the severity", () => {
    expect(formatLogEntry({ severity: "verbose", tag: "CPUEXE", message: "run" })).toBe("nnhal cpuexe: run");
    expect(formatLogEntry({ severity: "info", tag: "MODEL", message: "digraph {" })).toBe("nnhal model: digraph {");
    expect(formatLogEntry({ severity: "warning", message: "careful" })).toBe("nnhal warning: careful");
  });

  it("is what the console shows", () => {
    const written = vi.spyOn(console, "error").mockImplementation(() => {});
    consoleSink({ severity: "error", message: "broken" });
    expect(written.mock.calls).toEqual([["nnhal error: broken"]]);
  });
});
