/**
 * The tables of TFLite Metadata: what a model's maker says about the model, its tensors and the files packed with it. Fields
 * are in slot order; unused ones at a table's end are omitted.
 */
import { children, float32s, int8, presence, reference, string, uint8 } from "../flatbuffer/fields.ts";

/** The name of the block of metadata that holds such a table. */
export const MODEL_METADATA_NAME = "TFLITE_METADATA";

/** The four characters at offset 4 of the block. */
export const MODEL_METADATA_IDENTIFIER = "M001";

/** Kinds of packed files; a name's index is its code. */
export const packedFileKinds = [
  "unknown",
  "descriptions",
  "axis labels",
  "value labels",
  "score calibration",
  "vocabulary",
  "search index",
] as const;

/** The code of NormalizationOptions in the union of process units. */
export const NORMALIZATION = 1;

/** pixel -> (pixel - mean) / std */
export const normalizationLayout = { mean: float32s(), std: float32s() };

const processUnitLayout = { optionsType: uint8(), options: reference() };

const associatedFileLayout = {
  name: string(),
  description: string(),
  type: int8(),
  locale: string(),
};

/** The codes of tokenisers in the union of process units. */
export const BERT_TOKENIZER = 4;
export const SENTENCE_PIECE_TOKENIZER = 5;
export const REGEX_TOKENIZER = 6;

export const bertTokenizerLayout = { vocabulary: children(associatedFileLayout) };

export const sentencePieceTokenizerLayout = {
  model: children(associatedFileLayout),
  vocabulary: children(associatedFileLayout),
};

export const regexTokenizerLayout = { pattern: string(), vocabulary: children(associatedFileLayout) };

const tensorMetadataLayout = {
  name: string(),
  description: string(),
  dimensionNames: presence(),
  content: presence(),
  processUnits: children(processUnitLayout),
  stats: presence(),
  associatedFiles: children(associatedFileLayout),
};

const subgraphMetadataLayout = {
  name: string(),
  description: string(),
  inputs: children(tensorMetadataLayout),
  outputs: children(tensorMetadataLayout),
  associatedFiles: children(associatedFileLayout),
  inputProcessUnits: children(processUnitLayout),
};

export const modelMetadataLayout = {
  name: string(),
  description: string(),
  version: string(),
  subgraphs: children(subgraphMetadataLayout),
  author: string(),
  license: string(),
  associatedFiles: children(associatedFileLayout),
};
