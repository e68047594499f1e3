import { mkdir, mkdtemp, open, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { TfliteExternal } from "@nnhal/tflite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type LoadOptions, load } from "./load.ts";
import { modelToken } from "./model-token.ts";
import { modelOf, tensor } from "./models.test-helper.ts";
import { portHere } from "./port.test-helper.ts";
import type { Source } from "./read.ts";

const group = "weights.bin";
/** Two floats at byte 64, and two more at byte 128. */
const weights = new Uint8Array(160);
new Float32Array(weights.buffer, 64, 2).set([3, 4]);
new Float32Array(weights.buffer, 128, 2).set([50, 60]);

/** A model that adds the constants at these places of other files to its input. */
function addingModel(...places: readonly Partial<TfliteExternal>[]): Uint8Array {
  const given = places.length === 0 ? [{}] : places;
  const external = given.map((place, i) =>
    tensor(`w${i}`, { shape: [2], external: { group, offset: 64, length: 8, ...place } }),
  );
  const sums = given.map((_, i) => tensor(`s${i}`, { shape: [2] }));
  const count = given.length;
  return modelOf({
    tensors: [tensor("x", { shape: [2] }), ...external, ...sums],
    inputs: [0],
    outputs: [2 * count],
    operators: given.map((_, i) => ({
      name: "ADD",
      version: 1,
      inputs: [i === 0 ? 0 : count + i, 1 + i],
      outputs: [1 + count + i],
      options: { fusedActivationFunction: "NONE" },
    })),
  });
}

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nnhal-outside-"));
  await mkdir(join(folder, "models", "parts"), { recursive: true });
  await writeFile(join(folder, "models", "model.tflite"), addingModel());
  await writeFile(join(folder, "models", group), weights);
  await writeFile(join(folder, "models", "parts", group), weights);
  await writeFile(join(folder, "secret"), weights);
  await symlink("../secret", join(folder, "models", "link"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function sumOf(source: Source, options: LoadOptions = {}): Promise<readonly number[]> {
  const model = await load(source, { devices: "reference", ...options });
  try {
    const { output } = await model.run([1, 2]);
    return Array.from(output.data, Number);
  } finally {
    await model.close();
  }
}

/** A model in the folder, in a file of its own. */
async function fileOf(bytes: Uint8Array, name = "other.tflite"): Promise<string> {
  const path = join(folder, "models", name);
  await writeFile(path, bytes);
  return path;
}

describe("external buffers", () => {
  test("are read beside a model with a path or a file URL, and below its folder", async () => {
    const path = join(folder, "models", "model.tflite");
    expect(await sumOf(path)).toEqual([4, 6]);
    expect(await sumOf(pathToFileURL(path))).toEqual([4, 6]);
    expect(await sumOf(pathToFileURL(path).href)).toEqual([4, 6]);
    expect(await sumOf(path, { worker: () => portHere().port })).toEqual([4, 6]);
    const both = await fileOf(addingModel({}, { group: `parts/${group}`, offset: 128 }));
    expect(await sumOf(both)).toEqual([54, 66]);
  });

  test("are given as bytes, a Blob, a path or a URL", async () => {
    const given: readonly Source[] = [
      weights,
      weights.buffer,
      new Blob([weights]),
      join(folder, "secret"),
      pathToFileURL(join(folder, "secret")),
      `data:application/octet-stream;base64,${Buffer.from(weights).toString("base64")}`,
    ];
    for (const source of given)
      expect(await sumOf(addingModel(), { externalBuffers: { [group]: source } })).toEqual([4, 6]);
    const options = { externalBuffers: { [group]: weights }, worker: () => portHere().port } as const;
    expect(await sumOf(addingModel(), options)).toEqual([4, 6]);
    expect(weights).toHaveLength(160);
  });

  test("that a caller gives come before those beside the model", async () => {
    const others = weights.slice();
    new Float32Array(others.buffer, 64, 2).set([7, 8]);
    expect(await sumOf(join(folder, "models", "model.tflite"), { externalBuffers: { [group]: others } })).toEqual([
      8, 10,
    ]);
  });

  test("report their bytes", async () => {
    const loaded: (number | undefined)[][] = [];
    const bytes = addingModel();
    const onProgress: LoadOptions["onProgress"] = ({ loaded: some, total }) => {
      if (some !== undefined) loaded.push([some, total]);
    };
    await sumOf(await fileOf(bytes), { onProgress });
    expect(loaded).toEqual([
      [bytes.length, bytes.length],
      [bytes.length + 8, bytes.length + 8],
    ]);
  });

  test.each([
    "../secret",
    "parts/../../secret",
    "/etc/passwd",
    "file:///etc/passwd",
    "https://example.org/weights.bin",
    "C:\\secret",
    "..\\secret",
    "./weights.bin",
    "parts//weights.bin",
    "weights.bin\0",
    "",
  ])("of the name %j are not looked for", async (name) => {
    const path = await fileOf(addingModel({ group: name }));
    await expect(sumOf(path)).rejects.toMatchObject({
      code: "CANNOT_READ",
      message: expect.stringMatching(
        /such a name may lead out of the folder of the model; give that file by this name/,
      ),
    });
    expect(await sumOf(path, { externalBuffers: { [name]: weights } })).toEqual([4, 6]);
  });

  test("do not leave the folder by a link, and may be links within it", async () => {
    const linking = await fileOf(addingModel({ group: "link" }));
    await expect(sumOf(linking)).rejects.toThrow(
      `cannot read the external buffers "link" of the model ${linking}: a link leads out of the folder of the model`,
    );
    await mkdir(join(folder, "names"), { recursive: true });
    await symlink("../models/model.tflite", join(folder, "names", "model.tflite"));
    await symlink("../models/weights.bin", join(folder, "names", group));
    expect(await sumOf(join(folder, "names", "model.tflite"))).toEqual([4, 6]);
  });

  test("that are missing, or no file, are refused", async () => {
    const reasons: readonly (readonly [Source, LoadOptions, string])[] = [
      [await fileOf(addingModel({ group: "none.bin" })), {}, "the file does not exist"],
      [await fileOf(addingModel({ group: "parts" }), "folder.tflite"), {}, "it is a folder"],
      [addingModel(), {}, "the model has neither a path nor an address"],
      [new Blob([addingModel()]), {}, "the model has neither a path nor an address"],
      [addingModel(), { externalBuffers: { [group]: join(folder, "none") } }, "the file does not exist"],
    ];
    for (const [source, options, reason] of reasons) {
      const named = typeof source === "string" ? ` ${source}` : "";
      const message = expect.stringContaining(`of the model${named}: ${reason}`);
      await expect(sumOf(source, options)).rejects.toMatchObject({ code: "CANNOT_READ", message });
    }
  });

  test("that are too short are refused, and a file that just has them is not", async () => {
    const message =
      'cannot read the external buffers "weights.bin" of the model: it has 71 bytes, and the model needs 72 of them';
    for (const source of [weights.slice(0, 71), new Blob([weights.subarray(0, 71)])])
      await expect(sumOf(addingModel(), { externalBuffers: { [group]: source } })).rejects.toThrow(message);
    const short = await fileOf(weights.subarray(0, 71), "short.bin");
    const path = await fileOf(addingModel({ group: "short.bin" }));
    await expect(sumOf(path)).rejects.toThrow(
      `cannot read the external buffers "short.bin" of the model ${path}: it has 71 bytes, and the model needs 72 of them`,
    );
    await writeFile(short, weights.subarray(0, 72));
    expect(await sumOf(await fileOf(addingModel({ group: "short.bin" })))).toEqual([4, 6]);
  });

  test("that the model does not have are refused", async () => {
    const known = 'externalBuffers: the model has no external buffers "w.bin"; it has "weights.bin"';
    const options = { externalBuffers: { [group]: weights, "w.bin": weights } };
    await expect(sumOf(addingModel(), options)).rejects.toMatchObject({ code: "BAD_OPTION", message: known });
    const none = 'externalBuffers: the model has no external buffers "weights.bin"; it has none';
    const plain = modelOf({ tensors: [tensor("x", { shape: [2] })], inputs: [0], outputs: [0], operators: [] });
    await expect(sumOf(plain, { externalBuffers: { [group]: weights } })).rejects.toThrow(none);
    // A caller without types.
    const wrong = { externalBuffers: [weights] as unknown as Record<string, Uint8Array> };
    await expect(sumOf(addingModel(), wrong)).rejects.toThrow(
      "externalBuffers: expected an object with a source for each name",
    );
    const number = { externalBuffers: { [group]: 3 as unknown as Uint8Array } };
    await expect(sumOf(addingModel(), number)).rejects.toMatchObject({ code: "WRONG_TYPE" });
  });

  test("count for maxBytes", async () => {
    const bytes = addingModel();
    const path = await fileOf(bytes);
    expect(await sumOf(path, { maxBytes: bytes.length + 8 })).toEqual([4, 6]);
    await expect(sumOf(path, { maxBytes: bytes.length + 7 })).rejects.toThrow(
      `with its constants it has ${bytes.length + 8} bytes, more than the ${bytes.length + 7} of maxBytes`,
    );
  });

  test("are left alone after an abort", async () => {
    const controller = new AbortController();
    const onProgress = () => controller.abort(new Error("enough"));
    const loading = sumOf(await fileOf(addingModel()), { signal: controller.signal, onProgress });
    await expect(loading).rejects.toThrow("enough");
  });

  test("change the token of a kept model", async () => {
    const bytes = addingModel();
    const token = async (offset: number, change: number) => {
      const others = weights.slice();
      others[64] = change;
      return String(await modelToken(bytes, { outside: [{ group, offset, bytes: others }] }));
    };
    expect(await token(0, 1)).toBe(await token(0, 1));
    expect(await token(0, 1)).not.toBe(await token(0, 2));
    expect(await token(0, 1)).not.toBe(await token(8, 1));
  });
});

describe("external buffers of a model with an address", () => {
  /** Serves the model and its weights; `sendsParts`: whether it knows ranges. */
  async function serve(
    sendsParts: boolean,
    use: (address: string, asked: readonly (string | undefined)[]) => Promise<void>,
    change: { readonly begin?: number; readonly status?: number } = {},
  ): Promise<void> {
    const asked: (string | undefined)[] = [];
    const model = addingModel({}, { offset: 128 });
    const server = createServer(({ url, headers: { range } }, response) => {
      if (url === "/models/a%20b/model.tflite?v=1") return response.end(model);
      if (url !== "/models/a%20b/weights.bin") return response.writeHead(404).end();
      asked.push(range);
      if (change.status !== undefined) return response.writeHead(change.status).end();
      const [, first = "0", last = "0"] = /^bytes=(\d+)-(\d+)$/.exec(range ?? "") ?? [];
      if (!sendsParts) return response.end(weights);
      response.writeHead(206, { "content-range": `bytes ${change.begin ?? first}-${last}/${weights.length}` });
      // Parts of the answer arrive one after the other.
      response.write(weights.subarray(Number(first), Number(first) + 5));
      setTimeout(() => response.end(weights.subarray(Number(first) + 5, Number(last) + 1)), 5);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      const { port } = server.address() as AddressInfo;
      await use(`http://127.0.0.1:${port}/models/a%20b/model.tflite?v=1`, asked);
    } finally {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  }

  test("are asked for by range, beside the model", async () => {
    await serve(true, async (address, asked) => {
      expect(await sumOf(address)).toEqual([54, 66]);
      expect(await sumOf(new URL(address))).toEqual([54, 66]);
      expect(asked).toEqual(["bytes=64-135", "bytes=64-135"]);
    });
  });

  test("are taken from a whole file, too", async () => {
    await serve(false, async (address) => {
      expect(await sumOf(address)).toEqual([54, 66]);
      await expect(sumOf(address, { maxBytes: 130 })).rejects.toMatchObject({ code: "CANNOT_READ" });
    });
  });

  test("that are another part, or cannot be had, are refused", async () => {
    await serve(
      true,
      async (address) => {
        await expect(sumOf(address)).rejects.toThrow("the server answered with another part");
      },
      { begin: 0 },
    );
    await serve(
      true,
      async (address) => {
        await expect(sumOf(address)).rejects.toThrow("it has fewer than the 136 bytes that the model needs");
      },
      { status: 416 },
    );
    await serve(
      true,
      async (address) => {
        await expect(sumOf(address)).rejects.toThrow("the server answered 500");
      },
      { status: 500 },
    );
  });
});

/** The bytes that this process has read; undefined on systems that do not say. */
async function bytesRead(): Promise<number | undefined> {
  const text = await readFile("/proc/self/io", "latin1").catch(() => "");
  const count = /^rchar: (\d+)$/m.exec(text)?.[1];
  return count === undefined ? undefined : Number(count);
}

/** Runs some work, which must not read a large file. */
async function readingLittle(work: () => Promise<void>): Promise<void> {
  const before = await bytesRead();
  await work();
  const after = await bytesRead();
  if (before !== undefined && after !== undefined) expect(after - before).toBeLessThan(2 ** 28);
}

describe("a file above 2 GiB", () => {
  /** A model whose constant lies at this place of its file, which is sparse. */
  async function sparse(name: string, head: Uint8Array, size: number, at?: number): Promise<string> {
    const path = await fileOf(head, name);
    const handle = await open(path, "r+");
    await handle.truncate(size);
    if (at !== undefined) await handle.write(weights, 64, 8, at);
    await handle.close();
    return path;
  }
  const offset = 2 ** 31 + 4096;

  const head = () =>
    modelOf({
      tensors: [
        tensor("x", { shape: [2] }),
        tensor("w", { shape: [2], external: { offset, length: 8 } }),
        tensor("s", { shape: [2] }),
      ],
      inputs: [0],
      outputs: [2],
      operators: [
        { name: "ADD", version: 1, inputs: [0, 1], outputs: [2], options: { fusedActivationFunction: "NONE" } },
      ],
    });

  test("is read by offset, and only where it is used", async () => {
    const path = await sparse("large.tflite", head(), offset + 8, offset);
    await readingLittle(async () => {
      expect(await sumOf(path)).toEqual([4, 6]);
      expect(await sumOf(path, { worker: () => portHere().port })).toEqual([4, 6]);
    });
    await rm(path);
  });

  test("takes only what its limit allows", async () => {
    const bytes = head();
    const path = await sparse("limit.tflite", bytes, offset + 8, offset);
    const reads = 2 ** 20 + 8;
    expect(await sumOf(path, { maxBytes: reads })).toEqual([4, 6]);
    await expect(sumOf(path, { maxBytes: reads - 1 })).rejects.toThrow(`it has ${reads} bytes, more than the`);
    await rm(path);
  });

  test("that ends too early is refused", async () => {
    const path = await sparse("short.tflite", head(), offset + 7);
    await readingLittle(async () => {
      await expect(sumOf(path)).rejects.toThrow(`8 bytes at ${offset} lie outside the file of ${offset + 7} bytes`);
    });
    await rm(path);
  });

  test("with other first bytes is refused by them, as one of 1.2 GB is", async () => {
    const large = await sparse("zeros.tflite", new Uint8Array(8), 2 ** 31 + 8);
    const smaller = await sparse("zeros2.tflite", new Uint8Array([0x1f, 0x8b, 8, 0, 0, 0, 0, 0]), 1.2e9);
    await readingLittle(async () => {
      await expect(sumOf(large)).rejects.toMatchObject({ code: "NOT_A_MODEL" });
      await expect(sumOf(smaller)).rejects.toThrow("cannot be used: it is a gzip archive");
    });
    await rm(large);
    await rm(smaller);
  });
});
