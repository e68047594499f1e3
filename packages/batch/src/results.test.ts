import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openResults } from "./results.ts";
import { digestOf, taskDigest } from "./task.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nnhal-results-"));
});
afterAll(() => rm(folder, { recursive: true }));

const task = taskDigest({ model: digestOf("model"), options: {} });
const input = digestOf("input");

it("keeps a result and the files beside it under their digests", async () => {
  const results = await openResults(folder, task);
  expect([await results.get(input), await results.has(input)]).toEqual([undefined, false]);
  await results.put(input, { result: { top: 1 }, files: [{ ending: ".png", bytes: Uint8Array.of(1, 2) }] });
  expect(await results.get(input)).toEqual({ task, input, result: { top: 1 } });
  expect(results.path(input)).toBe(join(folder, task.slice(0, 16), input.slice(0, 2), `${input}.json`));
  expect([...(await readFile(results.path(input, ".png")))]).toEqual([1, 2]);
  expect(await readdir(join(folder, "unfinished"))).toEqual([]);
});

it("has one result after many writers", async () => {
  const writers = await Promise.all(Array.from({ length: 8 }, () => openResults(folder, task)));
  await Promise.all(writers.map((results) => results.put(digestOf("same"), { result: "x".repeat(1e5), files: [] })));
  expect(await writers[0]?.has(digestOf("same"))).toBe(true);
  expect(await readdir(join(folder, task.slice(0, 16), digestOf("same").slice(0, 2)))).toEqual([
    `${digestOf("same")}.json`,
  ]);
});

it("takes no file for a result that is cut, or of another input", async () => {
  const results = await openResults(folder, task);
  const cut = digestOf("cut");
  await results.put(cut, { result: 1, files: [] });
  const whole = await readFile(results.path(cut), "utf8");
  await writeFile(results.path(cut), whole.slice(0, 40));
  expect(await results.has(cut)).toBe(false);
  await writeFile(results.path(cut), whole.replace(cut, input));
  expect(await results.has(cut)).toBe(false);
});

it("removes what writers that have ended left an hour ago", async () => {
  const [old, fresh] = ["old", "fresh"].map((name) => join(folder, "unfinished", name));
  for (const file of [old, fresh]) await writeFile(file ?? "", "");
  await utimes(old ?? "", 1, 1);
  await openResults(folder, task);
  expect(await readdir(join(folder, "unfinished"))).toEqual(["fresh"]);
});

it("says that a folder cannot be used", async () => {
  await writeFile(join(folder, "file"), "");
  await expect(openResults(join(folder, "file"), task)).rejects.toThrow(/^the folder of results .*file cannot be used/);
});

it("depends on the model and all options, in any order", () => {
  const options = { top: 5, labels: ["a", "b"], mean: undefined };
  const digest = taskDigest({ model: "m", options });
  expect(taskDigest({ model: "m", options: { labels: ["a", "b"], top: 5 } })).toBe(digest);
  for (const other of [
    { ...options, top: 4 },
    { ...options, labels: ["b", "a"] },
    { ...options, mean: [1] },
  ])
    expect(taskDigest({ model: "m", options: other })).not.toBe(digest);
  expect(taskDigest({ model: "n", options })).not.toBe(digest);
});
