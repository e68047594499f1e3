import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runProgram, type Surroundings } from "./program.ts";

let cwd = "";
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "nnhal-create-"));
});
afterEach(() => rmSync(cwd, { recursive: true }));

/** Runs the command line, and returns its output. */
async function run(args: readonly string[], more: Partial<Surroundings> = {}) {
  const out: string[] = [];
  const err: string[] = [];
  const print = (line: string) => out.push(line);
  const complain = (line: string) => err.push(line);
  const exitCode = await runProgram(args, { cwd, print, complain, ...more });
  return { exitCode, out: out.join("\n"), err: err.join("\n") };
}

const filesBelow = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

describe("create-nnhal backend", () => {
  it("writes a package with the name and the device, and says what to do next", async () => {
    const { exitCode, out, err } = await run(["backend", "@acme/nnhal-backend-fast-npu"]);
    expect({ exitCode, err }).toEqual({ exitCode: 0, err: "" });
    const folder = join(cwd, "nnhal-backend-fast-npu");
    expect(out).toContain(`@acme/nnhal-backend-fast-npu: 12 files in ${folder}`);
    expect(out).toContain("\n  cd nnhal-backend-fast-npu\n  npm install\n");
    const texts = filesBelow(folder).map((path) => readFileSync(path, "utf8"));
    expect(texts).toHaveLength(12);
    expect(texts.filter((text) => /__\w+__/.test(text))).toEqual([]);
    expect(JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))).toMatchObject({
      name: "@acme/nnhal-backend-fast-npu",
      peerDependencies: { "@nnhal/backend": expect.stringMatching(/^\^\d+\.\d+\.\d+/) },
    });
    expect(readFileSync(join(folder, "src/index.ts"), "utf8")).toContain('name: "fastnpu"');
    expect(existsSync(join(folder, ".gitignore"))).toBe(true);
  });

  it.each([
    ["-d", "here/there"],
    ["--directory", "here/there"],
  ])("%s chooses the folder", async (option, directory) => {
    expect((await run(["backend", "npu", option, directory])).exitCode).toBe(0);
    expect(existsSync(join(cwd, directory, "package.json"))).toBe(true);
  });

  it("writes into the current folder if that is chosen", async () => {
    const { out } = await run(["backend", "npu", "--directory", "."]);
    expect(out).toContain("\nNext:\n  npm install\n");
    expect(existsSync(join(cwd, "package.json"))).toBe(true);
  });

  it("writes into a folder that has nothing but a git repository", async () => {
    mkdirSync(join(cwd, "npu/.git"), { recursive: true });
    expect((await run(["backend", "npu"])).exitCode).toBe(0);
  });
});

describe("create-nnhal extension", () => {
  const nameIn = (folder: string) =>
    /const name = "(.*)"/.exec(readFileSync(join(cwd, folder, "src/extension.ts"), "utf8"))?.[1];

  it("writes a package with an extension and a backend", async () => {
    expect((await run(["extension", "nnhal-extension-fast-maths"])).exitCode).toBe(0);
    const folder = join(cwd, "nnhal-extension-fast-maths");
    expect(nameIn("nnhal-extension-fast-maths")).toBe("com.example.fast_maths");
    expect(readFileSync(join(folder, "src/backend.ts"), "utf8")).toContain('name: "fastmaths"');
    expect(filesBelow(folder).filter((path) => /__[a-z]+__/.test(readFileSync(path, "utf8")))).toEqual([]);
  });

  it.each([
    ["-e", "org.acme.maths_2"],
    ["--extension-name", "a.b"],
  ])("%s chooses the name of the extension", async (option, name) => {
    expect((await run(["extension", "maths", option, name])).exitCode).toBe(0);
    expect(nameIn("maths")).toBe(name);
  });
});

describe("create-nnhal writes nothing and names the rule", () => {
  const packageRule = /is not a valid name of a package: lower case letters, digits/;
  it.each([
    ["an unknown kind", ["driver", "npu"], /^create-nnhal: "driver" is not one of: backend, extension; see --help$/],
    ["no arguments", [], /^create-nnhal: what to write is missing: backend or extension; see --help$/],
    ["no name", ["backend"], /the name of the package is missing after "backend"; see --help$/],
    ["two names", ["backend", "npu", "gpu"], /unexpected after the name npu: gpu; see --help$/],
    ["an unknown option", ["backend", "npu", "--dir", "x"], /Unknown option '--dir'; see --help$/],
    ["an option without its value", ["backend", "npu", "-d"], /argument missing; see --help$/],
    ["an upper case letter", ["backend", "Npu"], packageRule],
    ["a path", ["backend", "../npu"], packageRule],
    ["a scope alone", ["backend", "@acme/"], packageRule],
    ["two scopes", ["backend", "@acme/x/npu"], packageRule],
    ["a first dot", ["backend", ".npu"], packageRule],
    ["an empty name", ["backend", ""], packageRule],
    ["215 characters", ["backend", "n".repeat(215)], /it has 215 characters, of which 214 are allowed$/],
    ["a name that npm reserves", ["backend", "node_modules"], /npm does not allow it$/],
    [
      "an extension name without a dot",
      ["extension", "x", "-e", "maths"],
      /"maths" is not a valid name of an extension/,
    ],
    ["an extension name of a backend", ["backend", "x", "-e", "a.b"], /a backend has no --extension-name$/],
    [
      "a name without a word of its own",
      ["backend", "@acme/nnhal-backend"],
      /names no device: it needs a word besides/,
    ],
  ])("for %s", async (_, args, message) => {
    const { exitCode, out, err } = await run(args);
    expect({ exitCode, out }).toEqual({ exitCode: 2, out: "" });
    expect(err).toMatch(message);
    expect(readdirSync(cwd)).toEqual([]);
  });

  it("for a folder that is not empty", async () => {
    mkdirSync(join(cwd, "npu"));
    for (const name of ["a", "b", "c", "d"]) writeFileSync(join(cwd, "npu", name), "");
    const { exitCode, err } = await run(["backend", "npu"]);
    expect(exitCode).toBe(2);
    expect(err).toBe(`create-nnhal: the folder ${join(cwd, "npu")} is not empty: it has a, b, c, …`);
    expect(readdirSync(join(cwd, "npu"))).toHaveLength(4);
  });

  it("for a folder that is a file", async () => {
    writeFileSync(join(cwd, "npu"), "");
    expect(await run(["backend", "npu"])).toMatchObject({
      exitCode: 2,
      err: `create-nnhal: ${join(cwd, "npu")} exists and is not a folder`,
    });
  });

  it("but takes a name of 214 characters", async () => {
    expect((await run(["backend", "n".repeat(214), "-d", "long"])).exitCode).toBe(0);
  });
});

describe("create-nnhal inside a workspace", () => {
  const alone = [".changeset", ".github", ".gitignore", "RELEASING.md"];

  it.each([
    ["pnpm-workspace.yaml", "packages:\n  - packages/*\n", "`packages` of pnpm-workspace.yaml", "pnpm install"],
    ["package.json", '{ "workspaces": ["packages/*"] }', '"workspaces" of package.json', "npm install"],
  ])(
    "of %s says how it becomes part of it, and leaves out what the workspace has",
    async (file, text, list, command) => {
      writeFileSync(join(cwd, file), text);
      const { exitCode, out } = await run(["backend", "npu", "-d", "packages/npu"]);
      expect(exitCode).toBe(0);
      expect(out).toContain(`It is inside the workspace at ${cwd}. If the ${list} does not cover packages/npu yet`);
      expect(out).toContain(`  ${command}\n`);
      const found = readdirSync(join(cwd, "packages/npu"));
      expect(found).toContain("package.json");
      expect(found.filter((name) => alone.includes(name))).toEqual([]);
    },
  );

  it.each([
    ["without workspaces", "{}"],
    ["that is not JSON", "{"],
  ])("is not: a package.json %s makes none", async (_, text) => {
    writeFileSync(join(cwd, "package.json"), text);
    const { out } = await run(["backend", "npu"]);
    expect(out).not.toContain("workspace");
    expect(readdirSync(join(cwd, "npu"))).toEqual(expect.arrayContaining(alone));
  });
});

describe("create-nnhal", () => {
  it("asks for kind and name if there are no arguments", async () => {
    const questions: string[] = [];
    const answers = ["backend", "npu"];
    const ask = async (question: string) => {
      questions.push(question);
      return answers.shift() ?? "";
    };
    expect((await run([], { ask })).exitCode).toBe(0);
    expect(questions).toEqual([expect.stringContaining("backend"), expect.stringContaining("Name")]);
    expect(existsSync(join(cwd, "npu/package.json"))).toBe(true);
  });

  it("does not ask if there are arguments", async () => {
    const ask = () => Promise.reject(new Error("asked"));
    expect(await run(["backend"], { ask })).toMatchObject({ exitCode: 2, err: expect.stringContaining("missing") });
  });

  it("ends with one line if the answer cannot be read", async () => {
    const ask = () => Promise.reject(new Error("the input ended before the answer"));
    expect(await run([], { ask })).toEqual({
      exitCode: 1,
      out: "",
      err: "create-nnhal: the input ended before the answer",
    });
  });

  it("prints its help and its version", async () => {
    expect((await run(["--help"])).out).toMatch(/npm create nnhal@latest -- backend NAME/);
    expect((await run(["-h", "backend"])).exitCode).toBe(0);
    expect((await run(["--version"])).out).toMatch(/^\d+\.\d+\.\d+$/);
    expect(await run(["-v"])).toEqual(await run(["--version"]));
  });
});
