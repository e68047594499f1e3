/** Tokenisers that are packed with models: their files, and texts. */
import { NetworkError } from "../../../../packages/network/src/error.ts";
import { tokenizerOf } from "../../../../packages/network/src/tokenize/create-tokenizer.ts";
import { must, type Target } from "../target.ts";

/** The first byte of an input says which tokeniser it is for; a 0 byte ends the text or the regular expression in front of the file. */
const kinds = ["bert", "sentencePiece", "regex"] as const;

/** The vocabulary of regular expressions. */
const words = new TextEncoder().encode("<PAD> 0\n<UNKNOWN> 1\na 2\n");

export const tokenizer: Target = {
  name: "tokenizer",
  says: "the files of a tokeniser, and a text: tokens with numbers that the tokeniser knows, or one NetworkError",
  longest: 16_384,
  packages: ["network"],
  async open() {
    return {
      run(input) {
        const kind = kinds[(input[0] ?? 0) % kinds.length] ?? "bert";
        const end = input.indexOf(0, 1);
        const head = new TextDecoder().decode(input.subarray(1, end < 0 ? input.length : end));
        const file = end < 0 ? new Uint8Array() : input.slice(end + 1);
        try {
          const text = kind === "regex" ? new TextDecoder().decode(file) : head;
          const packed = kind === "bert" ? { kind, vocabulary: file } : { kind: "sentencePiece" as const, model: file };
          const info = kind === "regex" ? { kind, pattern: head, vocabulary: words } : packed;
          const tokens = tokenizerOf(info).encode(text, Number.POSITIVE_INFINITY);
          must(
            tokens.every(({ id }) => Number.isInteger(id)),
            () => "a token has no number",
          );
        } catch (error) {
          if (!(error instanceof NetworkError)) throw error;
          must(error.code === "NOT_A_TOKENIZER" && error.message !== "", () => `${error.code}: ${error.message}`);
        }
      },
      close: async () => {},
    };
  },
};
