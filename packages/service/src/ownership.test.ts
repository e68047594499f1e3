/** A client says nothing to a service of another user: forged directories and sockets, and what an explicit owner makes possible. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { connectService } from "./connect.ts";
import { findServices } from "./find.ts";

/** A user who is not the one of this process. */
const other = 65534;
const me = process.getuid?.();
const isRoot = me === 0;
const rootRemedy = isRoot ? "" : " (skipped: only root can make files of another user)";

let folder: string;
let directory: string;
/** Bytes that a forged service of this process has received. */
let told: Buffer[];
const servers: Server[] = [];
const children: ChildProcess[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "nnhal-owner-"));
  chmodSync(folder, 0o755);
  directory = join(folder, "run");
  mkdirSync(directory, { mode: 0o700 });
  told = [];
});
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
  for (const child of children.splice(0)) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

/** Listens as a service that says nothing, and ends the connection after the first bytes. */
async function forge(name = "device"): Promise<void> {
  const server = createServer((socket) => {
    socket
      .on("error", () => {})
      .on("data", (data) => {
        told.push(data);
        socket.destroy();
      });
  });
  servers.push(server);
  server.listen(join(directory, name));
  await once(server, "listening");
}

/** The same in a process of another user, which prints how many bytes it was told. */
async function forgeAsOther(): Promise<() => string> {
  const script = `require("node:net").createServer((socket) => {
    socket.on("error", () => {}).on("data", (data) => { console.log("told", data.length); socket.destroy(); });
  }).listen(process.argv[1], () => console.log("ready"))`;
  chmodSync(directory, 0o777);
  const child = spawn(process.execPath, ["-e", script, join(directory, "device")], {
    ...{ uid: other, gid: other, stdio: ["ignore", "pipe", "ignore"], env: {}, cwd: "/" },
  });
  children.push(child);
  let printed = "";
  child.stdout?.on("data", (text) => (printed += text));
  while (!printed.includes("ready") && child.exitCode === null) await once(child.stdout ?? child, "data");
  return () => printed;
}

const connect = (owner?: number) => connectService("device", { directory, owner, limit: 2000 });
const refuse = (why: string) => ({ unavailable: `connecting to device in ${directory}: ${why}` });

describe.skipIf(me === undefined)("a client", () => {
  it("greets a service of its own user", async () => {
    await forge();
    expect(await findServices(directory, "/")).toEqual({ directory, names: ["device"] });
    expect(await connect()).toMatchObject({ unavailable: expect.stringContaining("connecting to device") });
    expect(told).toHaveLength(1);
  });

  it.each([0o750, 0o705, 0o777])("refuses a directory that others can open: mode %o", async (mode) => {
    await forge();
    chmodSync(directory, mode);
    const why = `the runtime directory ${directory} has mode 0${mode.toString(8)}: others can open it; expected 0700`;
    expect(await connect()).toEqual(refuse(why));
    expect(await findServices(directory, "/")).toEqual({ none: why });
    expect(await findServices(join(directory, "device"), "/")).toEqual({ none: why });
    expect(told).toEqual([]);
  });

  it("refuses a directory and a socket that are symbolic links", async () => {
    await forge("real");
    symlinkSync(join(directory, "real"), join(directory, "device"));
    expect(await connect()).toEqual(refuse(`${directory}/device is a symbolic link`));
    const real = directory;
    directory = join(folder, "link");
    symlinkSync(real, directory);
    const why = `the runtime directory ${directory} is a symbolic link`;
    expect(await connectService("real", { directory })).toEqual({
      unavailable: `connecting to real in ${directory}: ${why}`,
    });
    expect(await findServices(directory, "/")).toEqual({ none: why });
    expect(told).toEqual([]);
  });

  it.each([
    [0o755, undefined],
    [0o775, "has mode 0775: others can change it; expected 0755 or less"],
    [0o757, "has mode 0757: others can change it; expected 0755 or less"],
  ])("takes a directory of the owner that is named if others cannot change it: mode %o", async (mode, problem) => {
    await forge();
    chmodSync(directory, mode);
    const found = await connect(me);
    if (problem !== undefined) expect(found).toEqual(refuse(`the runtime directory ${directory} ${problem}`));
    expect(told).toHaveLength(problem === undefined ? 1 : 0);
  });

  describe.skipIf(!isRoot)(`beside another user${rootRemedy}`, () => {
    it.each([0o755, 0o700])("refuses that user's directory, also as root: mode %o", async (mode) => {
      await forge();
      chmodSync(directory, mode);
      chownSync(directory, other, other);
      const why =
        `the runtime directory ${directory} belongs to user ${other}, not to user ${me}; ` +
        `to use a daemon of user ${other}, name that user as its owner (--driver-owner ${other})`;
      expect(await connect()).toEqual(refuse(why));
      expect(await findServices(directory, "/")).toEqual({ none: why });
      expect(told).toEqual([]);
    });

    it("refuses that user's socket in its own directory", async () => {
      await forge();
      chownSync(join(directory, "device"), other, other);
      expect(await connect()).toEqual(
        refuse(`the socket ${directory}/device belongs to user ${other}, not to user ${me}`),
      );
      expect(told).toEqual([]);
    });

    it.skipIf(process.platform !== "linux")("refuses that user's process behind a socket of its own", async () => {
      const printed = await forgeAsOther();
      chmodSync(directory, 0o700);
      chownSync(join(directory, "device"), 0, 0);
      expect(await connect()).toEqual(refuse(`its process belongs to user ${other}, not to user ${me}`));
      expect(printed()).toBe("ready\n");
    });

    it("uses that user's service if it is named as the owner, and no third one's", async () => {
      const printed = await forgeAsOther();
      chownSync(directory, other, other);
      chmodSync(directory, 0o755);
      expect(await connect(other - 1)).toMatchObject({
        unavailable: expect.stringContaining(`belongs to user ${other}, not to user ${other - 1}`),
      });
      expect(await findServices(directory, "/", other)).toEqual({ directory, names: ["device"] });
      expect(printed()).toBe("ready\n");
      expect(await connect(other)).toMatchObject({ unavailable: expect.not.stringContaining("belongs") });
      await expect.poll(printed).toMatch(/^ready\ntold \d+\n/);
    });

    it("looks at each connection anew", async () => {
      await forge();
      const before = await connect();
      expect(before).toMatchObject({ unavailable: expect.not.stringContaining("belongs") });
      renameSync(directory, `${directory}-old`);
      mkdirSync(directory, { mode: 0o700 });
      chownSync(directory, other, other);
      expect(await connect()).toMatchObject({ unavailable: expect.stringContaining(`belongs to user ${other}`) });
    });
  });
});
