import { cpSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Command, Option } from "commander";
import { expect, it } from "vitest";
import { collect, count, parseCommand, port, seconds, userNumber } from "./options.ts";

const parse = (...args: string[]) =>
  parseCommand(
    new Command("counting")
      .option("--times <count>", "", count(2, 10), 2)
      .option("--port <port>", "", port)
      .option("--wait <seconds>", "", seconds)
      .option("--user <user>", "", userNumber)
      .option("--name <name>", "", collect, [])
      .addOption(new Option("--form <form>").choices(["a", "b"]))
      .allowExcessArguments(false),
    args,
    "1.2.3",
  );

it("returns the options of a command line that is right", () => {
  const parsed = parse(
    "--times",
    "10",
    "--port",
    "0",
    "--wait",
    "0.5",
    "--user",
    "4294967294",
    "--name",
    "a",
    "--name",
    "b",
  );
  expect(parsed.kind === "run" && parsed.command.opts()).toEqual({
    times: 10,
    port: 0,
    wait: 0.5,
    user: 4294967294,
    name: ["a", "b"],
  });
});

it("ends with help and the version", () => {
  expect(parse("--help")).toMatchObject({ kind: "end", exitCode: 0, text: expect.stringContaining("Usage: counting") });
  expect(parse("-h")).toEqual(parse("--help"));
  expect(parse("--version")).toEqual({ kind: "end", exitCode: 0, text: "1.2.3\n" });
  expect(parse("-v")).toEqual(parse("--version"));
});

it("reads a command of another copy of commander: a project may have a version of its own", () => {
  const folder = mkdtempSync(join(tmpdir(), "nnhal-commander-"));
  try {
    const copy = join(folder, "node_modules/commander");
    // The path may have links, depending on what has been resolved in this process before; a link would be copied as one, to the same package.
    const original = realpathSync(createRequire(import.meta.url).resolve("commander"));
    cpSync(dirname(original), copy, { recursive: true });
    const foreign: typeof import("commander") = createRequire(join(folder, "index.js"))("commander");
    expect(foreign.Command).not.toBe(Command);
    const command = () => new foreign.Command("foreign").option("--times <count>", "", count(2, 10));
    const read = (...args: string[]) => parseCommand(command(), args, "1.2.3");
    expect(read("-v")).toEqual({ kind: "end", exitCode: 0, text: "1.2.3\n" });
    expect(read("--help")).toMatchObject({ kind: "end", exitCode: 0 });
    expect(read("--other")).toMatchObject({ kind: "end", exitCode: 2 });
    expect(read("--times", "1")).toMatchObject({ kind: "end", exitCode: 2 });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it.each([
  [["--times", "1"], "Expected an integer from 2 to 10; see counting --help"],
  [["--times", "11"], "Expected an integer from 2 to 10; see counting --help"],
  [["--times", "3.5"], "Expected an integer from 2 to 10; see counting --help"],
  [["--port", "65536"], "Expected an integer from 0 to 65535; see counting --help"],
  [["--user", "-1"], "Expected an integer from 0 to 4294967294; see counting --help"],
  [["--user", "4294967295"], "Expected an integer from 0 to 4294967294; see counting --help"],
  [["--wait", "0"], "Expected a number of seconds above 0"],
  [["--wait", "86401"], "of at most a day; see counting --help"],
  // A similar name, which commander writes in a separate line.
  [["--nam", "x"], "counting: unknown option '--nam' (Did you mean --name?); see counting --help\n"],
  [["--wait", ""], "Expected a number of seconds above 0"],
  [["--form", "c"], "Allowed choices are a, b; see counting --help"],
  [["--other"], "counting: unknown option '--other'; see counting --help"],
  [["more"], "too many arguments"],
])("refuses %j", (args, text) => {
  expect(parse(...args)).toEqual({ kind: "end", exitCode: 2, text: expect.stringContaining(text) });
});
