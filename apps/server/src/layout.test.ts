import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { findModels, selectedVersions } from "./layout.ts";
import { folderOf, removeFolders } from "./models.test-helper.ts";
import { defaultSettings, settingsOf } from "./settings.ts";

afterAll(removeFolders);

const find = (path: string, name?: string) => findModels(path, defaultSettings, name);

describe("a folder", () => {
  it("has models with versions in the order of their numbers; what is not a version is left out", async () => {
    const folder = folderOf({
      "a/2/model.tflite": "",
      "a/10/other.tflite": "",
      "a/1/model.tflite": "",
      "a/1/second.tflite": "",
      "a/0/model.tflite": "",
      "a/v3/model.tflite": "",
      "a/4/readme.txt": "",
      "a/nnhal.json": '{"instances": 3}',
      ".hidden/1/model.tflite": "",
      "b:c/1/model.tflite": "",
      "d/1/x.tflite": "",
      "d/1/y.tflite": "",
      "e/nnhal.json": "{",
      "e/1/model.tflite": "",
      "notes.txt": "",
    });
    const models = await find(folder);
    const byName = new Map(models.map((model) => [model.name, model]));
    expect([...byName.keys()].sort()).toEqual(["a", "b:c", "d", "e"]);
    expect(byName.get("a")).toMatchObject({
      versions: [
        { version: "1", file: join(folder, "a/1/model.tflite") },
        { version: "2", file: join(folder, "a/2/model.tflite") },
        { version: "10", file: join(folder, "a/10/other.tflite") },
      ],
      settings: { instances: 3, queue: 64 },
      problem: undefined,
    });
    expect(byName.get("b:c")?.problem).toContain("has a colon");
    expect(byName.get("d")?.problem).toContain("no folder of a version");
    expect(byName.get("e")?.problem).toContain("nnhal.json is not JSON");
  });

  it("can be that of one model, and a model can be a file", async () => {
    const folder = folderOf({ "m/1/model.tflite": "", "single/model.tflite": "" });
    expect(await find(join(folder, "m"))).toMatchObject([{ name: "m", versions: [{ version: "1" }] }]);
    expect(await find(join(folder, "single"), "named")).toMatchObject([
      { name: "named", versions: [{ version: "1" }] },
    ]);
    expect(await find(join(folder, "single/model.tflite"))).toMatchObject([{ name: "model" }]);
    await expect(find(join(folder, "none"))).rejects.toThrow("none, which is not there");
  });
});

it("a folder of files has a model of each, unless one of them is model.tflite", async () => {
  const folder = folderOf({ "b.tflite": "", "a.tflite": "", "notes.txt": "", "own/1/x.tflite": "" });
  expect(await find(folder)).toMatchObject([
    { name: "a", versions: [{ version: "1", file: join(folder, "a.tflite") }], problem: undefined },
    { name: "b", versions: [{ version: "1", file: join(folder, "b.tflite") }], problem: undefined },
  ]);
  const single = folderOf({ "model.tflite": "", "older.tflite": "" });
  expect(await find(single, "named")).toMatchObject([
    { name: "named", versions: [{ file: join(single, "model.tflite") }] },
  ]);
});

it.each([
  ["latest", "3"],
  ["latest:2", "2,3"],
  ["latest:9", "1,2,3"],
  ["all", "1,2,3"],
  ["1,3", "1,3"],
  ["7", ""],
])("the policy %s selects %s", (policy, selected) => {
  const versions = ["1", "2", "3"].map((version) => ({ version, file: "" }));
  expect(String(selectedVersions(versions, policy).map(({ version }) => version))).toBe(selected);
});

it("settings that cannot be read make the model unusable; clients are not told where they lie", async () => {
  const folder = folderOf({ "one/1/model.tflite": "", "one/nnhal.json/file": "" });
  const [found] = await findModels(folder, defaultSettings);
  expect(found).toMatchObject({ name: "one", versions: [], problem: expect.stringContaining("EISDIR") });
});

describe("settings of a model", () => {
  it("stand over those of the command line", () => {
    const text = '{"devices": "ort", "maxBatch": 4096, "batchDelay": 0, "queue": 0, "versions": "latest:2"}';
    expect(settingsOf(text, { ...defaultSettings, instances: 5 })).toEqual({
      ...defaultSettings,
      ...{ devices: "ort", maxBatch: 4096, batchDelay: 0, queue: 0, versions: "latest:2", instances: 5 },
    });
  });

  it.each([
    ["[]", "nnhal.json is not an object"],
    ['{"maxBatch": 4097}', "nnhal.json: maxBatch is 4097: it must be an integer from 1 to 4096"],
    ['{"maxBatch": 0}', "nnhal.json: maxBatch is 0"],
    ['{"instances": 1.5}', "nnhal.json: instances is 1.5"],
    ['{"dynamicShapes": 1}', "nnhal.json: dynamicShapes is 1: it must be true or false"],
    ['{"devices": ""}', 'nnhal.json: devices is "": it must be names of devices'],
    ['{"versions": "newest"}', 'nnhal.json: versions is "newest"'],
    ['{"thread": 2}', "nnhal.json: thread is 2: there is no such setting; there are devices, instances, threads"],
    ['{"threads": -1}', "nnhal.json: threads is -1: it must be an integer from 0 to 256"],
  ])("%s is refused", (text, message) => {
    expect(() => settingsOf(text, defaultSettings)).toThrow(message);
  });
});
