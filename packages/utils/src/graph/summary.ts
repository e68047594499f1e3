/**
 * A model in one line, for logs.
 */
import type { Model } from "@nnhal/types";

/** `66 operations, 180 operands, 1 input, 1 output`, and the number of referenced subgraphs if there are any. */
export function modelSummary({ main, referenced }: Model): string {
  const parts = [
    countText(main.operations.length, "operation"),
    countText(main.operands.length, "operand"),
    countText(main.inputIndexes.length, "input"),
    countText(main.outputIndexes.length, "output"),
  ];
  if (referenced.length > 0) parts.push(countText(referenced.length, "referenced subgraph"));
  return parts.join(", ");
}

function countText(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
