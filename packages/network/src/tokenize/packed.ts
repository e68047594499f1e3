/**
 * Tokenisers from files that are packed with a model. It is loaded for models with TFLite Metadata.
 */
import type { ModelMetadata, TokenizerMetadata } from "@nnhal/tflite";
import { isTfliteError, type LabelSource } from "../labels.ts";
import { oneLine } from "../text.ts";
import { MOST_FILE_BYTES, type TokenizerInfo } from "../tokenizer.ts";

/**
 * The tokeniser of each input, by its place in the metadata: its own, else that of all inputs together; undefined if there is none. A file that is
 * not there, or that cannot be read, is reported to `note`.
 */
export function findTokenizers(
  metadata: ModelMetadata,
  readFile: LabelSource["read"],
  note: (message: string) => void,
): (place: number) => TokenizerInfo | undefined {
  const known = new Map<TokenizerMetadata, TokenizerInfo | undefined>();
  let bytesLeft = MOST_FILE_BYTES;
  const read = (wanted: TokenizerMetadata["vocabulary"]): Uint8Array | undefined => {
    const name = wanted[0]?.name;
    const bytes = name === undefined ? undefined : readFile(name, bytesLeft);
    if (bytes === undefined)
      note(unreadable(name === undefined ? "it names no file" : `there is no packed file "${oneLine(name)}"`));
    bytesLeft -= bytes?.length ?? 0;
    return bytes;
  };
  const tokenizerOf = ({ kind, pattern, model, vocabulary }: TokenizerMetadata): TokenizerInfo | undefined => {
    try {
      const bytes = read(kind === "sentencePiece" ? model : vocabulary);
      if (bytes === undefined) return undefined;
      if (kind === "sentencePiece") return { kind, model: bytes };
      return kind === "bert" ? { kind, vocabulary: bytes } : { kind, pattern, vocabulary: bytes };
    } catch (error) {
      if (!isTfliteError(error)) throw error;
      note(unreadable(oneLine(error.message)));
      return undefined;
    }
  };
  return (place) => {
    const wanted = metadata.inputs[place]?.tokenizer ?? metadata.tokenizer;
    if (wanted === undefined) return undefined;
    if (!known.has(wanted)) known.set(wanted, tokenizerOf(wanted));
    return known.get(wanted);
  };
}

function unreadable(reason: string): string {
  return `the tokenizer that is packed with the model cannot be read: ${reason}`;
}
