import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { main, needsSources, root, userFolder } from "./main.mjs";

describe("userFolder", () => {
  const elsewhere = tmpdir();

  test("is where the user was when npm started the script", () => {
    expect(userFolder(root, { npm_lifecycle_event: "nnhal", INIT_CWD: elsewhere })).toBe(elsewhere);
  });

  test("is the current folder without npm, even if a script further out was npm's", () => {
    expect(userFolder(root, { INIT_CWD: elsewhere })).toBe(root);
    const inside = join(root, "apps");
    expect(userFolder(inside, { npm_lifecycle_event: "other", INIT_CWD: elsewhere })).toBe(inside);
  });

  test("is the current folder where npm does not say", () => {
    expect(userFolder(root, { npm_lifecycle_event: "nnhal" })).toBe(root);
  });
});

describe("main", () => {
  afterEach(() => vi.restoreAllMocks());

  test.each(["", "toString", "instal"])("refuses the command %j and names those there are", async (name) => {
    const error = vi.spyOn(console, "error").mockReturnValue();
    expect(await main([name])).toBe(2);
    expect(error.mock.calls).toEqual([
      [
        `nnhal: "${name}" is not a command of this script. There are: start, nnhal, setup, generate, api, fuzz, hostile, mutants, processors, differences, ok, test.`,
      ],
    ]);
  });
});

describe("needsSources", () => {
  test.each([
    [["devices", "--backend", "./mine.ts"], true],
    [["--extension=./mine.ts", "devices"], true],
    [["run", "backend", "--extensions"], false],
    [[], false],
  ])("of %j is %j", (args, expected) => {
    expect(needsSources(args)).toBe(expected);
  });
});
