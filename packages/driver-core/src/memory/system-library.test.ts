import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { fromSource } from "@nnhal/test-kit/from-source";
import { expect, it } from "vitest";
import { systemLibrary } from "./system-library.ts";

const program = fileURLToPath(new URL("./system-library.test-process.ts", import.meta.url));

it.skipIf(process.platform === "win32")("is found after a look at a socket, if it is found at all", () => {
  const output = execFileSync(process.execPath, [...fromSource, program], { encoding: "utf8" });
  const library = systemLibrary();
  expect(output).toBe(`${"missing" in library ? library.missing : "found"}\n`);
});
