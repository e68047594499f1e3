import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

/** Runs the program as a process of its own, in the folder of the demo's files. */
function start(args: readonly string[], environment: NodeJS.ProcessEnv = {}) {
  const main = fileURLToPath(new URL("main.ts", import.meta.url));
  const tsx = import.meta.resolve("tsx");
  return spawn(process.execPath, ["--import", tsx, "--conditions=@nnhal/source", main, ...args], {
    cwd: fileURLToPath(new URL("../demo/", import.meta.url)),
    env: { ...process.env, npm_lifecycle_event: undefined, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

function outcomeOf(child: ReturnType<typeof start>) {
  const outcome = { stdout: "", stderr: "", exitCode: null as number | null };
  child.stdout.on("data", (chunk) => (outcome.stdout += chunk));
  child.stderr.on("data", (chunk) => (outcome.stderr += chunk));
  return new Promise<typeof outcome>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (exitCode) => resolve({ ...outcome, exitCode }));
  });
}

describe("the program", () => {
  it("runs a model in the folder it was started in", async () => {
    const args = ["run", "digits-float.tflite", "--input", "7-mixture.png", "--labels", "labels.txt", "--json"];
    const { stdout, stderr, exitCode } = await outcomeOf(start(args));
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
    expect(JSON.parse(stdout).top[0]).toMatchObject({ index: 7, label: "7" });
  });

  it("exits with the code and the line of what went wrong", async () => {
    expect(await outcomeOf(start(["run", "labels.txt", "--random", "1"]))).toEqual({
      stdout: "",
      stderr: expect.stringMatching(/^nnhal run: the model labels\.txt cannot be used: [^\n]+\n$/),
      exitCode: 1,
    });
    expect(await outcomeOf(start(["run", "gone.tflite"]))).toEqual({
      stdout: "",
      stderr: "nnhal run: cannot read the model gone.tflite: there is no such file\n",
      exitCode: 2,
    });
  });

  it("names the root script in a checkout", async () => {
    const { stdout } = await outcomeOf(start(["demo"], { npm_lifecycle_event: "start" }));
    expect(stdout).toMatch(/^ {2}npm run -s nnhal -- run digits-uint8\.tflite --input 8-marker\.png/m);
  });

  it("ends quietly where nobody reads on", async () => {
    const child = start(["demo"]);
    const outcome = outcomeOf(child);
    child.stdout.destroy();
    expect(await outcome).toMatchObject({ stderr: "", exitCode: 0 });
  });
});
