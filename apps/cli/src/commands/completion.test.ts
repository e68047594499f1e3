import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import type { Engine } from "../backend-module.ts";
import { runCommandLine, useFolder } from "../program.test-helper.ts";

const { path, put } = useFolder();

const script = async (shell: string) => (await runCommandLine(["completion", shell], {})).stdout;

function has(shell: string): boolean {
  return spawnSync(shell, ["--version"]).status === 0;
}

describe("nnhal completion", () => {
  it.each(["bash", "zsh", "fish"])("knows commands, options and values in %s", async (shell) => {
    const text = await script(shell);
    for (const known of ["run", "conformance", "completion", "device", "reference", "LOW_POWER|policy", "fish"]) {
      expect(text).toMatch(new RegExp(known));
    }
    // A command of the program itself, which help does not list; that of studio has the word in its descriptions.
    expect(text.replaceAll(/serve (?:a page|on)/g, "")).not.toContain("serve");
  });

  it("offers engines that are installed", async () => {
    const engine = (device: string, isInstalled?: boolean): Engine => ({
      device,
      module: device,
      load: () => Promise.reject(new Error("nothing is loaded")),
      ...(isInstalled !== undefined && { isInstalled: () => isInstalled }),
    });
    const engines = [engine("nnhal-first"), engine("nnhal-second", true), engine("nnhal-absent", false)];
    const { stdout } = await runCommandLine(["completion", "bash"], { engines });
    expect(stdout).toContain('"auto first second"');
    expect(stdout).not.toContain("absent");
  });

  it("refuses a shell that it does not know, with a suggestion of those it does", async () => {
    const { stdout, stderr, exitCode } = await runCommandLine(["completion", "csh"], {});
    expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 2 });
    expect(stderr).toContain("bash, zsh, fish");
  });

  it.runIf(has("bash"))("completes in bash", async () => {
    await put("nnhal.bash", await script("bash"));
    const complete = (...words: readonly string[]) => {
      const line = words.map((word) => `'${word}'`).join(" ");
      const code = `source nnhal.bash; COMP_WORDS=(${line}); COMP_CWORD=${words.length - 1}; _nnhal; echo "\${COMPREPLY[*]}"`;
      const { stdout, stderr } = spawnSync("bash", ["--norc", "-c", code], { cwd: path("."), encoding: "utf8" });
      expect(stderr).toBe("");
      return stdout.trim();
    };
    expect(complete("nnhal", "v")).toBe("validate vectors");
    expect(complete("nnhal", "run", "--out")).toBe("--output-dir");
    expect(complete("nnhal", "--debug", "run", "--pro")).toBe("--profile");
    expect(complete("nnhal", "explain", "m.tflite", "--policy", "")).toBe("cost android");
    expect(complete("nnhal", "run", "--device", "r")).toBe("reference");
    expect(complete("nnhal", "run", "--labels", "")).toBe("");
    expect(complete("nnhal", "completion", "z")).toBe("zsh");
    expect(complete("nnhal", "run", "mod")).toBe("");
    expect(complete("nnhal", "batch", "s")).toBe("submit status");
    expect(complete("nnhal", "batch", "submit", "--inl")).toBe("--inline");
  });

  it.runIf(has("zsh"))("is a script that zsh reads", async () => {
    await put("_nnhal", await script("zsh"));
    expect(spawnSync("zsh", ["-n", path("_nnhal")], { encoding: "utf8" })).toMatchObject({ status: 0, stderr: "" });
  });

  it.runIf(has("fish"))("completes in fish", async () => {
    await put("nnhal.fish", await script("fish"));
    const complete = (line: string) => {
      const code = `source ${path("nnhal.fish")}; complete -C '${line}'`;
      const { stdout } = spawnSync("fish", ["--no-config", "-c", code], { cwd: path("."), encoding: "utf8" });
      return stdout.split("\n").flatMap((one) => (one === "" ? [] : [one.split("\t")[0]]));
    };
    expect(complete("nnhal v")).toEqual(["validate", "vectors"]);
    expect(complete("nnhal explain m.tflite --policy ")).toEqual(["android", "cost"]);
    expect(complete("nnhal run --pro")).toEqual(["--profile"]);
  });
});
