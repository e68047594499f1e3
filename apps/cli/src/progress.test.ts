import { PassThrough } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createLateProgressBar, createProgressBar } from "./progress.ts";

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
