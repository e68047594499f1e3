/** The units of docs/daemon.md, read by systemd's own programs, and a daemon that systemd starts for its first client. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { connectService } from "@nnhal/service";
import { fromSource } from "@nnhal/test-kit/from-source";
import { startProgram } from "@nnhal/test-kit/processes";
import { afterAll, describe, expect, it } from "vitest";
import { added, addOnce, prepare } from "./models.test-helper.ts";
import { cleanUp, newFolder } from "./process.test-helper.ts";

afterAll(cleanUp);

function isInstalled(program: string): boolean {
  return spawnSync(program, ["--version"]).status === 0;
}

/** The units by the names that they begin with. */
function unitsOf(document: string): ReadonlyMap<string, string> {
  const units = [...document.matchAll(/```ini\n# (\S+)\n([\s\S]*?)```/g)];
  return new Map(units.map(([, name = "", text = ""]) => [name, text]));
}

/** Writes the units with a program that exists, and returns what `systemd-analyze verify` says of them. */
function verify(change: (text: string) => string = (text) => text) {
  const folder = newFolder();
  const document = readFileSync(new URL("../../../docs/daemon.md", import.meta.url), "utf8");
  const files = [...unitsOf(document)].map(([name, text]) => {
    const file = join(folder, name);
    writeFileSync(file, change(text.replace("/usr/local/bin/nnhal-sample-driver", process.execPath)));
    return file;
  });
  const { status, stdout, stderr } = spawnSync("systemd-analyze", ["verify", "--user", "--man=no", ...files], {
    encoding: "utf8",
    env: { ...process.env, XDG_RUNTIME_DIR: folder },
  });
  return { files: files.length, status, said: stdout + stderr };
}

describe.runIf(isInstalled("systemd-analyze"))("the units of the documentation", () => {
  it("have nothing that systemd does not know", () => {
    expect(verify()).toEqual({ files: 2, status: 0, said: "" });
  });

  it("would be told what it does not know", () => {
    expect(verify((text) => text.replace("LimitNOFILE", "LimitNoFiles")).said).toContain("LimitNoFiles");
  });
});

describe.runIf(isInstalled("systemd-socket-activate"))("socket activation", () => {
  it("starts the daemon for its first client, and serves it", async () => {
    const directory = join(newFolder(), "run");
    mkdirSync(directory, { mode: 0o700 });
    const path = join(directory, "nnapi-sample_all");
    const main = fileURLToPath(new URL("main.ts", import.meta.url));
    const started = startProgram("systemd-socket-activate", [
      ...[`--listen=${path}`, "--fdname=nnapi-sample_all", "--setenv=PATH"],
      ...[process.execPath, ...fromSource, main, "--dir", directory],
    ]);
    await expect.poll(() => started.output.stderr).toContain("Listening on");
    expect(started.output.stdout).toBe("");
    const device = await connectService("nnapi-sample_all", { directory, limit: 60_000 });
    if ("unavailable" in device) throw new Error(`${device.unavailable}; ${started.output.stderr}`);
    expect(await addOnce(await prepare(device))).toEqual(added);
    expect(started.output.stdout).toBe(`ready ${directory} nnapi-sample_all\n`);
    device.close();
    started.child.kill("SIGTERM");
    expect(await started.ended).toBe(0);
  });
});
