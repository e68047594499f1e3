/** A daemon whose clients may belong to other users that it was told of, and clients that name its user. Only root can be two users. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, lstatSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { connectService } from "@nnhal/service";
import { fromSource } from "@nnhal/test-kit/from-source";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cleanUp, newFolder, type StartedDaemon, startDaemonProcess, withoutKoffi } from "./process.test-helper.ts";

const isRoot = process.getuid?.() === 0;
const [allowed, stranger] = [65534, 65533];

/** Lists a daemon's devices as a user. */
async function listAs(user: number, directory: string, ...args: string[]) {
  const main = fileURLToPath(new URL("../../cli/src/main.ts", import.meta.url));
  const child = spawn(process.execPath, [...fromSource, main, "devices", "--driver", directory, ...args], {
    ...{ uid: user, gid: user, stdio: ["ignore", "pipe", "pipe"], cwd: "/", env: { PATH: process.env.PATH } },
  });
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (text) => (printed += text));
  await once(child, "close");
  return printed;
}

const remedy = isRoot ? "" : " (skipped: only root can start processes of another user)";
describe.skipIf(!isRoot || process.platform !== "linux")(`a daemon with --allow-user${remedy}`, () => {
  let daemon: StartedDaemon;
  beforeAll(async () => {
    const folder = newFolder();
    chmodSync(folder, 0o755);
    daemon = await startDaemonProcess(["--allow-user", String(allowed)], { directory: join(folder, "run") });
  });
  afterAll(cleanUp);

  it("has a directory that others can open and not change, and sockets that all can connect to", () => {
    expect(lstatSync(daemon.directory).mode & 0o777).toBe(0o755);
    expect(lstatSync(join(daemon.directory, "nnapi-sample_all")).mode & 0o777).toBe(0o666);
  });

  it("serves that user, who names the user of the daemon, and not a third one", async () => {
    const [named, strange] = await Promise.all([
      listAs(allowed, daemon.directory, "--driver-owner", "0"),
      listAs(stranger, daemon.directory, "--driver-owner", "0"),
    ]);
    expect(named).toMatch(/nnapi-sample_all[\s\S]*shared/);
    expect(strange).toContain(`the client belongs to user ${stranger}, not to user 0 or ${allowed}`);
  });

  it("refuses all clients if the system does not say whose they are", async () => {
    const folder = newFolder();
    chmodSync(folder, 0o755);
    const blind = await startDaemonProcess(["--allow-user", String(allowed)], {
      ...{ directory: join(folder, "run"), env: withoutKoffi() },
    });
    expect(await connectService("nnapi-sample_all", { directory: blind.directory, owner: 0 })).toEqual({
      unavailable: expect.stringContaining("the system does not say whose the client is"),
    });
  });
});
