/**
 * Writes Graphviz's language: statements, attributes and quoted strings.
 */

/** Attributes of a node or an edge, in the order in which they are written. */
export type DotAttributes = Readonly<Record<string, string | number>>;

/** Writes statements. */
export interface DotWriter {
  comment(text: string): void;
  /** Begins a block, such as `digraph` or a cluster. */
  open(head: string): void;
  close(): void;
  /** Sets an attribute of the block. */
  set(name: string, value: string): void;
  node(name: string, attributes: DotAttributes): void;
  edge(from: string, to: string, attributes?: DotAttributes): void;
}

/** Deeper blocks are not indented further, so that the text grows with the model and no faster. */
const deepestIndentation = 16;

/** A writer of lines without their ends. */
export function createDotWriter(writeLine: (line: string) => void): DotWriter {
  let depth = 0;
  const line = (text: string) => writeLine(`${"    ".repeat(Math.min(depth, deepestIndentation))}${text}`);
  return {
    comment: (text) => line(`// ${text.replace(unprintable, " ")}`),
    open(head) {
      line(`${head} {`);
      depth++;
    },
    close() {
      depth--;
      line("}");
    },
    set: (name, value) => line(`${name}=${idOf(value)}`),
    node: (name, attributes) => line(`${name} [${listOf(attributes)}]`),
    edge(from, to, attributes = {}) {
      const list = listOf(attributes);
      line(`${from} -> ${to}${list === "" ? "" : ` [${list}]`}`);
    },
  };
}

function listOf(attributes: DotAttributes): string {
  return Object.entries(attributes)
    .map(([name, value]) => `${name}=${name === "label" && typeof value === "string" ? quote(value) : idOf(value)}`)
    .join(" ");
}

/** A number or a plain word needs no quotes. */
function idOf(value: string | number): string {
  const text = String(value);
  return /^([A-Za-z_][A-Za-z_0-9]*|\d+)$/.test(text) ? text : quote(text);
}

/** The name of a node: a word and an index, which in a wrong model may be any number. */
export function nodeName(word: string, index: number): string {
  return idOf(`${word}${index}`);
}

/** Characters that would end a line or a C string, or show as nothing. */
const unprintable = /[\p{Cc}\u2028\u2029]+/gu;

/** A quoted string that shows its text unchanged. Line ends are `\n`, or `\l` to align lines at the left. */
function quote(text: string): string {
  return `"${text}"`;
}

/**
 * Text for a label. `\` and `&` in labels and `"` in strings are special in Graphviz; characters that cannot be shown
 * is a space.
 */
export function escapeLabel(text: string): string {
  return text.replace(unprintable, " ").replace(/[\\"]/g, "\\$&").replace(/&/g, "&amp;");
}
