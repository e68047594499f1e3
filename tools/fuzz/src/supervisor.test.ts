import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, expect, it } from "vitest";
import { supervise } from "./supervisor.ts";

const folder = mkdtempSync(join(tmpdir(), "nnhal-fuzz-test-"));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it("finds what throws, blocks, is never answered and ends the process, and goes on behind each", async () => {
  const contents = ["fine", "wrong", "block", "fine", "exit", "silent", "late", "fine"];
  const files = contents.map((content, index) => join(folder, `${index}-${content}`));
  for (const [index, file] of files.entries()) writeFileSync(file, contents[index] ?? "");
  const { findings, executions, reached } = await supervise({
    target: "tflite",
    built: { program: fileURLToPath(new URL("supervisor.test-process.mjs", import.meta.url)), places: [] },
    files,
    seed: 1,
    corpusFolder: folder,
    until: 0,
    cpuLimit: 150,
    memoryLimit: 2 ** 30,
    silenceLimit: 600,
    heapLimit: 256,
    failures: folder,
    onProgress() {},
    onFound() {},
  });
  expect(findings.map(({ kind, file }) => [kind, file])).toEqual([
    ["error", files[1]],
    ["hang", files[2]],
    ["crash", files[4]],
    ["hang", files[5]],
    ["hang", files[6]],
  ]);
  expect(findings.map(({ message }) => message.split("\n")[0])).toEqual([
    "it is wrong",
    expect.stringMatching(/^it has used \d+ ms of processor time, and has not ended$/),
    "the process ended with code 3",
    "there is no answer after 600 ms",
    expect.stringMatching(/^behind its end, by what it left or by the fuzzer itself: it has used \d+ ms/),
  ]);
  expect([executions, [...reached]]).toEqual([8, [7]]);
});
