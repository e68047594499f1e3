/** Commands for processors, and processes that report: Node.js itself with small programs. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { launchOn, parseReport, runProcess } from "./launch.ts";
import { type Emulators, emulated } from "./processors.ts";

const machine: Emulators = {
  platform: "linux",
  arch: "x64",
  qemu: { x64: "/bin/qemu-x86_64", arm64: "/bin/qemu-aarch64" },
  hasArmLibraries: true,
  namespace: ["unshare", "--mount"],
};

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "nnhal-launch-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("the command", () => {
  it.each(emulated)("for $name begins with its emulator", (processor) => {
    const { command, env } = launchOn(processor, machine, folder, { node: "/arm/node", koffi: "/arm/koffi" });
    const place = command.indexOf(`/bin/qemu-${processor.arch === "x64" ? "x86_64" : "aarch64"}`);
    expect(command.slice(place + 1, place + 3)).toEqual(["-cpu", processor.cpu]);
    if (processor.arch === "x64")
      expect({ place, env, node: command.at(-2) }).toEqual({ place: 0, env: {}, node: process.execPath });
    else {
      expect(command.slice(0, 3)).toEqual(["unshare", "--mount", "sh"]);
      expect(readFileSync(command[place - 1] ?? "", "utf8")).toContain("CPU implementer\t: 0x41");
      expect({ env, node: command.at(-2) }).toEqual({
        env: { NNHAL_PROCESSORS_KOFFI: "/arm/koffi" },
        node: "/arm/node",
      });
    }
    expect(command.at(-1)).toBe("--disable-wasm-trap-handler");
  });

  it("for ARM needs a Node.js for ARM", () => {
    const arm = emulated.filter(({ arch }) => arch === "arm64");
    for (const each of arm) expect(() => launchOn(each, machine, folder, undefined)).toThrow("needs a Node.js for ARM");
  });
});

const run = (code: string, limit = 20_000) =>
  runProcess({ command: [process.execPath], env: { GREETING: "hello" } }, ["-e", code], limit);
const end = `console.log('{"kind":"end"}');`;

describe("a process", () => {
  it("is heard to its end, past what others print", async () => {
    const code = `console.log("engine ready"); console.log('{"kind":"engine","engine":"ort","unavailable":"' + process.env.GREETING + '"}'); ${end}`;
    expect(await run(code)).toEqual({
      reports: [{ kind: "engine", engine: "ort", unavailable: "hello" }, { kind: "end" }],
    });
  });

  it.each([
    ["does not finish its plan", "", "ended before its plan did"],
    ["fails", `${end} console.error("no memory"); process.exitCode = 3;`, "ended with 3: no memory"],
    ["crashes", `process.kill(process.pid, "SIGSEGV"); setTimeout(() => {}, 10_000)`, "ended with SIGSEGV"],
    [
      "is ended by the system",
      `process.kill(process.pid, "SIGKILL"); setTimeout(() => {}, 10_000)`,
      "ended with SIGKILL",
    ],
  ])("that %s has a problem", async (_, code, problem) => {
    expect((await run(code)).problem).toContain(problem);
  });

  it("is ended after its time", async () => {
    expect((await run("setInterval(() => {}, 1000)", 500)).problem).toBe("ended after 0.5 s");
  });

  it("that cannot be started says so", async () => {
    const { problem } = await runProcess({ command: [join(folder, "absent")], env: {} }, [], 1000);
    expect(problem).toContain("absent cannot be started");
  });
});

it.each(["", "text", `{"kind":`, `{"other":1}`])("%j is not a report", (line) => {
  expect(parseReport(line)).toBeUndefined();
});
