/**
 * Modules: functions, exports and one memory, as the bytes of the binary format. A custom section names the functions, so that profilers
 * and disassemblers show operations.
 */
import { type ByteWriter, createWriter } from "./bytes.ts";
import { type Code, type LocalOfGiven, typeBytes, type WrittenCode, writeCode } from "./code.ts";
import type { ValueType } from "./instructions.ts";

/** A memory that the module imports. */
export interface MemoryImport {
  readonly module: string;
  readonly name: string;
  /** Pages of 64 KiB that it must have. */
  readonly pages: number;
  /** The most pages it may have. A memory that is shared must have it. */
  readonly maximum?: number;
  readonly shared?: boolean;
}

/** A function of a module. */
export interface FunctionSpec {
  /** For exports, disassemblers and profilers. */
  readonly name: string;
  readonly params: readonly ValueType[];
  readonly results: readonly ValueType[];
  readonly isExported: boolean;
  write(code: Code): void;
  /** True if it shares its code with no other function: see `shareCode`. Default: false. */
  readonly isApart?: boolean | undefined;
  /** Absent: given numbers are constants. */
  readonly localOf?: LocalOfGiven | undefined;
}

/** The bytes of a module. Functions have the numbers of their places. */
export function writeModule(memory: MemoryImport, functions: readonly FunctionSpec[]): Uint8Array<ArrayBuffer> {
  const writer = createWriter();
  writer.bytes([0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00]);
  const { types, places } = typesOf(functions);
  section(writer, 1, (part) => {
    vector(part, types, ({ params, results }) => {
      part.byte(0x60);
      vector(part, params, (type) => part.byte(typeBytes[type]));
      vector(part, results, (type) => part.byte(typeBytes[type]));
    });
  });
  section(writer, 2, (part) => {
    part.writeUnsigned(1);
    part.name(memory.module);
    part.name(memory.name);
    part.byte(0x02);
    const { pages, maximum, shared = false } = memory;
    part.byte((maximum === undefined ? 0 : 1) + (shared ? 2 : 0));
    part.writeUnsigned(pages);
    if (maximum !== undefined) part.writeUnsigned(maximum);
  });
  section(writer, 3, (part) => vector(part, places, (place) => part.writeUnsigned(place)));
  section(writer, 7, (part) => {
    const exported = [...functions.entries()].filter(([, { isExported }]) => isExported);
    vector(part, exported, ([index, { name }]) => {
      part.name(name);
      part.byte(0x00);
      part.writeUnsigned(index);
    });
  });
  section(writer, 10, (part) => {
    vector(part, functions, ({ params, write, localOf }) => writeBody(part, writeCode(params, write, localOf)));
  });
  section(writer, 0, (part) => {
    part.name("name");
    section(part, 1, (names) => {
      vector(names, [...functions.entries()], ([index, { name }]) => {
        names.writeUnsigned(index);
        names.name(name);
      });
    });
  });
  return writer.copyBytes();
}

/** Each type once, and the place of that of each function. */
function typesOf(functions: readonly FunctionSpec[]) {
  const types: Pick<FunctionSpec, "params" | "results">[] = [];
  const known = new Map<string, number>();
  const places = functions.map(({ params, results }) => {
    const key = `${params}:${results}`;
    const place = known.get(key) ?? types.push({ params, results }) - 1;
    known.set(key, place);
    return place;
  });
  return { types, places };
}

function writeBody(writer: ByteWriter, { locals, bytes }: WrittenCode): void {
  const body = createWriter();
  const runs: { type: ValueType; count: number }[] = [];
  for (const type of locals) {
    const last = runs.at(-1);
    if (last?.type === type) last.count++;
    else runs.push({ type, count: 1 });
  }
  vector(body, runs, ({ type, count }) => {
    body.writeUnsigned(count);
    body.byte(typeBytes[type]);
  });
  body.bytes(bytes);
  writer.writeUnsigned(body.length);
  writer.bytes(body.copyBytes());
}

function section(writer: ByteWriter, id: number, write: (part: ByteWriter) => void): void {
  const part = createWriter();
  write(part);
  writer.byte(id);
  writer.writeUnsigned(part.length);
  writer.bytes(part.copyBytes());
}

function vector<T>(writer: ByteWriter, items: readonly T[], write: (item: T) => void): void {
  writer.writeUnsigned(items.length);
  for (const item of items) write(item);
}
