import { mkdir } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { addingModel, passingModel, referenceEngine, useFolder } from "../program.test-helper.ts";

const { run, put, path } = useFolder();

const ascii = (content: string) => Uint8Array.from(content, (character) => character.charCodeAt(0));

async function line(...args: readonly string[]): Promise<string> {
  const { stderr, exitCode } = await run(args);
  expect(exitCode).toBe(2);
  return stderr;
}

describe("files that are not what they are given for", () => {
  it("are named in place of a model, by every command that takes one", async () => {
    await put("cat.jpg", Uint8Array.of(0xff, 0xd8, 0xff, 0xe0, 0, 0, 0, 0));
    for (const command of ["info", "explain", "validate", "graph", "bench"]) {
      expect(await line(command, "cat.jpg")).toBe(
        `nnhal ${command}: the model cat.jpg cannot be used: it is a JPEG picture\n`,
      );
    }
    expect(await line("run", "cat.jpg", "--random", "1")).toContain("it is a JPEG picture");
  });

  it("are folders with models in them, or TensorFlow's", async () => {
    await mkdir(path("saved/variables"), { recursive: true });
    await put("saved/saved_model.pb", "");
    await mkdir(path("models"));
    expect(await line("info", "models")).toBe("nnhal info: the model models is a folder, not a regular file\n");
    for (const name of ["f", "a", "b", "c", "d", "e"]) await put(`models/${name}.tflite`, addingModel());
    expect(await line("info", "saved")).toBe(
      "nnhal info: the model saved is TensorFlow's SavedModel, a folder; convert it to .tflite\n",
    );
    expect((await line("run", "models", "--random", "1")).replaceAll("\\", "/")).toContain(
      "the model models is a folder; in it: models/a.tflite, models/b.tflite, models/c.tflite, models/d.tflite, models/e.tflite, and 1 more\n",
    );
  });

  it("are named in place of an input and of labels", async () => {
    await put("model.tflite", passingModel({ shape: [1, 3] }));
    await put("archive.zip", ascii(`PK\x03\x04${"\0".repeat(40)}`));
    await put("three.txt", "1 2 3");
    expect(await line("run", "model.tflite", "archive.zip")).toContain(
      "the input archive.zip is a zip archive; it is not a PNG, JPEG, WebP, GIF or BMP picture, a .npy or WAV file",
    );
    expect(await line("run", "model.tflite", "model.tflite")).toContain(
      "the input model.tflite is a .tflite model; it",
    );
    expect(await line("run", "model.tflite", "three.txt", "--labels", "archive.zip")).toContain(
      "the label file archive.zip is a zip archive, not a text in UTF-8 with one label a line",
    );
  });
});

describe("words in place of a command", () => {
  it("are models to run, or mistyped", async () => {
    expect(await line("my model.tflite", "cat.png")).toBe(
      "nnhal: there is no command my model.tflite; nnhal run 'my model.tflite' runs the model\n",
    );
    expect(await line("rnu")).toBe("nnhal: unknown command 'rnu' (Did you mean run?); see nnhal --help\n");
  });
});

describe("a device that there is not", () => {
  it("is answered with those whose packages are installed", async () => {
    await put("model.tflite", passingModel({ shape: [1, 3] }));
    const gone = Object.assign(new Error("Cannot find package '@x/far' imported from /dist/chunk-1.js"), {
      code: "ERR_MODULE_NOT_FOUND",
    });
    const absent = { device: "far", module: "@x/far", load: () => Promise.reject(gone) };
    const broken = {
      device: "broken",
      module: "@x/broken",
      load: () => Promise.reject(Object.assign(new Error(gone.message), { code: gone.code })),
    };
    const engines = [referenceEngine, absent, broken];
    const random = ["run", "model.tflite", "--random", "1", "--device"];
    expect(await run([...random, "near"], { engines })).toMatchObject({
      exitCode: 2,
      stderr: 'nnhal run: there is no device "near"; there are: nnhal-reference, broken\n',
    });
    expect(await run([...random, "broken"], { engines })).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/loading @x\/broken failed: Cannot find package '@x\/far'\n$/),
    });
    expect((await run([...random, "far"], { engines })).stderr).toContain(
      "device far cannot work here: @x/far is not installed; npm install @x/far",
    );
  });
});
