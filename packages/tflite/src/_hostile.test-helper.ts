/**
 * Broken files for tests: files of rows that need not fit together, and the outcome of reading and importing any bytes.
 */

import { modelIssues } from "@nnhal/validation";
import { Builder } from "flatbuffers";
import { expect } from "vitest";
import { inspectTflite } from "./describe/inspect.ts";
import { readPackedFile } from "./describe/packed-files.ts";
import { TfliteError } from "./error.ts";
import { writeTable } from "./flatbuffer/write-table.ts";
import type { ImportOptions } from "./import/options.ts";
import type { TfliteModel } from "./model.ts";
import { type ModelRow, modelLayout, type OperatorRow, type SubgraphRow, type TensorRow } from "./schema/tables.ts";

/** Shapes that do not fit each other: an import does not infer shapes, and the model is refused when it is finished. */
const ofShapes: readonly string[] = ["operation-shape", "output-shape"];

/**
 * Reads all of a file and imports it; "fine" if that makes a model that the HAL accepts except for shapes that the file has wrong,
 * or the message of the one error that is allowed.
 */
export function attempt(source: Uint8Array | TfliteModel, options: ImportOptions = {}): string {
  try {
    const { imported, problems, problemCount, packedFiles } = inspectTflite(source, options);
    if (source instanceof Uint8Array) for (const { name } of packedFiles) readPackedFile(source, name);
    // Only what is wrong is worth the time that vitest needs for an assertion: there are tens of thousands of files.
    if ((imported === undefined) !== problemCount > 0) expect(imported).toBeUndefined();
    if (imported === undefined) throw new TfliteError(problems, problemCount);
    const issues = modelIssues(imported.model).filter(({ code }) => !ofShapes.includes(code));
    if (issues.length > 0) expect(issues).toEqual([]);
    return "fine";
  } catch (error) {
    if (!(error instanceof TfliteError)) throw error;
    return error.message === "" ? "an error without a message" : error.message;
  }
}

/** A file of rows as they are, whatever they say. */
export function fileOf(row: Partial<ModelRow>): Uint8Array {
  const builder = new Builder(64);
  const model: ModelRow = {
    ...{ version: 3, operatorCodes: undefined, subgraphs: undefined, description: undefined, buffers: undefined },
    ...{ metadataBuffer: undefined, metadata: undefined, signatureDefs: undefined },
    ...{ externalBufferGroups: undefined, externalBuffers: undefined },
    ...row,
  };
  builder.finish(writeTable(builder, modelLayout, model, "model"), "TFL3");
  return builder.asUint8Array().slice();
}

export const tensorRow: TensorRow = {
  ...{ shape: [2], type: 0, buffer: 0, name: "t", quantization: undefined, isVariable: false, sparsity: undefined },
  ...{ shapeSignature: undefined, hasRank: false, variantTensors: false, externalBuffer: 0 },
};
export const operatorRow: OperatorRow = {
  ...{
    opcodeIndex: 0,
    inputs: [0],
    outputs: [1],
    builtinOptionsType: 0,
    builtinOptions: undefined,
    customOptions: undefined,
  },
  ...{ customOptionsFormat: 0, mutatingVariableInputs: undefined, intermediates: undefined },
  ...{ largeCustomOptionsOffset: 0, largeCustomOptionsSize: 0 },
  ...{ builtinOptions2Type: 0, builtinOptions2: undefined },
};
export const abs = { deprecatedBuiltinCode: 101, customCode: undefined, version: 1, builtinCode: 101 };

export function subgraphFile(change: Partial<SubgraphRow>, more: Partial<ModelRow> = {}): Uint8Array {
  const subgraph: SubgraphRow = {
    ...{ tensors: [tensorRow, tensorRow], inputs: [0], outputs: [1], operators: [operatorRow], name: undefined },
    ...change,
  };
  return fileOf({ operatorCodes: [abs], subgraphs: [subgraph], ...more });
}
