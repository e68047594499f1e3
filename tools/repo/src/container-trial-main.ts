/**
 * The container of docs/daemon.md, built and tried: `npm run container-trial`, not a part of the gate. Needs Linux, root and buildah. Its base
 * image is pulled if a registry is in reach, else an image from scratch gets the Node.js of this machine with its libraries; the packages are
 * those of this checkout, packed and installed by npm. Then the daemon runs in it as an ordinary user without capabilities, and clients outside
 * of it connect.
 */
import { execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { optionsOf } from "./arguments.ts";
import { withTarballs } from "./packed.ts";
import { type CommandResult, runCommand } from "./process.ts";
import { buildPackages } from "./steps.ts";
import { expectThat, statusOf } from "./trial.ts";
import { publicPackages, workspaceRoot as root } from "./workspace.ts";

const user = 1000;
const { base } = optionsOf(
  `npm run container-trial -- [--base IMAGE]

Builds the container of docs/daemon.md, and connects clients to the daemon in it. Needs Linux, root and buildah.

  --base IMAGE  its base image (default: docker.io/library/node:22-slim)`,
  { base: { type: "string", default: "docker.io/library/node:22-slim" } },
);
const folder = mkdtempSync(join(tmpdir(), "nnhal-container-"));
const runtime = join(folder, "run");
/** Where the packages are in the image, and outside of it for clients. */
const installed = "/opt/nnhal";
const daemon = `${installed}/node_modules/@nnhal/sample-driver/dist/main.js`;

/** Does a part, and says so. Throws if it fails. */
async function step(name: string, work: () => Promise<CommandResult>): Promise<string> {
  const { ok, output } = await work();
  console.log(`${ok ? "ok   " : "FAILED"} ${name}`);
  if (!ok) throw new Error(output);
  return output.trim();
}

const buildah = (...args: string[]) => runCommand(root, "buildah", args);

/** Node.js of this machine with the libraries that it is linked with, as a file system. */
function nodeOfThisMachine(): string {
  const system = join(folder, "system");
  const libraries = execFileSync("ldd", [process.execPath], { encoding: "utf8" }).match(/\/\S+/g) ?? [];
  for (const file of libraries) {
    mkdirSync(join(system, dirname(file)), { recursive: true });
    cpSync(file, join(system, file), { dereference: true });
  }
  for (const path of ["usr/bin", "etc", "tmp", "run"]) mkdirSync(join(system, path), { recursive: true });
  cpSync(process.execPath, join(system, "usr/bin/node"));
  writeFileSync(join(system, "etc/passwd"), `node:x:${user}:${user}::/tmp:/usr/bin/node\n`);
  return system;
}

/** A client outside of the container that adds two vectors on its device. */
const client = `
import { connectService } from "@nnhal/service";
import { mapPool } from "@nnhal/driver-core/memory";
const device = await connectService("nnapi-sample_all", { directory: process.argv[2] });
if ("unavailable" in device) throw new Error(device.unavailable);
const operand = (type, lifetime, more = {}) => ({ type, dimensions: [2], numberOfConsumers: 1, scale: 0, zeroPoint: 0, lifetime,
  location: { poolIndex: 0, offset: 0, length: 0 }, extraParams: { kind: "none" }, ...more });
const { OperandLifeTime: life, OperandType: type, OperationType } = await import("@nnhal/types");
const zero = operand(type.INT32, life.CONSTANT_COPY, { dimensions: [], location: { poolIndex: 0, offset: 0, length: 4 } });
const operands = [operand(type.TENSOR_FLOAT32, life.SUBGRAPH_INPUT), operand(type.TENSOR_FLOAT32, life.SUBGRAPH_INPUT), zero,
  operand(type.TENSOR_FLOAT32, life.SUBGRAPH_OUTPUT, { numberOfConsumers: 0 })];
const main = { operands, operations: [{ type: OperationType.ADD, inputs: [0, 1, 2], outputs: [3] }], inputIndexes: [0, 1], outputIndexes: [3] };
const { preparedModel, message } = await device.prepareModel({ main, referenced: [], operandValues: new Uint8Array(4), pools: [],
  relaxComputationFloat32toFloat16: false, extensionNameToPrefix: [] });
if (preparedModel === null) throw new Error(message);
const memory = device.createMemory(24);
const { bytes } = mapPool(memory);
const values = new Float32Array(bytes.buffer, bytes.byteOffset, 6);
values.set([1, 2, 3, 4, 0, 0]);
const argument = (offset) => ({ hasNoValue: false, location: { poolIndex: 0, offset, length: 8 }, dimensions: [] });
const result = await preparedModel.execute({ inputs: [argument(0), argument(8)], outputs: [argument(16)], pools: [{ kind: "memory", memory }] });
console.log(device.memoryWay.kind, result.status, values[4], values[5]);
device.close();
`;

/** Runs the client as a user. Returns its output, or why it fails. */
function asUser(id: number): Promise<CommandResult> {
  const child = spawn(process.execPath, ["client.mjs", runtime], {
    cwd: join(folder, "image"),
    uid: id,
    gid: id,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (output += text));
  return new Promise((resolve) => child.once("exit", (code) => resolve({ ok: code === 0, output })));
}

/** Returns the process of the daemon: the command that buildah has started in the container, below buildah's own processes. */
function daemonBelow(parent: number | undefined): string {
  const isBelow = (pid: string): boolean => {
    const above = statusOf(pid, "PPid") ?? "0";
    return above === String(parent) || (above !== "0" && isBelow(above));
  };
  const found = readdirSync("/proc").find((pid) => {
    try {
      const [program = "", script] = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
      return program.endsWith("node") && script === daemon && isBelow(pid);
    } catch {
      // A process that has ended meanwhile, or another entry.
      return false;
    }
  });
  if (found === undefined) throw new Error("the daemon is not among the processes");
  return found;
}

const uidOf = (pid: string) => Number(statusOf(pid, "Uid"));

async function tryContainer(container: string): Promise<void> {
  mkdirSync(runtime);
  chownSync(runtime, user, user);
  chmodSync(runtime, 0o700);
  const inside = ["/usr/bin/env", "node", daemon, "--dir", "/run/nnhal", "--devices", "nnapi-sample_all"];
  if (isScratch) inside.splice(0, 2, "/usr/bin/node");
  const options = [
    "--isolation",
    "chroot",
    "--cap-drop",
    "ALL",
    "--user",
    String(user),
    "--volume",
    `${runtime}:/run/nnhal`,
  ];
  const running = spawn("buildah", ["run", ...options, container, "--", ...inside], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<number | null>((resolve) => running.once("exit", resolve));
  const ready = await Promise.race([
    new Promise<string>((resolve) => running.stdout.setEncoding("utf8").once("data", resolve)),
    ended.then((code) => `it has ended with ${code}`),
  ]);
  expectThat(ready === "ready /run/nnhal nnapi-sample_all\n", `the daemon says ${JSON.stringify(ready)}`);
  const pid = daemonBelow(running.pid);
  // A check that fails leaves no daemon behind.
  process.once("exit", () => running.exitCode === null && process.kill(Number(pid), "SIGKILL"));
  expectThat(/^0+$/.test(statusOf(pid, "CapEff") ?? ""), `it runs as user ${uidOf(pid)}, without capabilities`);
  const own = await asUser(user);
  expectThat(
    own.output === "shared 0 4 6\n",
    `a client of user ${user} outside shares memory and gets its result: ${own.output.trim()}`,
  );
  const other = await asUser(user + 1);
  const refusal = /Error: .*/.exec(other.output)?.[0] ?? other.output;
  expectThat(
    !other.ok && refusal.includes("this user is not allowed"),
    `a client of user ${user + 1} is refused: ${refusal}`,
  );
  process.kill(Number(pid), "SIGTERM");
  expectThat((await ended) === 0, "it ends with 0 after SIGTERM");
  expectThat(readdirSync(runtime).length === 0, "its sockets are removed");
}

let isScratch = false;
let container = "";
try {
  chmodSync(folder, 0o755);
  await step("build", () => buildPackages(root));
  await step("npm install of the packages of this checkout, and koffi", () =>
    withTarballs(root, publicPackages(root), async (tarballs) => {
      const image = join(folder, "image");
      mkdirSync(image);
      writeFileSync(join(image, "package.json"), '{ "private": true, "type": "module" }\n');
      writeFileSync(join(image, "client.mjs"), client);
      const own = [...tarballs].filter(
        ([one]) => !one.manifest.name.includes("backend-") || one.manifest.name.endsWith("-reference"),
      );
      const options = ["--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"];
      return runCommand(root, "npm", ["install", ...options, ...own.map(([, file]) => file), "koffi"], image);
    }),
  );
  const pulled = await buildah("from", "--quiet", base ?? "");
  isScratch = !pulled.ok;
  container = await step(
    pulled.ok ? `the image ${base}` : `${base} is not in reach: an image from scratch`,
    async () => (pulled.ok ? pulled : buildah("from", "scratch")),
  );
  if (isScratch)
    await step("Node.js of this machine", () => buildah("copy", "--quiet", container, nodeOfThisMachine(), "/"));
  await step("the packages", () => buildah("copy", "--quiet", container, join(folder, "image"), installed));
  await tryContainer(container);
} finally {
  if (container !== "") await buildah("rm", container);
  rmSync(folder, { recursive: true, force: true });
}
