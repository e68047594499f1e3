/**
 * A model as Graphviz text. By default every operand is a node, as in Android's dumps; with constants inside their
 * operations only other operands are, which keeps large networks readable.
 */
import { createDotWriter, type DotAttributes, escapeLabel, nodeName } from "./dot-writer.ts";
import { kindOf } from "./kinds.ts";
import { codeName, isHideable, quantisationText, valueText } from "./operand-text.ts";
import type { GraphVisitor, OperandDescription, SubgraphDescription } from "./visit.ts";

/** Options of a drawing. */
export interface DotOptions {
  /**
   * The form of constants and omitted operands: as `nodes`, or `inside` the operations that read them. Default: nodes.
   * With `inside`, operations are coloured by kind, and show their operands' names, the names of activation and padding
   * codes, and the scale and zero point of quantised tensors.
   */
  readonly constants?: "nodes" | "inside" | undefined;
}

/** An operand that is drawn inside operations. */
interface HiddenOperand {
  readonly operand: OperandDescription;
  /** True once an operation has shown it. */
  isShown: boolean;
}

/** The subgraph that is being written. */
interface Scope {
  readonly subgraph: SubgraphDescription;
  readonly hidden: Map<number, HiddenOperand>;
  /** The subgraph that contains it; undefined for the main one. */
  readonly around: Scope | undefined;
}

/** A visitor that writes Graphviz text, one line at a time. */
export function dotVisitor(writeLine: (line: string) => void, { constants = "nodes" }: DotOptions = {}): GraphVisitor {
  const dot = createDotWriter(writeLine);
  const isInside = constants === "inside";
  let scope: Scope | undefined;
  /** A node of each referenced subgraph, for edges to end at. */
  const anchors = new Map<number, string>();
  /** Nodes that name a subgraph, and its index. */
  const references: { readonly from: string; readonly to: number }[] = [];

  /** Operands are named `d` and operations `n`; behind `s` and its index those of a referenced subgraph. */
  const nameOf = (letter: "d" | "n", index: number) => {
    const subgraph = scope?.subgraph.index;
    return nodeName(`${subgraph === undefined ? "" : `s${subgraph}`}${letter}`, index);
  };
  const writeOperand = (operand: OperandDescription) => {
    const name = nameOf("d", operand.index);
    const isBorder = operand.input !== undefined || operand.output !== undefined;
    const style: DotAttributes = isBorder ? { style: "filled", fillcolor: "black", fontcolor: "white" } : {};
    dot.node(name, {
      ...style,
      label: `${isInside ? nameText(operand) : ""}${operandLabel(operand)}${isInside ? behind("\\n", quantisationText(operand)) : ""}`,
    });
    if (operand.subgraph !== undefined) references.push({ from: name, to: operand.subgraph });
  };

  return {
    begin(name, { referenced }) {
      dot.comment(name);
      dot.open("digraph");
      // Lets edges end at the border of a cluster.
      if (referenced.length > 0) dot.set("compound", "true");
    },
    beginSubgraph(subgraph) {
      const { index, inputs } = subgraph;
      scope = { subgraph, hidden: new Map(), around: scope };
      if (index === undefined) return;
      dot.open(`subgraph cluster_${index}`);
      dot.set("label", `subgraph ${index}`);
      const [first] = inputs;
      if (first !== undefined) anchors.set(index, nameOf("d", first));
    },
    operand(operand) {
      if (isInside && isHideable(operand)) scope?.hidden.set(operand.index, { operand, isShown: false });
      else writeOperand(operand);
    },
    operation({ index, type, isKnown, inputs, outputs, inputNames }) {
      const name = nameOf("n", index);
      const title = `${index}: ${escapeLabel(type)}`;
      const lines: string[] = [];
      const edges: { readonly from: number; readonly label: string | number }[] = [];
      for (const [place, from] of inputs.entries()) {
        const parameter = inputNames[place] ?? place;
        const entry = scope?.hidden.get(from);
        if (entry === undefined) {
          edges.push({ from, label: isInside ? parameter : place });
          continue;
        }
        entry.isShown = true;
        const { operand } = entry;
        if (operand.subgraph !== undefined) references.push({ from: name, to: operand.subgraph });
        lines.push(hiddenLine(parameter, operand));
      }
      const most = Math.max(edges.length, outputs.length);
      dot.node(name, {
        shape: "box",
        ...(isInside && { style: "filled", fillcolor: kindOf({ type, isKnown }).color }),
        ...(most > 1 && { ordering: most === edges.length ? "in" : "out" }),
        label: lines.length === 0 ? title : [title, ...lines].map((line) => `${line}\\l`).join(""),
      });
      for (const { from, label } of edges) dot.edge(nameOf("d", from), name, edges.length > 1 ? { label } : {});
      for (const [place, to] of outputs.entries()) {
        dot.edge(name, nameOf("d", to), outputs.length > 1 ? { label: place } : {});
      }
      const subgraph = scope?.subgraph.index;
      if (subgraph !== undefined && !anchors.has(subgraph)) anchors.set(subgraph, name);
    },
    endSubgraph({ index }) {
      for (const { operand, isShown } of scope?.hidden.values() ?? []) if (!isShown) writeOperand(operand);
      scope = scope?.around;
      if (index !== undefined) dot.close();
    },
    end() {
      // Written after the clusters, because a node that is named inside a cluster belongs to it.
      for (const { from, to } of references) {
        const anchor = anchors.get(to);
        if (anchor !== undefined) dot.edge(from, anchor, { style: "dashed", lhead: `cluster_${to}` });
      }
      dot.close();
    },
  };
}

/** Short names of the types that are met most (GraphDump.cpp). */
const shortTypes: Readonly<Record<string, string>> = {
  FLOAT32: "F32",
  INT32: "I32",
  UINT32: "U32",
  TENSOR_FLOAT32: "TF32",
  TENSOR_INT32: "TI32",
  TENSOR_QUANT8_ASYMM: "TQ8A",
  OEM: "OEM",
  TENSOR_OEM_BYTE: "TOEMB",
};

/** The part of an operand's label for its lifetime. */
const lifetimeTexts: Readonly<Record<string, (operand: OperandDescription) => string>> = {
  CONSTANT_COPY: () => ": COPY",
  CONSTANT_REFERENCE: () => ": REF",
  NO_VALUE: () => ": NO",
  SUBGRAPH: () => ": SUBGRAPH",
  SUBGRAPH_INPUT: ({ input }) => ` = input[${input ?? "?"}]`,
  SUBGRAPH_OUTPUT: ({ output }) => ` = output[${output ?? "?"}]`,
  TEMPORARY_VARIABLE: () => "",
};

function operandLabel(operand: OperandDescription): string {
  return `${operand.index}${kindText(operand)}\\n${contentText(operand)}`;
}

/** An operand inside an operation: the same, after the name of the parameter. */
function hiddenLine(parameter: string | number, operand: OperandDescription): string {
  const code = behind(" ", codeName(parameter, operand.value));
  return `${parameter} (${operand.index}${kindText(operand)}) ${contentText(operand)}${code}${behind(" ", quantisationText(operand))}`;
}

/** A text with a separator before it, or nothing. */
function behind(separator: string, text: string | undefined): string {
  return text === undefined ? "" : `${separator}${text}`;
}

/** The name of a tensor as a separate line. */
function nameText({ name }: OperandDescription): string {
  return name === undefined ? "" : `${escapeLabel(name)}\\n`;
}

function kindText(operand: OperandDescription): string {
  const { lifetime } = operand;
  return lifetimeTexts[lifetime]?.(operand) ?? `: ${lifetime}`;
}

function contentText({ type, value, dimensions, subgraph, extensionData }: OperandDescription): string {
  const shownValue = value ?? subgraph;
  const data = extensionData === undefined ? "" : ` ${escapeLabel(extensionData)}`;
  return `${shortType(type)}${shownValue === undefined ? "" : ` = ${valueText(shownValue)}`}${shapeText(dimensions)}${data}`;
}

function shortType(type: string): string {
  return shortTypes[type] ?? escapeLabel(type);
}

function shapeText(dimensions: readonly number[]): string {
  return dimensions.length === 0 ? "" : `(${dimensions.join("x")})`;
}
