/**
 * The programs in documents: every block in TypeScript or JavaScript of every document is run somewhere, or is a fragment with a reason.
 * All are in the syntax of the oldest Node.js that is named, for a reader pastes them.
 */
import { transform } from "esbuild";

/** A block of a document. */
export interface CodeBlock {
  readonly language: string;
  readonly code: string;
}

/** Use of the blocks of a document: the file that runs them all, or, by index from 0, why one is a fragment. */
export interface Use {
  /** From the root of the checkout. It names the document. */
  readonly runBy?: string;
  readonly fragments?: Readonly<Record<number, string>>;
}

/** The blocks of a document that are programs, in their order. */
export function programsIn(text: string): CodeBlock[] {
  return blocksIn(text).filter(({ language }) => ["ts", "js", "mjs"].includes(language));
}

/** All blocks of a document with a language. */
export function blocksIn(text: string): CodeBlock[] {
  return [...text.matchAll(/^```([a-z]+)\n([\s\S]*?)^```$/gm)].map(([, language = "", code = ""]) => ({
    language,
    code,
  }));
}

/** Returns the syntax error of a block for a version of Node.js, such as 20.19; undefined if there is none. */
export async function syntaxProblem({ language, code }: CodeBlock, node: string): Promise<string | undefined> {
  const loader = language === "ts" ? "ts" : "js";
  try {
    const options = { loader, format: "esm" } as const;
    const asWritten = await transform(code, { ...options, target: "esnext" });
    const forNode = await transform(code, { ...options, target: `node${node}` });
    if (asWritten.code === forNode.code) return undefined;
    const lines = forNode.code.split("\n");
    const first = asWritten.code.split("\n").find((line) => !lines.includes(line));
    return `is not in the syntax of Node.js ${node}: ${first?.trim()}`;
  } catch (error) {
    return `does not parse: ${error instanceof Error ? error.message : error}`;
  }
}
