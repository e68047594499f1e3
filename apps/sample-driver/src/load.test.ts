/**
 * Many lifetimes and several clients at once, in short. With NNHAL_FAULTS=all 1000 lifetimes and 20 s. The long form: NNHAL_SOAK=300
 * (seconds) and NNHAL_LIFETIMES=1000 for `npx vitest run apps/sample-driver/src/load.test.ts`.
 */
import { existsSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { killUnderLoad, lifetimes, pings, readHeld, soak } from "./load.test-helper.ts";
import { cleanUp, type StartedDaemon, startDaemonProcess } from "./process.test-helper.ts";

const isWhole = process.env.NNHAL_FAULTS === "all";
const lives = Number(process.env.NNHAL_LIFETIMES ?? (isWhole ? 1000 : 30));
const seconds = Number(process.env.NNHAL_SOAK ?? (isWhole ? 20 : 1));
const limit = (lives + seconds) * 1000 + 60_000;
const hasProc = existsSync("/proc/self/fd");

let daemon: StartedDaemon;
beforeAll(async () => {
  daemon = await startDaemonProcess();
});
afterAll(cleanUp);

it(
  "lifetimes of clients leave no descriptors and no mappings without end",
  async () => {
    // The first ones load what all others use.
    expect(await lifetimes(daemon.directory, 10)).toBe(0);
    const pid = Number(daemon.child.pid);
    const before = hasProc ? readHeld(pid) : undefined;
    expect(await lifetimes(daemon.directory, lives)).toBe(0);
    if (before === undefined) return;
    await expect.poll(() => readHeld(pid).descriptors, { timeout: 10_000 }).toBeLessThanOrEqual(before.descriptors);
    const after = readHeld(pid);
    if (lives >= 1000) process.stdout.write(`${lives} lifetimes: ${JSON.stringify({ before, after })}\n`);
    // A mapping goes when its memory is collected, so that some are left; without an end there would be one for each client.
    if (lives >= 1000) expect(after.mappings).toBeLessThan(lives / 2);
  },
  limit,
);

it(
  "ten clients with mixed models get right results, each its share",
  async () => {
    const before = hasProc ? readHeld(Number(daemon.child.pid)) : undefined;
    const [{ executions, least, wrong }, answers] = await Promise.all([
      soak(daemon.directory, 10, 1000 * seconds),
      pings(daemon.directory, 1000 * seconds),
    ]);
    expect(wrong).toBe(0);
    // An equal share would be a tenth.
    expect(least).toBeGreaterThan(executions / 100);
    if (seconds < 20) return;
    const after = hasProc ? readHeld(Number(daemon.child.pid)) : undefined;
    const killed = await killUnderLoad(daemon, 200);
    expect(killed.refused).toBeGreaterThan(0);
    const found = { executions, wrong, least, before, after, pings: answers, killed };
    process.stdout.write(`${seconds} s, milliseconds and MiB: ${JSON.stringify(found)}\n`);
  },
  limit,
);
