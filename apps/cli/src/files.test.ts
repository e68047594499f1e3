import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CommandError } from "./failure.ts";
import { ensureKind, ensureWritable, readUserFile, replaceUserFile, writeChosenFile, writeUserFile } from "./files.ts";

let cwd = "";

// Pipes and devices of these names are those of Unix.
const hasPipes = process.platform !== "win32";

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "nnhal-files-"));
  await writeFile(join(cwd, "file"), "some");
  await mkdir(join(cwd, "folder"));
  await writeFile(join(cwd, "huge"), "");
  await truncate(join(cwd, "huge"), 2 ** 31 + 1);
  if (!hasPipes) return;
  execFileSync("mkfifo", [join(cwd, "pipe")]);
  await symlink("circle", join(cwd, "circle"));
});
afterAll(() => rm(cwd, { recursive: true }));

/** The message of a usage error, or "done". */
async function outcome(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return "done";
  } catch (error) {
    if (!(error instanceof CommandError) || error.exitCode !== 2) throw error;
    return error.message;
  }
}

const onUnix = (...rows: [string, string][]) => (hasPipes ? rows : []);

describe("reading", () => {
  it.each([
    ["file", "done"],
    ["gone", "cannot read the model gone: the file does not exist"],
    ["folder", "the model folder is a folder, not a regular file"],
    [
      "https://example.com/a.tflite",
      "cannot read the model https://example.com/a.tflite: it is an address, and the command line takes paths; download it first",
    ],
    ["file/inside", "cannot read the model file/inside: a part of the path is not a folder"],
    ["huge", "cannot read the model huge: it is larger than 2 GiB"],
    ["a\0b", "cannot read the model a\0b: the name is not valid"],
    ["x".repeat(5000), `cannot read the model ${"x".repeat(5000)}: the name is too long`],
    ...onUnix(
      ["pipe", "the model pipe is a pipe, not a regular file"],
      ["/dev/zero", "the model /dev/zero is a device, not a regular file"],
      ["circle", "cannot read the model circle: its links lead in a circle"],
    ),
  ])("%s ends at once", async (path, message) => {
    expect(await outcome(readUserFile(path, { what: "model", cwd }))).toBe(message);
  });

  it("stops at the most bytes that make sense", async () => {
    const read = (bytes: number) =>
      outcome(readUserFile("file", { what: "input", cwd, most: { bytes, reason: "more than it takes" } }));
    expect(await read(4)).toBe("done");
    expect(await read(3)).toBe("the input file has 4 bytes, more than it takes");
  });
});

describe("writing", () => {
  it.each([
    ["new", "done"],
    ["folder", "cannot write folder: it is a folder"],
    ["gone/new", "cannot write gone/new: there is no such folder"],
    ["file/inside", "cannot write file/inside: a part of the path is not a folder"],
    ...onUnix(
      ["pipe", "cannot write pipe: it is a pipe or socket without a process at its other end"],
      ["/dev/null", "done"],
      ["/dev/full", "cannot write /dev/full: the disk is full"],
    ),
  ])("%s ends at once", async (path, message) => {
    expect(await outcome(writeUserFile(path, "text", cwd))).toBe(message);
    if (path === "new") expect(await readFile(join(cwd, path), "utf8")).toBe("text");
  });

  it.each([
    ["other", "done"],
    ["file", "done"],
    ["folder", "cannot write folder: it is a folder"],
    ["gone/new", "cannot write gone/new: there is no such folder"],
    ["file/inside", "cannot write file/inside: a part of the path is not a folder"],
    ...onUnix(["pipe", "done"]),
  ])("is tried beforehand without writing: %s", async (path, message) => {
    const before = await readdir(cwd);
    expect(await outcome(ensureWritable(path, cwd))).toBe(message);
    expect(await readdir(cwd)).toEqual(before);
  });

  it.runIf(hasPipes)("follows a link that the user names, and none of a name that the program chose", async () => {
    await writeFile(join(cwd, "target"), "another's");
    await symlink("target", join(cwd, "link"));
    expect(await outcome(writeChosenFile("link", "text", cwd))).toBe("cannot write link: it is a symbolic link");
    expect(await readFile(join(cwd, "target"), "utf8")).toBe("another's");
    expect(await outcome(writeChosenFile("target", "text", cwd))).toBe("done");
    expect(await outcome(writeUserFile("link", "new", cwd))).toBe("done");
    expect(await readFile(join(cwd, "target"), "utf8")).toBe("new");
  });

  it.each([
    ["chosen", "done"],
    ["folder", "cannot write folder: it is a folder"],
    ["gone/new", "cannot write gone/new: there is no such folder"],
    ...onUnix(["pipe", "cannot write pipe: it is a pipe or socket without a process at its other end"]),
  ])("of a name that the program chose ends at once: %s", async (path, message) => {
    expect(await outcome(writeChosenFile(path, "text", cwd))).toBe(message);
  });

  it.runIf(hasPipes)("replaces a link, follows none, and leaves no draft", async () => {
    const folder = join(cwd, "replaced");
    await mkdir(folder);
    await writeFile(join(folder, "target"), "another's");
    await symlink("target", join(folder, "state"));
    // The name that drafts once had.
    await symlink("target", join(folder, `state.${process.pid}.part`));
    await replaceUserFile("replaced/state", "mine", cwd);
    expect(await readFile(join(folder, "target"), "utf8")).toBe("another's");
    expect(await readFile(join(folder, "state"), "utf8")).toBe("mine");
    expect(await readdir(folder)).toHaveLength(3);
    await mkdir(join(folder, "taken"));
    expect(await outcome(replaceUserFile("replaced/taken", "mine", cwd))).toBe(
      "cannot write replaced/taken: it is a folder",
    );
    expect(await readdir(folder)).toHaveLength(4);
  });

  it.runIf(hasPipes)("goes through a pipe that a process reads", async () => {
    const reading = readFile(join(cwd, "pipe"), "utf8");
    // The reader must be there first: until then the pipe has no other end.
    let result = "";
    while (result !== "done") result = await outcome(writeUserFile("pipe", "through", cwd));
    expect(await reading).toBe("through");
  });
});

describe("the kind of a path", () => {
  it.each([
    ["file", "done", "done"],
    ["gone", "done", "done"],
    ["folder", "the thing is a folder, not a file", "done"],
    ...(hasPipes ? [["pipe", "the thing is a pipe, not a file", "the thing is a pipe, not a file or folder"]] : []),
  ])("%s", async (path, asFile, asEither) => {
    expect(await outcome(ensureKind(join(cwd, path), "thing", "file"))).toBe(asFile);
    expect(await outcome(ensureKind(join(cwd, path), "thing", "file or folder"))).toBe(asEither);
  });
});
