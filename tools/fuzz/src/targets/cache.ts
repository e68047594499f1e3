/** Files of compilation caches. The instrumented build compares digests as always equal: their content can be anything. */
import { closeSync, ftruncateSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BYTE_SIZE_OF_CACHE_TOKEN } from "@nnhal/types";
import { byteReader, bytes, type Codec, encode, modelStructure, struct } from "@nnhal/utils/codec";
import { takePrepared } from "../answers.ts";
import { openReference, soon } from "../device.ts";
import { readAs, readModel, writeAs, writeModel } from "../model-input.ts";
import { mutateBytes } from "../mutate/bytes.ts";
import { mutateModel } from "../mutate/model.ts";
import type { Random } from "../random.ts";
import type { Target } from "../target.ts";

/** Both files. */
export const cacheFiles: Codec<{ readonly model: Uint8Array; readonly data: Uint8Array }> = struct({
  model: bytes,
  data: bytes,
});

/** The digest at the head of a model file. */
const digestLength = 32;

export const cache: Target = {
  name: "cache",
  says: "a model is prepared from the files of a cache whose digests are right: GENERAL_FAILURE, or a prepared model that can be closed",
  longest: 16_384,
  packages: ["driver-core", "utils", "validation"],
  mutate: mutateFiles,
  async open() {
    const device = await openReference();
    const folder = mkdtempSync(join(tmpdir(), "nnhal-fuzz-cache-"));
    const [model, data] = [openSync(join(folder, "model"), "w+"), openSync(join(folder, "data"), "w+")];
    const opened = {
      modelCache: [{ fds: [model] }],
      dataCache: [{ fds: [data] }],
      token: new Uint8Array(BYTE_SIZE_OF_CACHE_TOKEN).fill(7),
    };
    return {
      async run(input) {
        const files = readAs(cacheFiles, input);
        if (files === undefined) return;
        for (const [fd, content] of [
          [model, files.model],
          [data, files.data],
        ] as const) {
          ftruncateSync(fd, 0);
          writeSync(fd, content, 0, content.length, 0);
        }
        const result = await device.prepareModelFromCache?.(opened, { deadline: soon() });
        if (result !== undefined) takePrepared("prepareModelFromCache", result)?.close();
      },
      async close() {
        await device.close();
        for (const fd of [model, data]) closeSync(fd);
        rmSync(folder, { recursive: true });
      },
    };
  },
};

/** The model in the model file changed as a model, or bytes of either. */
function mutateFiles(input: Uint8Array, random: Random, other: Uint8Array): Uint8Array | undefined {
  const files = readAs(cacheFiles, input);
  if (files === undefined) return undefined;
  if (random.oneIn(4)) return writeAs(cacheFiles, { ...files, data: mutateBytes(files.data, random, other, 4096) });
  const content = files.model.subarray(digestLength);
  const structured = random.oneIn(2) ? changedStructure(content, random) : undefined;
  const model = structured ?? mutateBytes(content, random, other, 8192);
  return writeAs(cacheFiles, { ...files, model: Uint8Array.of(...files.model.subarray(0, digestLength), ...model) });
}

function changedStructure(content: Uint8Array, random: Random): Uint8Array | undefined {
  const from = byteReader(content);
  try {
    const structure = modelStructure.read(from);
    const empty = new Uint8Array(0);
    const input = writeModel({ structure, operandValues: empty, pools: [], elements: empty });
    const changed = input && mutateModel(input, random, input);
    const read = changed && readModel(changed);
    return read && Uint8Array.of(...encode(modelStructure, read.structure), ...content.subarray(from.at));
  } catch {
    // The content does not begin with a model any more.
    return undefined;
  }
}
