/** Modules as text in the format of WebAssembly: an instruction a line, and functions with the names of operations. */
import { type Part, writeInstructions } from "./code.ts";
import { type InstructionName, immediateForms, instructionOf, type ValueType } from "./instructions.ts";
import type { FunctionSpec, MemoryImport } from "./module.ts";

/** The text of a module. `comment`: a line before each function. */
export function textOf(
  { module, name, pages }: MemoryImport,
  functions: readonly FunctionSpec[],
  comment: (place: number) => string | undefined = () => undefined,
): string {
  const identifiers = functions.map((each) => `$${each.name.replaceAll(/[^\w.+-]/g, "_")}`);
  const lines = [`(module`, `  (import ${quote(module)} ${quote(name)} (memory ${pages}))`];
  for (const [place, { name: exported, params, results, isExported, write, localOf }] of functions.entries()) {
    const body: string[] = [];
    let depth = 2;
    const append = (instruction: InstructionName, given: readonly Part[]) => {
      if (instruction === "end" || instruction === "else") depth--;
      // The last end is the parenthesis of the function.
      if (depth >= 2) body.push(`${"  ".repeat(depth)}${textOfInstruction(instruction, given, identifiers)}`);
      if (["block", "loop", "if", "else"].includes(instruction)) depth++;
    };
    const locals = writeInstructions(params, write, append, localOf);
    const about = comment(place);
    if (about !== undefined) lines.push("", `  ;; ${about}`);
    const types = [...listOf("param", params), ...listOf("result", results)];
    lines.push(`  (func ${[identifiers[place], ...types].join(" ")}`, ...localLines(locals), ...body, "  )");
    if (isExported) lines.push(`  (export ${quote(exported)} (func ${identifiers[place]}))`);
  }
  return `${[...lines, ")"].join("\n")}\n`;
}

function listOf(what: string, types: readonly ValueType[]): string[] {
  return types.length === 0 ? [] : [`(${what} ${types.join(" ")})`];
}

function localLines(types: readonly ValueType[]): string[] {
  return listOf("local", types).map((line) => `    ${line}`);
}

function quote(text: string): string {
  return `"${text.replaceAll(/["\\]/g, (each) => `\\${each}`)}"`;
}

function textOfInstruction(name: InstructionName, given: readonly Part[], functions: readonly string[]): string {
  let next = 0;
  const parts = immediateForms[instructionOf(name).immediates].flatMap((part): string[] => {
    if (part === "align" || part === "zero") return [];
    const value = given[next++];
    switch (part) {
      case "offset":
        return value === 0 ? [] : [`offset=${value}`];
      case "blockType":
        return value === "none" ? [] : [`(result ${value})`];
      case "index":
        return [name === "call" ? (functions[Number(value)] ?? String(value)) : String(value)];
      case "bytes16":
        return [name === "v128.const" ? vectorText(value) : listText(value)];
      case "indexes":
        return [listText(value)];
      case "f32":
      case "f64":
        return [floatText(Number(value))];
      default:
        return [String(value)];
    }
  });
  return [name, ...parts].join(" ");
}

function listText(value: Part): string {
  return Array.isArray(value) ? value.join(" ") : String(value);
}

/** Sixteen bytes as four integers, the lowest byte first. */
function vectorText(value: Part): string {
  const bytes = Uint8Array.from(Array.isArray(value) ? value : []);
  const view = new DataView(bytes.buffer);
  const lanes = [0, 4, 8, 12].map((at) => `0x${view.getUint32(at, true).toString(16)}`);
  return `i32x4 ${lanes.join(" ")}`;
}

function floatText(value: number): string {
  if (Number.isNaN(value)) return "nan";
  if (Number.isFinite(value)) return Object.is(value, -0) ? "-0" : String(value);
  return value > 0 ? "inf" : "-inf";
}
