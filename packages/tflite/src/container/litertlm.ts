/**
 * The parts of a `.litertlm` file, LiteRT-LM's form for language models: its header is a FlatBuffer that lists sections of the file
 * (litertlm_header_schema.fbs).
 */
import { viewOf } from "../describe/archive-directory.ts";
import { ensure } from "../error.ts";
import { child, children, presence, reference, string, uint8, uint64 } from "../flatbuffer/fields.ts";
import { follow, openSource, type Source } from "../flatbuffer/source.ts";
import { type Row, readTable } from "../flatbuffer/table.ts";
import type { TfliteContainer, TflitePart } from "./part.ts";

/** Bytes before the FlatBuffer: the name of the form, three versions, padding, and where the FlatBuffer ends. */
const PREFIX = 32;
const VERSION = 8;
const HEADER_END = 24;
const MAJOR = 1;
const MOST_HEADER = 2 ** 22;
const MOST_SECTIONS = 1000;

const pair = { key: string(), valueType: uint8(), value: reference() };
const section = { items: children(pair), beginOffset: uint64(), endOffset: uint64(), dataType: uint8() };
const sections = { objects: children(section) };
const header = { systemMetadata: presence(), sectionMetadata: child(sections) };
const text = { value: string() };

/** The member of the union of values that is a string. */
const STRING = 9;

/** Content of a section, by its code. */
const types = [
  ...["none", "data", "deprecated", "model", "tokenizer", "llm-metadata", "tokenizer-json", "weights"],
  "executor-metadata",
] as const;

/** The sections of a file. Rejects with a TfliteError. */
export async function listSections(file: TfliteContainer): Promise<TflitePart[]> {
  ensure(file.size >= PREFIX, "header", () => `it takes at least ${PREFIX} bytes, the file has ${file.size}`);
  const prefix = viewOf(await file.read(0, PREFIX));
  const major = prefix.getUint32(VERSION, true);
  ensure(major === MAJOR, "header", () => `version ${major} of the form is not supported, only ${MAJOR}`);
  const headerEnd = Number(prefix.getBigUint64(HEADER_END, true));
  ensure(
    headerEnd >= PREFIX && headerEnd <= file.size,
    "header",
    () => `it ends at ${headerEnd}, outside bytes ${PREFIX} to ${file.size} of the file`,
  );
  const size = headerEnd - PREFIX;
  ensure(size <= MOST_HEADER, "header", () => `its ${size} bytes are more than the most, ${MOST_HEADER}`);
  const source = openSource(await file.read(PREFIX, size));
  const { sectionMetadata } = readTable(source, header, follow(source, 0, "header"), "header");
  const rows = sectionMetadata?.objects ?? [];
  ensure(rows.length <= MOST_SECTIONS, "header", () => `it lists ${rows.length} sections, more than ${MOST_SECTIONS}`);
  const parts = rows.map((row, i) => partOf(file, source, row, headerEnd, `sections[${i}]`));
  ensureApart(parts);
  return parts;
}

function partOf(
  file: TfliteContainer,
  source: Source,
  { items = [], beginOffset, endOffset, dataType }: Row<typeof section>,
  headerEnd: number,
  path: string,
): TflitePart & { readonly offset: number } {
  ensure(
    beginOffset >= headerEnd && beginOffset <= endOffset && endOffset <= file.size,
    path,
    () => `bytes ${beginOffset} to ${endOffset} lie outside bytes ${headerEnd} to ${file.size} of the file`,
  );
  const type = types[dataType] ?? `type-${dataType}`;
  const item = items.find(({ key, valueType }) => key === "model_type" && valueType === STRING);
  const model = item?.value === undefined ? "" : (readTable(source, text, item.value, `${path}.items`).value ?? "");
  const size = endOffset - beginOffset;
  return {
    name: model === "" ? type : type === "model" ? model : `${model}.${type}`,
    ...{ type, size, offset: beginOffset },
    read: () => file.read(beginOffset, size),
  };
}

/** Refuses sections that overlap. */
function ensureApart(parts: readonly (TflitePart & { readonly offset: number })[]): void {
  const inOrder = parts.filter(({ size }) => size > 0).sort((one, other) => one.offset - other.offset);
  for (const [i, { name, offset }] of inOrder.entries()) {
    const before = inOrder[i - 1];
    ensure(
      before === undefined || before.offset + before.size <= offset,
      `part ${JSON.stringify(name)}`,
      () => `it begins at ${offset}, within the part before it`,
    );
  }
}
