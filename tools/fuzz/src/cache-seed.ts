/** The files of caches, written by the reference device. */

import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BYTE_SIZE_OF_CACHE_TOKEN, ErrorStatus, type Model, OperandLifeTime } from "@nnhal/types";
import { encode } from "@nnhal/utils/codec";
import type { Case } from "./cases.ts";
import { openReference } from "./device.ts";
import { memoryWith } from "./model-input.ts";
import { smallModels } from "./small-models.ts";
import { must } from "./target.ts";
import { cacheFiles } from "./targets/cache.ts";

/** The caches of the small models. */
export async function cacheBytes(): Promise<Case[]> {
  const device = await openReference();
  const folder = mkdtempSync(join(tmpdir(), "nnhal-fuzz-cache-"));
  const cases: Case[] = [];
  for (const [index, model] of [...smallModels, withPool(smallModels[0])].entries()) {
    const paths = [join(folder, `model${index}`), join(folder, `data${index}`)] as const;
    const [modelFile, dataFile] = [openSync(paths[0], "w+"), openSync(paths[1], "w+")];
    const token = new Uint8Array(BYTE_SIZE_OF_CACHE_TOKEN).fill(7);
    const cache = { modelCache: [{ fds: [modelFile] }], dataCache: [{ fds: [dataFile] }], token };
    const result = await device.prepareModel(model, { cache });
    must(result.status === ErrorStatus.NONE, () => `a model of this target is refused: ${result.message}`);
    const [files, data] = paths.map((path) => new Uint8Array(readFileSync(path)));
    must(files !== undefined && data !== undefined, () => "there are two files");
    cases.push({ name: `small/${index}`, bytes: encode(cacheFiles, { model: files, data }) });
    for (const fd of [modelFile, dataFile]) closeSync(fd);
  }
  await device.close();
  rmSync(folder, { recursive: true });
  return cases;
}

/** A model whose constant lies in a pool, so that the data file has a section for it. */
function withPool(model: Model | undefined): Model {
  must(model !== undefined, () => "there is no model");
  const operands = model.main.operands.map((operand) =>
    operand.location.length > 0 ? { ...operand, lifetime: OperandLifeTime.CONSTANT_REFERENCE } : operand,
  );
  return {
    ...model,
    main: { ...model.main, operands },
    operandValues: new Uint8Array(0),
    pools: [memoryWith(new Uint8Array(8))],
  };
}
