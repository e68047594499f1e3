/**
 * Rewrites 8-bit convolutions so that their weights have the zero point 0, with the same results bit for bit. onnxruntime has kernels
 * for such weights that take half the time: they read the image in place, and need no sums of it.
 *
 * A weight less its zero point has 9 bits. Networks that are trained with quantisation use the whole range, so nearly each convolution
 * has one or two weights beyond 8 bits. Such a weight is divided: the image gets a copy of the channel that it multiplies, and what
 * does not fit multiplies the copy. The convolution that makes the channel makes the copy too.
 *
 * A depthwise convolution does not add channels, so its weights cannot be divided. A narrow convolution beside it, which reads only a
 * few channels, computes the ones in question and the copies that the next convolution needs.
 */
import { elementAt } from "@nnhal/operations";
import type { Initializer, Node, OnnxGraph } from "../onnx/write.ts";
import {
  buildForm,
  type Column,
  type Convolution,
  convolutionOf,
  type Form,
  type Formed,
  numberOf,
} from "./convolution-8.ts";
import { type Fold, foldedImage, foldForm, foldOf } from "./folded.ts";

/** Number of channels that kernels read together. */
const inputAlignment = 4;
/** Number of channels that kernels compute together. Those of depthwise convolutions support no other number; the others at least it. */
const outputAlignment = 16;
/** Fewest channels of a convolution for which an additional narrow one costs less than it saves. */
const leastChannels = 64;
/** More copies than this share of the channels cost more than they save. */
const mostCopies = 1 / 4;
/** The same without a narrow convolution, with channels added until kernels compute them in full groups. */
const mostAdded = 1 / 3;

/** The channels of an image, and copies of some behind them. */
interface Image {
  /** The channels that it had, less those that are wrong. */
  readonly columns: readonly Column[];
}

/** A depthwise convolution with an additional narrow one. */
interface Pair extends Image {
  /** The channels that the narrow convolution reads. */
  readonly read: readonly Column[];
  /** The channels that it computes. */
  readonly rows: readonly number[];
}

/** Replacements for the convolutions of a graph. */
interface Plan {
  /** By the names of their results. */
  readonly convolutions: ReadonlyMap<string, Convolution>;
  /** Images with copies, by name. */
  readonly images: ReadonlyMap<string, Image | Pair>;
  /** By the depthwise convolution. */
  readonly pairs: ReadonlyMap<Convolution, Pair>;
  /** By the image that the depthwise convolution reads. */
  readonly followers: ReadonlyMap<string, Pair>;
  readonly folds: ReadonlyMap<Convolution, Fold>;
}

/** Returns the graph with as many symmetric convolutions as possible. */
export function withSymmetricWeights(graph: OnnxGraph): OnnxGraph {
  const constants = new Map(graph.initializers.map((each) => [each.name, each]));
  const plan = planOf(graph, constants);
  const nodes: Node[] = [];
  const add = (added: Formed) => {
    nodes.push(...added.nodes);
    for (const each of added.initializers) constants.set(each.name, each);
  };
  const foldedImages = new Map<string, string>();
  const addForm = (convolution: Convolution, form: Form) => {
    const added = buildForm(convolution, form);
    const fold = plan.folds.get(convolution);
    if (fold === undefined) return add(added);
    let image = foldedImages.get(form.input);
    if (image === undefined) {
      const made = foldedImage(form.input, fold, (form.columns?.length ?? fold.channels) / fold.channels);
      add(made);
      image = made.name;
      foldedImages.set(form.input, image);
    }
    add(foldForm(added, fold, image));
  };
  for (const node of graph.nodes) {
    const convolution = plan.convolutions.get(elementAt(node.outputs, 0));
    if (convolution === undefined) nodes.push(node);
    else for (const form of formsOf(convolution, plan)) addForm(convolution, form);
    const pair = convolution && plan.pairs.get(convolution);
    if (convolution !== undefined && pair !== undefined && pair.rows.length > 0) {
      const { output } = convolution;
      const inputs = [output, narrow(output)];
      const attributes = { axis: { int: 3 } };
      nodes.push({ operator: "Concat", domain: "", inputs, outputs: [join(output)], attributes });
    }
  }
  const used = new Set(nodes.flatMap(({ inputs }) => inputs));
  return { ...graph, nodes, initializers: [...constants.values()].filter(({ name }) => used.has(name)) };
}

/**
 * Returns the forms that replace a convolution: itself in another form, and a narrow one if a depthwise convolution has
 * or needs one.
 */
function formsOf(convolution: Convolution, { images, pairs, followers }: Plan): readonly Form[] {
  const { input: image, output, isDepthwise, beyond } = convolution;
  const pair = pairs.get(convolution);
  if (pair !== undefined) {
    const wide: Form = { input: image, output, isSymmetric: true };
    if (pair.rows.length === 0) return [wide];
    const { read: columns, rows } = pair;
    return [wide, { input: narrow(image), output: narrow(output), columns, rows, isSymmetric: true, isDense: true }];
  }
  const from = images.get(image);
  const input = from !== undefined && "rows" in from ? join(image) : image;
  const columns = isDepthwise ? undefined : from?.columns;
  const isExact = beyond.length === 0 || columns !== undefined;
  const follower = followers.get(output);
  const rows = images.get(output)?.columns.map(({ channel }) => channel);
  const wide: Form = { input, output, columns, rows, isSymmetric: isExact || follower !== undefined };
  if (follower === undefined || follower.rows.length === 0) return [wide];
  const few = follower.read.map(({ channel }) => channel);
  return [wide, { input, output: narrow(output), columns, rows: few, isSymmetric: isExact }];
}

function planOf(graph: OnnxGraph, constants: ReadonlyMap<string, Initializer>): Plan {
  const convolutions = new Map<string, Convolution>();
  const readers = new Map<string, Node[]>();
  for (const node of graph.nodes) {
    for (const input of node.inputs) {
      const known = readers.get(input);
      if (known === undefined) readers.set(input, [node]);
      else known.push(node);
    }
    const convolution = convolutionOf(node, constants);
    if (convolution !== undefined) convolutions.set(convolution.output, convolution);
  }
  const candidates = pairable(convolutions, readers);
  const images: Map<string, Image | Pair> = widenImages(graph, convolutions, candidates);
  const folds = new Map<Convolution, Fold>();
  for (const convolution of convolutions.values()) {
    const { input, beyond } = convolution;
    if (readers.get(input)?.length !== 1 || convolutions.has(input)) continue;
    const fold = foldOf(convolution, graph.shapes);
    if (fold === undefined) continue;
    folds.set(convolution, fold);
    const own = allChannels(fold.channels);
    const rests = own.map(({ channel }): Column => ({ channel, part: "rest" }));
    if (beyond.length > 0) images.set(input, { columns: [...own, ...rests] });
  }
  const pairs = new Map<Convolution, Pair>();
  const followers = new Map<string, Pair>();
  for (const [depthwise, { before, after }] of candidates) {
    const isExact = before.beyond.length === 0 || images.has(before.input);
    const alignment = isExact
      ? Math.max(inputAlignment, outputAlignment / (folds.get(before)?.outputs ?? 1))
      : inputAlignment;
    const pair = pairOf(depthwise, isExact ? [] : before.beyond, after, alignment);
    if (pair === undefined) continue;
    pairs.set(depthwise, pair);
    followers.set(depthwise.input, pair);
    if (pair.rows.length > 0) images.set(depthwise.output, pair);
  }
  return { convolutions, images, pairs, followers, folds };
}

const narrow = (name: string) => `${name}-narrow`;
const join = (name: string) => `${name}-joined`;

/** The depthwise convolutions that can have an additional narrow one. */
function pairable(convolutions: ReadonlyMap<string, Convolution>, readers: ReadonlyMap<string, readonly Node[]>) {
  const found = new Map<Convolution, { readonly before: Convolution; readonly after: readonly Convolution[] }>();
  for (const depthwise of convolutions.values()) {
    const { isDepthwise, dims, input, output } = depthwise;
    const [channels = 0] = dims;
    if (!isDepthwise || channels % outputAlignment !== 0 || channels < leastChannels) continue;
    const before = convolutions.get(input);
    if (before === undefined || before.isDepthwise || readers.get(input)?.length !== 1) continue;
    const all = readers.get(output) ?? [];
    const after = all.map(({ outputs: [name = ""] }) => convolutions.get(name)).filter((each) => each !== undefined);
    if (after.length < all.length || after.some((each) => each.isDepthwise)) continue;
    found.set(depthwise, { before, after });
  }
  return found;
}

/**
 * `lost` are the outputs that the convolution before does not compute right. The narrow convolution reads a multiple of `alignment`
 * channels. Undefined if there would be too many copies.
 */
function pairOf(
  { dims, beyond }: Convolution,
  lost: Convolution["beyond"],
  after: readonly Convolution[],
  alignment: number,
): Pair | undefined {
  const channels = elementAt(dims, 0);
  const divided = new Set(beyond.map(({ output }) => output));
  const wrong = new Set([...divided, ...lost.map(({ output }) => output)]);
  const rests = new Set(after.flatMap((each) => each.beyond.map(({ input }) => input)));
  const copies: Column[] = [
    ...Array.from(wrong, (channel): Column => ({ channel, part: "most" })),
    ...Array.from(rests, (channel): Column => ({ channel, part: "rest" })),
  ];
  if (copies.length > channels * mostCopies) return undefined;
  if (copies.length === 0) return { columns: allChannels(channels), read: [], rows: [] };
  const read: Column[] = [
    ...Array.from(new Set([...wrong, ...rests]), (channel): Column => ({ channel, part: "most" })),
    ...Array.from(divided, (channel): Column => ({ channel, part: "rest" })),
  ];
  fill(read, alignment);
  fill(copies, outputAlignment);
  const own = allChannels(channels).map((each): Column => (wrong.has(each.channel) ? { ...each, part: "none" } : each));
  return { columns: [...own, ...copies], read, rows: copies.map(({ channel }) => channel) };
}

function allChannels(count: number): Column[] {
  return Array.from({ length: count }, (_, channel) => ({ channel, part: "most" }));
}

function fill(columns: Column[], alignment: number): void {
  while (columns.length % alignment > 0) columns.push({ channel: 0, part: "none" });
}

/** Images that have the same channels, because operations between them keep the channels apart. */
interface Group {
  readonly names: string[];
  /** The channels that the convolutions make; undefined if something else makes them, or reads them. */
  channels: number | undefined;
  readonly rests: Set<number>;
  alignment: number;
}

/** Images that get copies of channels by the convolutions that make them. */
function widenImages(
  { nodes, inputs }: OnnxGraph,
  convolutions: ReadonlyMap<string, Convolution>,
  paired: ReadonlyMap<Convolution, unknown>,
): Map<string, Image> {
  const groups = new Map<string, Group>();
  const groupOf = (name: string): Group => {
    let group = groups.get(name);
    if (group === undefined) {
      group = { names: [name], channels: 0, rests: new Set(), alignment: inputAlignment };
      groups.set(name, group);
    }
    return group;
  };
  const merge = (one: Group, other: Group) => {
    if (one === other) return;
    one.names.push(...other.names);
    if (one.channels === undefined || other.channels === undefined) one.channels = undefined;
    else if (one.channels * other.channels !== 0 && one.channels !== other.channels) one.channels = undefined;
    else one.channels = one.channels || other.channels;
    for (const rest of other.rests) one.rests.add(rest);
    one.alignment = Math.max(one.alignment, other.alignment);
    for (const name of other.names) groups.set(name, one);
  };
  const fix = (name: string) => {
    groupOf(name).channels = undefined;
  };
  const made = new Set(inputs.map(({ name }) => name));
  for (const name of made) fix(name);
  for (const node of nodes) {
    const output = elementAt(node.outputs, 0);
    const read = node.inputs.filter((name) => made.has(name));
    for (const name of node.outputs) made.add(name);
    const convolution = convolutions.get(output);
    const group = groupOf(output);
    if (convolution !== undefined && !convolution.isDepthwise) {
      for (const { input } of convolution.beyond) groupOf(convolution.input).rests.add(input);
      group.channels = elementAt(convolution.dims, 0);
    } else if (convolution !== undefined && !paired.has(convolution)) {
      group.alignment = outputAlignment;
      merge(groupOf(convolution.input), group);
    } else if (convolution === undefined && keepsChannels(node) && read.length === keepsChannels(node)) {
      for (const name of read) merge(groupOf(name), groupOf(output));
    } else {
      for (const name of [...read, ...node.outputs]) fix(name);
    }
  }
  const images = new Map<string, Image>();
  for (const [name, { channels, rests, alignment }] of groups) {
    if (!channels || rests.size === 0) continue;
    const copies = Array.from(rests, (channel): Column => ({ channel, part: "rest" }));
    const columns = [...allChannels(channels), ...copies];
    fill(columns, alignment);
    if (columns.length > channels * (1 + mostAdded)) continue;
    images.set(name, { columns });
  }
  return images;
}

/** Returns the number of images that an operator reads if it keeps any number of channels apart; 0 for other operators. */
function keepsChannels({ operator, attributes }: Node): number {
  if (operator === "QLinearAdd") return 2;
  if (operator === "Clip" || operator === "NhwcMaxPool") return 1;
  return operator === "QLinearAveragePool" && numberOf(attributes.channels_last) === 1 ? 1 : 0;
}
