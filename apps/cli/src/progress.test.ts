import { PassThrough } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createLateProgressBar, createLongProgress, createProgressBar } from "./progress.ts";

function terminal() {
  const stream = Object.assign(new PassThrough(), { isTTY: true });
  return { stream, text: () => String(stream.read() ?? "") };
}

describe("createProgressBar", () => {
  it("writes to a terminal, and nowhere else", () => {
    const { stream, text } = terminal();
    const bar = createProgressBar(stream, 4);
    bar.moveTo(4, "all of it");
    bar.stop();
    expect(text()).toContain("100%");
    const file = new PassThrough();
    createProgressBar(file, 4).moveTo(4, "all of it");
    expect(file.read()).toBeNull();
  });
});

describe("the time that is left", () => {
  it("is a question mark while nothing is done, in place of the library's INF cut to NFs", async () => {
    const { stream, text } = terminal();
    const bar = createProgressBar(stream, 4);
    for (let turn = 0; turn < 4; turn++) {
      bar.moveTo(0, `turn ${turn}`);
      await wait(30);
    }
    bar.stop();
    const shown = text();
    expect(shown).toMatch(/\? left/);
    expect(shown).not.toContain("NFs");
  });
});

describe("createLateProgressBar", () => {
  it("stays away from short work", async () => {
    const { stream, text } = terminal();
    const bar = createLateProgressBar(stream, 2, 20);
    bar.moveTo(1, "half");
    bar.stop();
    await wait(40);
    expect(text()).toBe("");
  });

  it("shows long work where it has got to", async () => {
    const { stream, text } = terminal();
    const bar = createLateProgressBar(stream, 2, 1);
    bar.moveTo(1, "half");
    await wait(40);
    bar.stop();
    expect(text()).toMatch(/50%.*half/);
  });
});

describe("createLongProgress", () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it("writes a line at intervals where there is no terminal, also while nothing moves", () => {
    vi.useFakeTimers();
    const file = new PassThrough();
    const text = () => String(file.read() ?? "");
    const progress = createLongProgress(file, 8, 10_000);
    progress.moveTo(1, "tfjs: preparing");
    vi.advanceTimersByTime(9_999);
    expect(text()).toBe("");
    vi.advanceTimersByTime(10_001);
    expect(text()).toBe("12%  tfjs: preparing\n12%  tfjs: preparing\n");
    progress.stop();
    vi.advanceTimersByTime(20_000);
    expect(text()).toBe("");
  });

  it("is a bar on a terminal", () => {
    const { stream, text } = terminal();
    const bar = createLongProgress(stream, 2);
    bar.moveTo(1, "half");
    bar.stop();
    expect(text()).toContain("50%");
  });
});
