/**
 * Extension data of operands as text.
 */
import { isExtensionType, type Vocabulary } from "@nnhal/operations";
import type { Operand } from "@nnhal/types";

/** The most bytes that are shown in hex. */
const mostBytes = 32;

/** The most characters of decoded data. */
const mostCharacters = 200;

/**
 * The extension data of an operand: what the codec of its type makes of the bytes, such as `{scale: 0.5, zeroPoint: 10}`, or the bytes
 * in hex if there is no codec or it refuses them; undefined if it has none.
 */
export function extensionDataText(
  { type, extraParams }: Operand,
  { operandTypeByCode }: Pick<Vocabulary, "operandTypeByCode">,
): string | undefined {
  if (extraParams.kind !== "extension") return undefined;
  const bytes = extraParams.extension;
  const known = operandTypeByCode(type);
  if (!isExtensionType(known) || known.params === undefined) return hexText(bytes);
  try {
    return shorten(valueText(known.params.decode(bytes)), mostCharacters);
  } catch {
    // A codec is foreign code, and the model need not be valid.
    return hexText(bytes);
  }
}

function hexText(bytes: Uint8Array): string {
  const hex = Array.from(bytes.subarray(0, mostBytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
  return bytes.length > mostBytes ? `0x${hex}… (${bytes.length} bytes)` : `0x${hex}`;
}

/** Decoded data as text: plain objects and lists with their members, anything else as JavaScript writes it. */
function valueText(value: unknown, depth = 0): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value !== "object" || value === null) return String(value);
  if (depth > 3) return "…";
  if (Array.isArray(value) || ArrayBuffer.isView(value)) {
    // A view of numbers, or a DataView, which has no items.
    const items = Array.from(value as ArrayLike<unknown>, (item) => valueText(item, depth + 1));
    return `[${items.join(", ")}]`;
  }
  return `{${Object.entries(value)
    .map(([name, member]) => `${name}: ${valueText(member, depth + 1)}`)
    .join(", ")}}`;
}

function shorten(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most)}…` : text;
}
