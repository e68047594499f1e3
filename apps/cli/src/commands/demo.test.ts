import { readdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { createChildStarter } from "../children.ts";
import { runCommandLine, useFolder } from "../program.test-helper.ts";

const demoFolder = fileURLToPath(new URL("../../demo/", import.meta.url));
const { run, path, put } = useFolder();

describe("nnhal demo", () => {
  it("uses a device of this process if a daemon cannot be started, and says so", async () => {
    const failing = createChildStarter(path("no-such-program.js"), undefined, { execArgv: [], isRead: true });
    const { stdout, exitCode } = await run(["demo"], { startDriver: failing });
    expect(stdout).toContain("device   nnhal-reference, in this process: the daemon has ended with code ");
    expect(stdout).toContain("2-ballpoint.png  is a 2");
    expect(exitCode).toBe(0);
    expect((await run(["demo", "--no-daemon"], { startDriver: failing })).stdout).toContain(
      "device   nnhal-reference\n",
    );
  });

  it("reads every picture right, shows one, and says what to try next", async () => {
    const { stdout, stderr, exitCode } = await run(["demo"]);
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
    const pictures = (await readdir(demoFolder)).filter((file) => file.endsWith(".png"));
    expect(pictures.length).toBeGreaterThanOrEqual(3);
    // The name of a picture begins with the digit it shows.
    for (const file of pictures)
      expect(stdout).toMatch(new RegExp(`^ {2}${file} +is a ${file[0]} +\\d+\\.\\d %$`, "m"));
    expect(stdout.match(/[▀▄█]/g)?.length).toBeGreaterThan(20);
    expect(stdout).not.toContain("\x1b");
    expect(stdout).toMatch(/^device {3}nnhal-reference$/m);
    expect(stdout).toMatch(/^latency {2}prepared in .+ ms, median .+ ms a picture$/m);
    expect(
      Math.max(
        ...stdout
          .split("\n")
          .slice(0, -5)
          .map((line) => line.length),
      ),
    ).toBeLessThanOrEqual(80);
  });

  it("suggests commands that work", async () => {
    const { stdout } = await run(["demo"], { cwd: demoFolder, commandLine: "npm run -s nnhal --" });
    const suggested = stdout.match(/(?<=^ {2}npm run -s nnhal -- ).+$/gm) ?? [];
    expect(suggested).toHaveLength(3);
    for (const line of suggested) {
      const { stderr, exitCode } = await runCommandLine(line.split(" "), { cwd: demoFolder });
      expect({ line, stderr, exitCode }).toEqual({ line, stderr: "", exitCode: 0 });
    }
  });

  it("shows the picture in colours if there are any", async () => {
    expect((await run(["demo"], { hasColours: true })).stdout).toContain("\x1b[38;2;");
  });

  it("says in one line what it misses", async () => {
    expect(await run(["demo", "--device", "toaster"])).toMatchObject({
      stderr: 'nnhal demo: there is no device "toaster"; there are: nnhal-reference\n',
      exitCode: 2,
    });
    const gone = await run(["demo"], { demoFolder: path("gone") });
    expect(gone.stderr).toMatch(/^nnhal demo: cannot read the demo's folder .*\n$/);
    expect(gone.exitCode).toBe(1);
    await put("labels.txt", "");
    expect((await run(["demo"], { demoFolder: path(".") })).stderr).toMatch(/^nnhal demo: there are no pictures/);
  });
});
