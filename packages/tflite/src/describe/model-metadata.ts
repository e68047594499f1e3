/**
 * TFLite Metadata: what a model's maker says about it.
 */
import { modelArgument } from "../arguments.ts";
import { ensure } from "../error.ts";
import { follow, openSource, type Source } from "../flatbuffer/source.ts";
import { type Row, readTable } from "../flatbuffer/table.ts";
import type { TfliteModel } from "../model.ts";
import {
  BERT_TOKENIZER,
  bertTokenizerLayout,
  MODEL_METADATA_IDENTIFIER,
  MODEL_METADATA_NAME,
  modelMetadataLayout,
  NORMALIZATION,
  normalizationLayout,
  packedFileKinds,
  REGEX_TOKENIZER,
  regexTokenizerLayout,
  SENTENCE_PIECE_TOKENIZER,
  sentencePieceTokenizerLayout,
} from "../schema/metadata.ts";

/** A file that the maker packed with the model, as the metadata describe it. */
export interface AssociatedFile {
  /** Its name among the packed files. */
  readonly name: string;
  readonly description: string;
  /** Kind of the file; `axis labels` are the names of classes, one a line. */
  readonly kind: (typeof packedFileKinds)[number];
  /** The language of its text, such as `en`; empty if the metadata do not say. */
  readonly locale: string;
}

/**
 * Tokeniser of text, as the metadata describe it. Of several files the first is meant. `bert`: WordPiece; `vocabulary` has a token a
 * line. `sentencePiece`: `model` is a model of SentencePiece. `regex`: `pattern` is the regular expression of what lies between tokens, and
 * `vocabulary` has a token and its number a line.
 */
export interface TokenizerMetadata {
  readonly kind: "bert" | "sentencePiece" | "regex";
  /** Empty for the other kinds, and if the metadata do not say. */
  readonly pattern: string;
  /** Empty for the other kinds. */
  readonly model: readonly AssociatedFile[];
  readonly vocabulary: readonly AssociatedFile[];
}

/** Metadata of an input or output. */
export interface TensorMetadata {
  readonly name: string;
  readonly description: string;
  /** real value = (pixel - mean) / std; one number, or one for each channel. Absent if the metadata do not say. */
  readonly normalization?: { readonly mean: readonly number[]; readonly std: readonly number[] };
  /** Tokeniser that makes the elements of an input from text. Absent if the metadata do not name one. */
  readonly tokenizer?: TokenizerMetadata;
  readonly files: readonly AssociatedFile[];
}

/** The metadata of a model. Text that is missing is empty. */
export interface ModelMetadata {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly author: string;
  readonly license: string;
  /** In the order of the first subgraph's inputs; may be fewer. */
  readonly inputs: readonly TensorMetadata[];
  /** In the order of the first subgraph's outputs; may be fewer. */
  readonly outputs: readonly TensorMetadata[];
  /** Tokeniser that makes the elements of all inputs together from text, such as those of BERT. Absent if the metadata do not name one. */
  readonly tokenizer?: TokenizerMetadata;
  /** Files for the model as a whole. */
  readonly files: readonly AssociatedFile[];
}

type ModelRow = Row<typeof modelMetadataLayout>;
type SubgraphRow = NonNullable<ModelRow["subgraphs"]>[number];
type TensorRow = NonNullable<SubgraphRow["inputs"]>[number];

const PATH = `metadata ${MODEL_METADATA_NAME}`;

/**
 * The TFLite Metadata of a model; undefined if it has none.
 *
 * @throws TfliteError if they are broken.
 */
export function modelMetadata(model: TfliteModel): ModelMetadata | undefined {
  const block = modelArgument(model, "modelMetadata").metadata.find(({ name }) => name === MODEL_METADATA_NAME);
  if (block === undefined) return undefined;
  const source = openSource(block.data);
  ensure(block.data.length >= 8, PATH, () => `the block: expected at least 8 bytes, got ${block.data.length}`);
  const identifier = String.fromCharCode(...block.data.subarray(4, 8));
  ensure(
    identifier === MODEL_METADATA_IDENTIFIER,
    PATH,
    () => `bytes 4 to 8 are ${JSON.stringify(identifier)}, not "${MODEL_METADATA_IDENTIFIER}"`,
  );
  const row = readTable(source, modelMetadataLayout, follow(source, 0, PATH), PATH);
  const [main] = row.subgraphs ?? [];
  const tokenizer = tokenizerMetadata(source, main?.inputProcessUnits);
  return {
    name: row.name ?? "",
    description: row.description ?? "",
    version: row.version ?? "",
    author: row.author ?? "",
    license: row.license ?? "",
    inputs: (main?.inputs ?? []).map((tensor) => tensorMetadata(source, tensor)),
    outputs: (main?.outputs ?? []).map((tensor) => tensorMetadata(source, tensor)),
    ...(tokenizer && { tokenizer }),
    files: [...associatedFiles(row.associatedFiles), ...associatedFiles(main?.associatedFiles)],
  };
}

function tensorMetadata(source: Source, row: TensorRow): TensorMetadata {
  const unit = row.processUnits?.find(({ optionsType }) => optionsType === NORMALIZATION);
  const given = unit?.options === undefined ? undefined : readTable(source, normalizationLayout, unit.options, PATH);
  const tokenizer = tokenizerMetadata(source, row.processUnits);
  return {
    name: row.name ?? "",
    description: row.description ?? "",
    ...(given && { normalization: { mean: given.mean ?? [], std: given.std ?? [] } }),
    ...(tokenizer && { tokenizer }),
    files: associatedFiles(row.associatedFiles),
  };
}

/** The first of the units that is a tokeniser. */
function tokenizerMetadata(source: Source, units: TensorRow["processUnits"] = []): TokenizerMetadata | undefined {
  for (const { optionsType, options } of units) {
    if (options === undefined) continue;
    if (optionsType === BERT_TOKENIZER) {
      const { vocabulary } = readTable(source, bertTokenizerLayout, options, PATH);
      return { kind: "bert", pattern: "", model: [], vocabulary: associatedFiles(vocabulary) };
    }
    if (optionsType === SENTENCE_PIECE_TOKENIZER) {
      const { model, vocabulary } = readTable(source, sentencePieceTokenizerLayout, options, PATH);
      return {
        kind: "sentencePiece",
        pattern: "",
        model: associatedFiles(model),
        vocabulary: associatedFiles(vocabulary),
      };
    }
    if (optionsType === REGEX_TOKENIZER) {
      const { pattern = "", vocabulary } = readTable(source, regexTokenizerLayout, options, PATH);
      return { kind: "regex", pattern, model: [], vocabulary: associatedFiles(vocabulary) };
    }
  }
  return undefined;
}

function associatedFiles(rows: ModelRow["associatedFiles"] = []): AssociatedFile[] {
  return rows.map(({ name = "", description = "", type, locale = "" }) => ({
    name,
    description,
    kind: packedFileKinds[type] ?? "unknown",
    locale,
  }));
}
