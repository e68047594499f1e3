import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import type { OutcomeStore } from "@nnhal/backend";
import { checkForms } from "@nnhal/backend/proof";
import { afterAll, beforeEach, describe, expect, it, vi } from "vitest";
import { defaultStateDirectory, fileOutcomes } from "./file-outcomes.ts";

const root = mkdtempSync(join(tmpdir(), "nnhal-outcomes-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let directory = root;
let count = 0;
beforeEach(() => {
  directory = join(root, String(count++), "state");
});

const key = "engine 1 on processor avx2";
const failures = { fast: "expected 250, got 126" };

/** A store without errors, as `checkForms` sees it. */
const read = (store: OutcomeStore, of = key) => store.read(of).catch(() => undefined);

/** The only file of the directory. */
const file = () => join(directory, readdirSync(directory)[0] ?? "");

describe("defaultStateDirectory", () => {
  it("is that of the environment, else below the home", () => {
    expect(defaultStateDirectory({ XDG_STATE_HOME: "/state" })).toBe(join("/state", "nnhal"));
    for (const XDG_STATE_HOME of [undefined, ""]) {
      expect(defaultStateDirectory({ XDG_STATE_HOME })).toBe(join(homedir(), ".local/state/nnhal"));
    }
  });
});

describe("fileOutcomes", () => {
  it("keeps an outcome for the next process, by its key", async () => {
    await fileOutcomes(directory).write(key, failures);
    await fileOutcomes(directory).write("another", {});
    const store = fileOutcomes(directory);
    expect([await read(store), await read(store, "another"), await read(store, "none")]).toEqual([
      failures,
      {},
      undefined,
    ]);
  });

  it("is empty where there is no directory, and makes one for this user alone", async () => {
    const store = fileOutcomes(directory);
    expect(await read(store)).toBeUndefined();
    await store.write(key, failures);
    expect([statSync(directory).mode & 0o777, statSync(file()).mode & 0o777]).toEqual([0o700, 0o600]);
    expect(readdirSync(directory)).toHaveLength(1);
  });

  it.each([
    ["not JSON", "{"],
    ["of another key", JSON.stringify({ key: "other", failures })],
    ["without failures", JSON.stringify({ key })],
    ["too large", JSON.stringify({ key, failures, more: "x".repeat(65_536) })],
  ])("takes a file that is %s for none, and replaces it", async (_, text) => {
    const store = fileOutcomes(directory);
    await store.write(key, failures);
    writeFileSync(file(), text);
    expect(await read(store)).toBeUndefined();
    await store.write(key, failures);
    expect(await read(store)).toEqual(failures);
  });

  it("drops members that are not texts", async () => {
    const store = fileOutcomes(directory);
    await store.write(key, failures);
    writeFileSync(file(), JSON.stringify({ key, failures: { ...failures, other: 5 } }));
    expect(await read(store)).toEqual(failures);
  });

  it.each([
    ["the directory", () => chmodSync(directory, 0o777)],
    ["the file", () => chmodSync(file(), 0o666)],
  ])("does not trust what others may have written: %s", async (_, open) => {
    const store = fileOutcomes(directory);
    await store.write(key, failures);
    open();
    expect(await read(store)).toBeUndefined();
  });

  it("does not follow a link, nor write through one", async () => {
    const store = fileOutcomes(directory);
    await store.write(key, failures);
    const place = file();
    const target = join(directory, "..", "target.json");
    writeFileSync(target, JSON.stringify({ key, failures: {} }), { mode: 0o600 });
    rmSync(place);
    symlinkSync(target, place);
    expect(await read(store)).toBeUndefined();
    await store.write(key, failures);
    expect([await read(store), statSync(target).size]).toEqual([
      failures,
      JSON.stringify({ key, failures: {} }).length,
    ]);
  });

  it("spares a second self-check, and does not stop one if it cannot be written", async () => {
    const run = vi.fn(() => failures);
    const check = (outcomes: OutcomeStore) =>
      checkForms({
        engine: "engine",
        processor: { name: "processor", identity: "processor avx2" },
        probes: [{ forms: ["fast"], run }],
        outcomes,
      });
    await check(fileOutcomes(directory));
    expect((await check(fileOutcomes(directory))).failures).toEqual(failures);
    expect(run).toHaveBeenCalledTimes(1);
    mkdirSync(join(directory, "..", "other"));
    writeFileSync(join(directory, "..", "other", "file"), "");
    expect((await check(fileOutcomes(join(directory, "..", "other", "file")))).failures).toEqual(failures);
    expect(run).toHaveBeenCalledTimes(2);
  });
});
