import { expect, test } from "vitest";
import { eachOf, inOrder, quote, runCommand } from "./process.ts";

test.each([
  ["--strict", "--strict"],
  ["C:\\Temp\\a.tgz", "C:\\Temp\\a.tgz"],
  ["C:\\Program Files\\a.tgz", '"C:\\Program Files\\a.tgz"'],
  ["a|b", '"a|b"'],
  ['say "a"', '"say \\"a\\""'],
])("the argument %s is %s for the shell of Windows", (arg, expected) => {
  expect(quote(arg)).toBe(expected);
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

test("work on several items is done two at a time, in order, and waited for", async () => {
  const events: string[] = [];
  const ends = new Map<number, () => void>();
  const all = eachOf([1, 2, 3], async (item) => {
    events.push(`begin ${item}`);
    await new Promise<void>((resolve) => ends.set(item, resolve));
    events.push(`end ${item}`);
  });
  expect(events).toEqual(["begin 1", "begin 2"]);
  ends.get(2)?.();
  await new Promise(setImmediate);
  expect(events).toEqual(["begin 1", "begin 2", "end 2", "begin 3"]);
  ends.get(1)?.();
  ends.get(3)?.();
  await all;
  expect(events.slice(4).sort()).toEqual(["end 1", "end 3"]);
});

test("a command that does not end in time has failed, whatever its code", async () => {
  const code = "process.on('SIGTERM', () => process.exit(0)); setInterval(() => {}, 1000)";
  expect(await runCommand(".", process.execPath, ["-e", code], ".", {}, 3000)).toEqual({
    ok: false,
    output: `\n${process.execPath} did not end within 3 s\n`,
  });
});
