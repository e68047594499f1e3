/**
 * docs/trying-an-operation.md, followed to the letter: its files in a folder, and its commands.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fromSource } from "@nnhal/test-kit/from-source";
import { afterAll, beforeAll, expect, it } from "vitest";
import { knownEngines } from "../engines.ts";
import { runCommandLine } from "../program.test-helper.ts";

const root = join(import.meta.dirname, "../../../..");
const guide = readFileSync(join(root, "docs/trying-an-operation.md"), "utf8");
// Beside this package, so that what it depends on is found from there.
const folder = join(root, `apps/cli/.example-${process.pid}-trying-an-operation`);
const files = [...guide.matchAll(/^`([\w.-]+)`:\n\n```js\n([\s\S]*?)^```$/gm)];
const commands = /^```sh\n([\s\S]*?)^```$/m.exec(guide)?.[1]?.trim().split("\n") ?? [];

beforeAll(() => {
  mkdirSync(folder);
  for (const [, name = "", content = ""] of files) writeFileSync(join(folder, name), content);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it("docs/trying-an-operation.md runs an operation of its own", { timeout: 120_000 }, async () => {
  expect(files.map(([, name]) => name)).toEqual(["scale.mjs", "write-model.mjs"]);
  const [write = "", echo = "", ...others] = commands;
  const [node, ...args] = write.split(" ");
  expect(node).toBe("node");
  const written = spawnSync(process.execPath, [...fromSource, ...args], { cwd: folder, encoding: "utf8" });
  expect(written).toMatchObject({ status: 0, stderr: "" });
  const [, numbers = "", name = ""] = /^echo "(.*)" > (\S+)$/.exec(echo) ?? [];
  writeFileSync(join(folder, name), numbers);
  const outcomes = [];
  for (const line of others) {
    const [, rest = ""] = /^npx nnhal (.*)$/.exec(line) ?? [];
    outcomes.push(await runCommandLine(rest.split(" "), { cwd: folder, engines: knownEngines.slice(0, 1) }));
  }
  const [run, explain] = outcomes;
  expect(run).toMatchObject({ stderr: "", exitCode: 0 });
  const said = /The first prints `(.*?)`/.exec(guide)?.[1];
  expect(run?.stdout.split("\n")).toContain(said);
  expect(explain).toMatchObject({
    stderr: "",
    exitCode: 0,
    stdout: expect.stringMatching(/SCALE[\s\S]*nnhal-reference/),
  });
});
