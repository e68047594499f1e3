import { modelIssues } from "@nnhal/validation";
import { beforeAll, describe, expect, it } from "vitest";
import { createRandom } from "../random/random.ts";
import { type Example, subgraphsOf } from "../vectors/example.ts";
import { modelOf } from "../vectors/model.ts";
import { parseExample } from "../vectors/parse.ts";
import { exampleLine } from "../vectors/write.ts";
import { evaluate, operationOf } from "./evaluate.ts";
import { drawGraph } from "./generate.ts";
import { allSignatures } from "./operations.ts";

const count = 120;
let graphs: readonly Example[];
beforeAll(() => {
  graphs = Array.from({ length: count }, (_, index) => drawGraph(1, index));
}, 120_000);

describe("random graphs", () => {
  it("are valid models", () => {
    for (const example of graphs) {
      const issues = modelIssues(modelOf({ name: example.name, example, unspecifiedOutputs: false }));
      expect(issues, example.name).toEqual([]);
    }
  });

  it("follow from their seed and number", () => {
    expect(exampleLine(drawGraph(1, 7))).toBe(exampleLine(graphs[7] ?? drawGraph(0, 0)));
    const others = [drawGraph(2, 7), drawGraph(1, 8), drawGraph(1, 7, 1)].map(({ main }) => main);
    for (const other of others) expect(other).not.toEqual(graphs[7]?.main);
  });

  it("can be written to files, and read", () => {
    // The outputs are not stated yet.
    const asModel = { forValidation: true };
    for (const graph of graphs.slice(0, 20)) expect(parseExample(exampleLine(graph), asModel)).toEqual(graph);
  });

  it("have results, and what single operations have not", () => {
    const isIn = (found: (graph: Example) => boolean) => graphs.filter(found).length / count;
    const hasOperation = (type: string) => (graph: Example) => graph.main.operations.some((one) => one.type === type);
    const isShared = (lifetime: string) => (graph: Example) =>
      graph.main.operands.some((operand) => operand.lifetime === lifetime && operand.numberOfConsumers > 1);
    const shares = {
      if: isIn(hasOperation("IF")),
      while: isIn(hasOperation("WHILE")),
      nested: isIn(({ referenced }) =>
        referenced.some(({ operations }) => operations.some(({ type }) => type === "IF")),
      ),
      sharedCopies: isIn(isShared("CONSTANT_COPY")),
      sharedReferences: isIn(isShared("CONSTANT_REFERENCE")),
      severalReaders: isIn(isShared("TEMPORARY_VARIABLE")),
      outputsThatAreRead: isIn(isShared("SUBGRAPH_OUTPUT")),
      severalOutputs: isIn(({ main }) => main.outputIndexes.length > 1),
      omitted: isIn(({ main }) => main.operands.some(({ lifetime }) => lifetime === "NO_VALUE")),
      unknownExtents: isIn(({ main }) =>
        main.operands.some(({ lifetime, dimensions }) => lifetime === "TEMPORARY_VARIABLE" && dimensions.includes(0)),
      ),
      unknownInputs: isIn(({ main }) => main.operands.some(({ isUnspecified }) => isUnspecified)),
      empty: isIn((graph) => {
        const evaluation = evaluate(graph, createRandom(1));
        if ("refused" in evaluation) expect.fail(`${graph.name} has no results: ${evaluation.refused}`);
        return evaluation.values.some((value) => value?.data.length === 0);
      }),
    };
    for (const [what, share] of Object.entries(shares)) expect(share, what).toBeGreaterThan(0.02);
    const operations = graphs.map(({ main }) => main.operations.length);
    expect(Math.max(...operations)).toBeGreaterThan(25);
    expect(operations.reduce((a, b) => a + b) / count).toBeGreaterThan(10);
  });

  it("have every operation, and nearly every list of types whose turn it was", () => {
    const listOf = (name: string, row: readonly unknown[]) => `${name} ${row.join(" ")}`;
    const operations = new Set<string>();
    const lists = new Set<string>();
    const inTurn = new Set<string>();
    for (const [index, graph] of graphs.entries()) {
      for (const { operations: own, operands } of subgraphsOf(graph)) {
        for (const operation of own) {
          operations.add(operation.type);
          const signature = operationOf(operation, operands, [])?.signature;
          if (signature !== undefined) lists.add(listOf(operation.type, signature.row));
        }
      }
      const turn = allSignatures[index];
      if (turn !== undefined) inTurn.add(listOf(turn.operation.name, turn.row));
    }
    const names = new Set([...allSignatures.map(({ operation }) => operation.name), "IF", "WHILE"]);
    expect([...names].filter((name) => !operations.has(name))).toEqual([]);
    // Chance alone has found some of them before their turn.
    const missing = [...inTurn].filter((list) => !lists.has(list));
    expect(missing.length, missing.join(", ")).toBeLessThan(inTurn.size / 20);
    expect(lists.size).toBeGreaterThan(250);
  });
});
