/** Models in the log of a browser: few programs show any, so what draws them is loaded when one does. */
import type { Model } from "@nnhal/types";
import { type Logger, loadOnce, type VLogTag } from "@nnhal/utils";

const drawing = loadOnce(() => import("@nnhal/utils/graph"));

/** Writes a model to the log as Graphviz text, once what draws it is loaded. If it cannot be loaded, the log says so. */
export function logGraph(name: string, model: Model, log: Logger, tag: VLogTag): void {
  drawing()
    .then(({ graphDump, logStream }) => graphDump(name, model, logStream(log, tag)))
    .catch((error: unknown) => log.warning(`${name} cannot be drawn: ${error}`));
}
