/**
 * Models with TFLite Metadata and packed files, for tests.
 */
import { type Zippable, zipSync } from "fflate";
import { Builder } from "flatbuffers";
import type { Row } from "./flatbuffer/table.ts";
import { writeTable } from "./flatbuffer/write-table.ts";
import type { TfliteModel } from "./model.ts";
import {
  MODEL_METADATA_IDENTIFIER,
  MODEL_METADATA_NAME,
  modelMetadataLayout,
  NORMALIZATION,
  normalizationLayout,
} from "./schema/metadata.ts";

/** What a test says about a model with one input and one output. */
export interface MetadataGiven {
  readonly name?: string;
  readonly author?: string;
  readonly license?: string;
  /** Of the input. */
  readonly normalization?: Row<typeof normalizationLayout>;
  /** Of the output. */
  readonly files?: readonly { readonly name: string; readonly type: number; readonly locale?: string }[];
}

/** A block of TFLite Metadata. */
export function metadataBlock({ name, author, license, normalization, files = [] }: MetadataGiven): Uint8Array {
  const builder = new Builder(64);
  const options = normalization && writeTable(builder, normalizationLayout, normalization, "normalization");
  const tensor = { name: "image", description: undefined, dimensionNames: false, content: false, stats: false };
  const associatedFiles = files.map((file) => ({ description: undefined, locale: undefined, ...file }));
  const row: Row<typeof modelMetadataLayout> = {
    ...{ name, description: undefined, version: undefined, author, license, associatedFiles: undefined },
    subgraphs: [
      {
        ...{ name: undefined, description: undefined, associatedFiles: undefined },
        inputs: [
          { ...tensor, processUnits: options ? [{ optionsType: NORMALIZATION, options }] : [], associatedFiles: [] },
        ],
        outputs: [{ ...tensor, name: "scores", processUnits: [], associatedFiles }],
      },
    ],
  };
  builder.finish(writeTable(builder, modelMetadataLayout, row, "metadata"), MODEL_METADATA_IDENTIFIER);
  return builder.asUint8Array().slice();
}

/** A model with a block of TFLite Metadata. */
export function withMetadata(model: TfliteModel, data: Uint8Array): TfliteModel {
  return { ...model, metadata: [...model.metadata, { name: MODEL_METADATA_NAME, data }] };
}

/** A file with others packed behind it: offsets of the archive count from the start of the file, as makers write them. */
export function withPacked(file: Uint8Array, packed: Zippable): Uint8Array {
  const archive = zipSync(packed);
  const whole = new Uint8Array(file.length + archive.length);
  whole.set(file);
  whole.set(archive, file.length);
  const view = new DataView(whole.buffer);
  const end = whole.length - 22;
  let at = view.getUint32(end + 16, true) + file.length;
  view.setUint32(end + 16, at, true);
  for (let i = 0; i < view.getUint16(end + 10, true); i++) {
    view.setUint32(at + 42, view.getUint32(at + 42, true) + file.length, true);
    at += 46 + view.getUint16(at + 28, true) + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
  }
  return whole;
}
