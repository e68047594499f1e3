/**
 * The units of docs/daemon.md under a user's systemd: `npm run systemd-trial`, not a part of the gate. Needs Linux, root,
 * systemd and unshare; the machine need not have been started by systemd. A manager for a user runs in a new mount namespace,
 * whose /run is empty and whose /usr/local/bin has the daemon of this checkout. A client connects to its socket, and the daemon
 * is killed, stopped and started again.
 */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { optionsOf } from "./arguments.ts";
import { expectThat, statusOf } from "./trial.ts";
import { workspaceRoot as root } from "./workspace.ts";

const runtime = "/run/user/0";
const sources = join(root, "tools/launcher/src/sources.mjs");

const run = (program: string, ...args: string[]) => execFileSync(program, args, { encoding: "utf8" });
const systemctl = (...args: string[]) => run("systemctl", "--user", "--no-pager", ...args);
const property = (name: string) => systemctl("show", "-P", name, "nnhal.service").trim();

/** Waits for something, at most 10 seconds. Returns whether it came. */
async function comes(isThere: () => boolean): Promise<boolean> {
  for (let tries = 0; tries < 200; tries++) {
    if (isThere()) return true;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return false;
}

/** Lets a network read a digit on the service. Returns the device and the digit. */
function readDigit(): string {
  const demo = join(root, "apps/cli/demo");
  const args = ["run", join(demo, "digits-uint8.tflite"), "--input", join(demo, "8-marker.png"), "--json"];
  const main = join(root, "apps/cli/src/main.ts");
  const text = run(process.execPath, "--import", sources, main, ...args, "--driver", "nnapi-sample_all");
  // The command line prints an object with these.
  const { device, top } = JSON.parse(text) as { device: string; top: { index: number }[] };
  return `${device} ${top[0]?.index}`;
}

function mountFolders(folder: string): void {
  run("mount", "-t", "tmpfs", "tmpfs", "/run");
  // Its presence says that systemd has started the machine, without which a manager for users does not start.
  for (const path of ["/run/systemd/system", runtime]) mkdirSync(path, { recursive: true });
  chmodSync(runtime, 0o700);
  const programs = join(folder, "bin");
  mkdirSync(programs);
  const main = join(root, "apps/sample-driver/src/main.ts");
  const program = `#!/bin/sh\nexec '${process.execPath}' --import '${sources}' '${main}' "$@"\n`;
  writeFileSync(join(programs, "nnhal-sample-driver"), program, { mode: 0o755 });
  run("mount", "--bind", programs, "/usr/local/bin");
}

function writeUnits(home: string): void {
  const units = join(home, ".config/systemd/user");
  mkdirSync(units, { recursive: true });
  const document = readFileSync(join(root, "docs/daemon.md"), "utf8");
  for (const [, name = "", text = ""] of document.matchAll(/```ini\n# (\S+)\n([\s\S]*?)```/g)) {
    writeFileSync(join(units, name), text);
  }
}

async function inside(folder: string): Promise<void> {
  mountFolders(folder);
  writeUnits(folder);
  Object.assign(process.env, {
    HOME: folder,
    XDG_RUNTIME_DIR: runtime,
    DBUS_SESSION_BUS_ADDRESS: `unix:path=${runtime}/bus`,
  });
  const manager = spawn("/usr/lib/systemd/systemd", ["--user"], { stdio: "ignore" });
  try {
    expectThat(await comes(() => existsSync(join(runtime, "systemd/private"))), "a user's systemd runs");
    systemctl("start", "nnhal.socket");
    expectThat(property("ActiveState") === "inactive", "the socket is there, and the daemon does not run");
    expectThat(readDigit() === "nnapi-sample_all 8", "a client starts it, and gets its result");
    const pid = property("MainPID");
    const isBound = statusOf(pid, "NoNewPrivs") === "1" && statusOf(pid, "Seccomp") === "2";
    expectThat(
      property("ActiveState") === "active" && isBound,
      "it is ready, without new privileges, with a filter of system calls",
    );
    process.kill(Number(pid), "SIGKILL");
    for (let tries = 0; tries < 100 && property("NRestarts") === "0"; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const isAgain = () => property("NRestarts") === "1" && property("ActiveState") === "active";
    expectThat(await comes(isAgain), "it is started again after SIGKILL");
    expectThat(readDigit() === "nnapi-sample_all 8", "and serves clients");
    systemctl("stop", "nnhal.service");
    const hasEnded = property("ActiveState") === "inactive" && property("Result") === "success";
    expectThat(hasEnded, "it ends in order when it is stopped");
    expectThat(readDigit() === "nnapi-sample_all 8", "the next client starts it again");
    systemctl("stop", "nnhal.socket", "nnhal.service");
  } finally {
    manager.kill();
    await new Promise((resolve) => manager.once("exit", resolve));
  }
}

const { inside: folder } = optionsOf(
  `npm run systemd-trial

Starts the daemon by the units of docs/daemon.md under a user's systemd. Needs Linux, root, systemd and unshare.

  --inside FOLDER  is for the process in the namespace, which the trial starts itself`,
  { inside: { type: "string" } },
);
if (folder === undefined) {
  const made = mkdtempSync(join(tmpdir(), "nnhal-systemd-"));
  const self = [...process.execArgv, fileURLToPath(import.meta.url), "--inside", made];
  const { status } = spawnSync("unshare", ["--mount", "--propagation", "private", process.execPath, ...self], {
    stdio: "inherit",
  });
  rmSync(made, { recursive: true, force: true });
  process.exitCode = status ?? 1;
} else await inside(folder);
