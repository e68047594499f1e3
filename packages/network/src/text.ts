/**
 * Text for messages: names from files made harmless, shapes.
 */
import { plain } from "@nnhal/utils";

export { plain };

/** Any text as one line. */
export function oneLine(text: string): string {
  return plain(text.replace(/\s*[\r\n]+\s*/g, " "));
}

/** Extents as the HAL's documentation writes them. */
export function shapeText(shape: readonly number[]): string {
  return `[${shape.join(", ")}]`;
}

/** The shape of a tensor before a run: an extent that each run determines is `?`, and a rank that it determines has no brackets. */
export function openShapeText(shape: readonly number[]): string {
  return shape.length === 0 ? "of unknown shape" : `[${shape.map((extent) => (extent > 0 ? extent : "?")).join(", ")}]`;
}

/** The message of a thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
