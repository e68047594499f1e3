/** Models in the log. Browsers have log-graph.browser.ts in place of this file: see package.json. */
import type { Model } from "@nnhal/types";
import type { Logger, VLogTag } from "@nnhal/utils";
import { graphDump, logStream } from "@nnhal/utils/graph";

/** Writes a model to the log as Graphviz text. */
export function logGraph(name: string, model: Model, log: Logger, tag: VLogTag): void {
  graphDump(name, model, logStream(log, tag));
}
