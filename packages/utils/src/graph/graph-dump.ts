/**
 * GraphDump: a model as Graphviz text (GraphDump.h).
 */
import type { Model } from "@nnhal/types";
import { defaultLogger, type Logger } from "../log/logger.ts";
import type { VLogTag } from "../log/vlog-mask.ts";
import { type DotOptions, dotVisitor } from "./dot.ts";
import { type VisitOptions, visitGraph } from "./visit.ts";

/** Options of a dump: of the drawing, and of the walk. */
export interface GraphDumpOptions extends DotOptions, VisitOptions {}

/** Accepts text, one whole line with its end at a time; such as a stream of Node.js. */
export interface GraphDumpStream {
  write(line: string): unknown;
}

/**
 * Writes a model as Graphviz text, with referenced subgraphs as clusters inside the one that names them first. The
 * first line is a comment with the name. Default for `stream`: the information of the default logger.
 *
 * The model need not be valid: a dump shows its faults.
 */
export function graphDump(
  name: string,
  model: Model,
  stream: GraphDumpStream = logStream(defaultLogger),
  options: GraphDumpOptions = {},
): void {
  visitGraph(
    name,
    model,
    dotVisitor((line) => stream.write(`${line}\n`), options),
    options,
  );
}

/** Makes a stream that logs each line as a separate message, so that none is cut off. */
export function logStream(logger: Logger, tag?: VLogTag): GraphDumpStream {
  return { write: (line) => logger.info(line.replace(/\n$/, ""), tag) };
}
