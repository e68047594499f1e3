/** The lines of a file. */
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";

/** Yields the lines; the file is closed at the end, also if the reader stops early. */
export async function* linesOf(file: string): AsyncGenerator<string> {
  const input = createReadStream(file);
  try {
    yield* createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
  } finally {
    input.destroy();
  }
}
