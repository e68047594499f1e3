/**
 * Many small examples as one: preparing a model takes most of the time of a small one on an emulated processor.
 */
import type { Example, ExampleOperand } from "@nnhal/conformance";

/**
 * The examples side by side in groups of `size`, each group as one example. Each must have one graph and no control flow.
 */
export function packExamples(examples: Iterable<Example>, size: number): readonly Example[] {
  const packs: Example[] = [];
  let group: Example[] = [];
  for (const example of examples) {
    group.push(example);
    if (group.length < size) continue;
    packs.push(sideBySide(group));
    group = [];
  }
  return group.length === 0 ? packs : [...packs, sideBySide(group)];
}

function sideBySide(examples: readonly Example[]): Example {
  const [first] = examples;
  if (first === undefined) throw new RangeError("expected at least one example to pack, got none");
  const operands: ExampleOperand[] = [];
  const graphs = examples.map(({ main, referenced, name }) => {
    if (referenced.length > 0) throw new RangeError(`${name} has subgraphs: it cannot be packed`);
    const offset = operands.length;
    operands.push(...main.operands);
    const move = (indexes: readonly number[]) => indexes.map((index) => index + offset);
    return {
      inputs: move(main.inputIndexes),
      outputs: move(main.outputIndexes),
      operations: main.operations.map((each) => ({
        ...each,
        inputs: move(each.inputs),
        outputs: move(each.outputs),
      })),
    };
  });
  return {
    ...first,
    name: examples.map(({ name }) => name).join(" "),
    main: {
      operands,
      inputIndexes: graphs.flatMap(({ inputs }) => inputs),
      outputIndexes: graphs.flatMap(({ outputs }) => outputs),
      operations: graphs.flatMap(({ operations }) => operations),
    },
  };
}
