/**
 * @nnhal/utils/graph: models as drawings of Graphviz and as plain objects. A program that shows no models does not load it.
 */
export type { ShownValue } from "./constant-value.ts";
export { type DotOptions, dotVisitor } from "./dot.ts";
export { createDotWriter, type DotAttributes, type DotWriter, escapeLabel } from "./dot-writer.ts";
export { extensionDataText } from "./extension-data.ts";
export { type GraphDumpOptions, type GraphDumpStream, graphDump, logStream } from "./graph-dump.ts";
export { type GraphJson, type GraphJsonSubgraph, graphToJson } from "./json.ts";
export {
  type GraphVisitor,
  type OperandDescription,
  type OperationDescription,
  type SubgraphDescription,
  visitGraph,
} from "./visit.ts";
