/**
 * Models with TFLite Metadata, for tests.
 */
import { Builder } from "flatbuffers";
import type { Row } from "./flatbuffer/table.ts";
import { writeTable } from "./flatbuffer/write-table.ts";
import type { TfliteModel } from "./model.ts";
import {
  BERT_TOKENIZER,
  bertTokenizerLayout,
  MODEL_METADATA_IDENTIFIER,
  MODEL_METADATA_NAME,
  modelMetadataLayout,
  NORMALIZATION,
  normalizationLayout,
  REGEX_TOKENIZER,
  regexTokenizerLayout,
  SENTENCE_PIECE_TOKENIZER,
  sentencePieceTokenizerLayout,
} from "./schema/metadata.ts";

/** Metadata that a test gives to a model with one input and one output. */
export interface MetadataGiven {
  readonly name?: string;
  readonly author?: string;
  readonly license?: string;
  /** Of the first input. */
  readonly normalization?: Row<typeof normalizationLayout>;
  /** Of the first input. */
  readonly tokenizer?: GivenTokenizer;
  /** Of all inputs together. */
  readonly inputTokenizer?: GivenTokenizer;
  /** The names of the inputs. Default: image. */
  readonly inputs?: readonly string[];
  /** Of the output. */
  readonly files?: readonly { readonly name: string; readonly type: number; readonly locale?: string }[];
}

/** A tokeniser by the names of its files. Those that are absent are not written. */
export type GivenTokenizer =
  | { readonly kind: "bert"; readonly vocabulary?: string }
  | { readonly kind: "sentencePiece"; readonly model?: string }
  | { readonly kind: "regex"; readonly pattern?: string; readonly vocabulary?: string };

/** A block of TFLite Metadata. */
export function metadataBlock({
  name,
  author,
  license,
  normalization,
  tokenizer,
  inputTokenizer,
  inputs = ["image"],
  files = [],
}: MetadataGiven): Uint8Array {
  const builder = new Builder(64);
  const tokenizerUnit = tokenizer && writeTokenizer(builder, tokenizer);
  const inputUnit = inputTokenizer && writeTokenizer(builder, inputTokenizer);
  const options = normalization && writeTable(builder, normalizationLayout, normalization, "normalization");
  const tensor = { name: "image", description: undefined, dimensionNames: false, content: false, stats: false };
  const associatedFiles = files.map((file) => ({ description: undefined, locale: undefined, ...file }));
  const row: Row<typeof modelMetadataLayout> = {
    ...{ name, description: undefined, version: undefined, author, license, associatedFiles: undefined },
    subgraphs: [
      {
        ...{ name: undefined, description: undefined, associatedFiles: undefined },
        inputs: inputs.map((each, place) => ({
          ...tensor,
          name: each,
          processUnits:
            place > 0 ? [] : [...(options ? [{ optionsType: NORMALIZATION, options }] : []), ...listOf(tokenizerUnit)],
          associatedFiles: [],
        })),
        inputProcessUnits: listOf(inputUnit),
        outputs: [{ ...tensor, name: "scores", processUnits: [], associatedFiles }],
      },
    ],
  };
  builder.finish(writeTable(builder, modelMetadataLayout, row, "metadata"), MODEL_METADATA_IDENTIFIER);
  return builder.asUint8Array().slice();
}

function listOf<Item>(item: Item | undefined): Item[] {
  return item === undefined ? [] : [item];
}

function writeTokenizer(builder: Builder, given: GivenTokenizer): { optionsType: number; options: number } {
  const fileOf = (name: string | undefined) =>
    listOf(name).map((each) => ({ name: each, description: undefined, type: 5, locale: undefined }));
  if (given.kind === "bert") {
    const row: Row<typeof bertTokenizerLayout> = { vocabulary: fileOf(given.vocabulary) };
    return { optionsType: BERT_TOKENIZER, options: writeTable(builder, bertTokenizerLayout, row, "tokenizer") };
  }
  if (given.kind === "sentencePiece") {
    const row: Row<typeof sentencePieceTokenizerLayout> = { model: fileOf(given.model), vocabulary: undefined };
    const options = writeTable(builder, sentencePieceTokenizerLayout, row, "tokenizer");
    return { optionsType: SENTENCE_PIECE_TOKENIZER, options };
  }
  const row: Row<typeof regexTokenizerLayout> = { pattern: given.pattern, vocabulary: fileOf(given.vocabulary) };
  return { optionsType: REGEX_TOKENIZER, options: writeTable(builder, regexTokenizerLayout, row, "tokenizer") };
}

/** A model with a block of TFLite Metadata. */
export function withMetadata(model: TfliteModel, data: Uint8Array): TfliteModel {
  return { ...model, metadata: [...model.metadata, { name: MODEL_METADATA_NAME, data }] };
}
