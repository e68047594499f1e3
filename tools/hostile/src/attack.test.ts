/** The harness finds the faults that it is for: a program that ends, that stalls, that takes memory, and wrong answers. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startProgram } from "@nnhal/test-kit/processes";
import { afterAll, expect, it } from "vitest";
import { attack } from "./attack.ts";
import type { Surface } from "./surface.ts";

const folder = mkdtempSync(join(tmpdir(), "nnhal-hostile-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Obeys each message as its answer. */
const program = `
process.stdout.write("ready\\n");
const kept = [];
process.on("message", ({ ask, work }) => {
  if (work === "end") process.exit(3);
  if (work === "stall") { const end = process.cpuUsage().user + 200_000; while (process.cpuUsage().user < end); }
  if (work === "memory") kept.push(Buffer.alloc(300 * 2 ** 20, 1));
  process.send({ ask });
});
`;

const surface: Surface = {
  name: "test",
  says: "a program that does what it is told",
  async start() {
    const path = join(folder, "program.mjs");
    writeFileSync(path, program);
    const started = startProgram(process.execPath, [path], { ipc: true });
    await started.says("ready");
    let next = 0;
    const ask = (work?: string) =>
      new Promise<void>((resolve) => {
        const mine = next++;
        const end = () => {
          started.child.off("message", listen).off("exit", end);
          resolve();
        };
        const listen = (answer: { readonly ask: number }) => {
          if (answer.ask === mine) end();
        };
        started.child.on("message", listen).on("exit", end);
        started.child.send({ ask: mine, work }, () => {});
      });
    return {
      program: started,
      memoryLimit: 250 * 2 ** 20,
      ask: () => ask(),
      kinds: [
        { name: "nothing", send: () => ask("nothing") },
        { name: "end", send: () => ask("end") },
        { name: "stall", send: () => ask("stall") },
        { name: "memory", send: () => ask("memory") },
        { name: "wrong", send: () => Promise.reject(new Error("a wrong answer")) },
      ],
      async close() {
        started.child.kill("SIGKILL");
        await started.ended;
      },
    };
  },
};

it.runIf(process.platform === "linux")(
  "finds ends, stalls, memory and wrong answers, and nothing else",
  async () => {
    const lines: string[] = [];
    const limits = { busy: 100, silent: 30_000 };
    const reports = await attack(surface, { seconds: 0.2, seed: 1, limits, onLine: (line) => lines.push(line) });
    const problems = new Map(reports.map((report) => [report.kind, report.problems.join("; ")]));
    expect(problems.get("nothing")).toBe("");
    expect(problems.get("end")).toContain("has ended: 3");
    expect(problems.get("stall")).toMatch(/computed for \d+ ms before it answered/);
    expect(problems.get("memory")).toMatch(/had \d+ MiB resident; 250 are the most/);
    expect(problems.get("wrong")).toContain("a wrong answer");
    expect(lines).toHaveLength(5);
  },
  300_000,
);

it("refuses a kind that does not exist", async () => {
  await expect(attack(surface, { seconds: 0.1, seed: 1, only: ["none"] })).rejects.toThrow("no kind none");
});
