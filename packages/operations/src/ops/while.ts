/**
 * WHILE: runs a body subgraph as long as a condition subgraph says so. The executor interprets it; what stands here is
 * its signature and the rule that ties it to its subgraphs.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { any, subgraph, variadic } from "../params.ts";

export const while_ = defineOperation({
  name: "WHILE",
  code: OperationType.WHILE,
  summary: "Runs a body subgraph as long as a condition subgraph gives true; the body's outputs are its next inputs.",
  params: [subgraph("condition"), subgraph("body"), variadic(any("inputs"))],
  outputs: [variadic(any("outputs"))],
  types: [["1.3"]],
  controlFlow: true,
});
