import { expect, it } from "vitest";
import { readOptions } from "./arguments.ts";

const usage = "npm run trial -- [--keep] [--only TEXT]";
const options = { keep: { type: "boolean" }, only: { type: "string" } } as const;

it("gives the values of options", () => {
  expect(readOptions(usage, options, [])).toEqual({ values: {} });
  expect(readOptions(usage, options, ["--only=node", "--keep"])).toEqual({ values: { only: "node", keep: true } });
});

it("prints the usage for --help", () => {
  for (const arg of ["--help", "-h"])
    expect(readOptions(usage, options, [arg])).toEqual({ printed: usage, exitCode: 0 });
});

it.each([
  ["--onyl=node", "--onyl"],
  ["node", "node"],
  ["--only", "--only"],
  ["--keep=1", "--keep"],
])("refuses %s by its name, and prints the usage", (arg, name) => {
  const { printed, exitCode } = readOptions(usage, options, [arg]);
  expect(exitCode).toBe(2);
  expect(printed?.split("\n")[0]).toContain(name);
  expect(printed).toContain(usage);
});
