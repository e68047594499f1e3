import { expect, test } from "vitest";
import { inOrder, quoted, runCommand } from "./process.ts";

test.each([
  ["--strict", "--strict"],
  ["C:\\Temp\\a.tgz", "C:\\Temp\\a.tgz"],
  ["C:\\Program Files\\a.tgz", '"C:\\Program Files\\a.tgz"'],
  ["a|b", '"a|b"'],
  ['say "a"', '"say \\"a\\""'],
])("the argument %s is %s for the shell of Windows", (arg, expected) => {
  expect(quoted(arg)).toBe(expected);
});

test("a command gets its arguments as they are, and its output is kept", async () => {
  const code = "console.log(process.argv.slice(1).join('|')); process.exitCode = 3";
  expect(await runCommand(".", process.execPath, ["-e", code, "a b", '"c"'])).toEqual({
    ok: false,
    output: 'a b|"c"\n',
  });
});

test("steps end with the first that fails", async () => {
  const done: number[] = [];
  const step = (index: number, ok: boolean) => async () => {
    done.push(index);
    return { ok, output: `${index}` };
  };
  expect(await inOrder([step(0, true), step(1, false), step(2, true)])).toEqual({ ok: false, output: "1" });
  expect(done).toEqual([0, 1]);
  expect(await inOrder([step(3, true), step(4, true)])).toEqual({ ok: true, output: "4" });
});
