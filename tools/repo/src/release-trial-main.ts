/**
 * The whole way of a release, on a separate registry on loopback: versions, publishing, installing by name into an empty
 * folder, running; first as this repository does it, then as the author of a backend does it, at last with two versions of our
 * packages side by side. The commit at hand is released, as a clone. Takes some minutes and needs the network: `npm run
 * release-trial`, not a part of the gate.
 */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { optionsOf } from "./arguments.ts";
import { inOrder, runCommand } from "./process.ts";
import { type Registry, startRegistry } from "./registry.ts";
import { exampleOf } from "./scaffolded.ts";
import { buildPackages } from "./steps.ts";
import { publicPackages, readManifest, workspaceRoot as root } from "./workspace.ts";

const folder = mkdtempSync(join(tmpdir(), "nnhal-release-"));
const backend = "nnhal-backend-trial";
const author = "-c user.name=trial -c user.email=trial@example.com".split(" ");
const quiet = ["--no-audit", "--no-fund", "--loglevel=error"];
const { keep: kept = false } = optionsOf(
  `npm run release-trial -- [--keep]

Releases a clone of this commit on a registry on loopback, and installs and runs what was published. Takes minutes, and needs the network.

  --keep  leaves the folder in which it happens`,
  { keep: { type: "boolean" } },
);

/** Runs one step, and prints its duration. Throws an Error with its output if it fails. */
async function step(what: string, work: () => Promise<{ readonly ok: boolean; readonly output: string }>) {
  const started = performance.now();
  const { ok, output } = await work();
  console.log(`${ok ? "ok  " : "FAIL"} ${((performance.now() - started) / 1000).toFixed(1).padStart(6)} s  ${what}`);
  if (!ok) throw new Error(output.trim());
  return output.trim();
}

type Env = Registry["env"];

/** Throws an Error unless pnpm and npm would publish to the registry of the trial. Nothing must get out of this machine. */
async function expectRegistry({ url, env }: Registry, checkout: string): Promise<void> {
  const dryRun = ["-r", "publish", "--dry-run", "--force", "--no-git-checks"];
  const { output } = await runCommand(root, "pnpm", dryRun, checkout, env);
  const targets = [...output.matchAll(/ → (\S+)/g)].map(([, target]) => target);
  const npm = await runCommand(root, "npm", ["config", "get", "registry"], checkout, env);
  const all = [...targets, npm.output.trim().split("\n").at(-1)];
  if (targets.length > 0 && all.every((target) => target === url)) return;
  throw new Error(`packages would go to ${[...new Set(all)].join(", ")} in place of ${url}\n${output}`);
}

/** Releases all packages from the clone. Returns their version. */
async function release(checkout: string, env: Env): Promise<string> {
  const run = (command: string, ...args: string[]) => runCommand(root, command, args, checkout, env);
  await step("changeset version", () => run("changeset", "version"));
  const version = readManifest(join(checkout, "packages/types")).version ?? "";
  await step(`changeset publish: all packages, version ${version}`, () =>
    inOrder([
      () => run("git", "add", "-A"),
      () => run("git", ...author, "commit", "-qm", version),
      () => run("changeset", "publish"),
    ]),
  );
  return version;
}

/** Installs packages by name into an empty folder, and runs the example of the backend there. */
async function use(app: string, packages: readonly string[], env: Env): Promise<void> {
  const at = join(folder, app);
  mkdirSync(at);
  writeFileSync(join(at, "package.json"), JSON.stringify({ private: true, type: "module" }));
  const run = (command: string, ...args: string[]) => runCommand(root, command, args, at, env);
  await step(`${app}: npm install ${packages.join(" ")}`, () => run("npm", "install", ...quiet, ...packages));
  const { code, expected } = exampleOf(readFileSync(join(at, "node_modules", backend, "README.md"), "utf8"));
  writeFileSync(join(at, "example.js"), code);
  const printed = await step(`${app}: the example of ${backend}`, () => run(process.execPath, "example.js"));
  if (printed !== expected) throw new Error(`it prints\n${printed}\nand must print\n${expected}`);
  const kit = ["--backend", backend, "conformance", "--device", "trial", "--suite", "prepared-model"];
  await step(`${app}: the kit on the command line`, () => run(join(at, "node_modules/.bin/nnhal"), ...kit));
}

async function main(): Promise<void> {
  await step("build", () => buildPackages(root));
  const registry = await startRegistry(root, join(folder, "registry"));
  const { env } = registry;
  try {
    const checkout = join(folder, "checkout");
    await step("clone", () => runCommand(root, "git", ["clone", "-q", root, checkout]));
    symlinkSync(join(root, "node_modules"), join(checkout, "node_modules"), "junction");
    for (const { folder: at } of publicPackages(root)) {
      const built = join(root, at, "dist");
      if (existsSync(built)) cpSync(built, join(checkout, at, "dist"), { recursive: true });
    }
    await expectRegistry(registry, checkout);
    const first = await release(checkout, env);

    const own = join(folder, backend);
    await step(`npm create nnhal@latest -- backend ${backend}`, () =>
      runCommand(root, "npm", ["create", "--yes", "nnhal@latest", "--", "backend", backend], folder, env),
    );
    const inOwn = (command: string, ...args: string[]) => runCommand(root, command, args, own, env);
    await step("its npm install", () => inOwn("npm", "install", ...quiet));
    await step("its build, types and test", () =>
      inOrder(["build", "types", "test"].map((script) => () => inOwn("npm", "run", script))),
    );
    await step("its changeset version, in a git repository", () =>
      inOrder([
        () => inOwn("git", "init", "-q", "-b", "main"),
        () => inOwn("git", "add", "-A"),
        () => inOwn("git", ...author, "commit", "-qm", "first"),
        () => inOwn("changeset", "version"),
      ]),
    );
    await step("its npm publish, without provenance", () => inOwn("npm", "publish", "--provenance=false"));

    const ours = ["cli", "conformance", "driver-core", "runtime"];
    await use("app", [backend, ...ours.map((name) => `@nnhal/${name}`)], env);

    // A backend that was made for the first version, with the packages of the next one: npm installs both versions of the
    // packages that they share.
    writeFileSync(join(checkout, ".changeset/next.md"), '---\n"@nnhal/types": major\n---\n\nThe next release.\n');
    const second = await release(checkout, env);
    await use("two-versions", [backend, ...ours.map((name) => `@nnhal/${name}@${second}`)], env);
    const shared = readManifest(join(folder, "two-versions/node_modules/@nnhal/backend")).version;
    if (shared !== first) throw new Error(`${backend} uses @nnhal/backend ${shared} in place of ${first}`);
  } finally {
    await registry.close();
  }
}

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  if (kept) console.log(`kept: ${folder}`);
  else rmSync(folder, { recursive: true, force: true });
}
