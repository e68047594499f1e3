/**
 * From a text to the inputs of a model, as the Task Library of TensorFlow Lite fills them.
 */
import { check, NetworkError } from "../error.ts";
import { infoText, type TensorInfo } from "../tensor-info.ts";
import { failTokenizer, type Tokenizer, type TokenizerInfo } from "../tokenizer.ts";
import { kindOf, type PlainValue } from "../values.ts";
import { tokenizerOf } from "./create-tokenizer.ts";
import { regexTokens } from "./regex.ts";

/** The most UTF-16 units of a text. */
const MOST_LENGTH = 2 ** 22;

type TextInfo = TensorInfo & { readonly tokenizer: TokenizerInfo };

/** The values of all inputs by name for a text. Throws a NetworkError: WRONG_TASK for a model that takes no text. */
export function textInputs(task: string, inputs: readonly TensorInfo[], text: string): Record<string, PlainValue> {
  check(typeof text === "string", "WRONG_TYPE", () => `${task}: expected a text, got ${kindOf(text)}`);
  const isFit = text.length <= MOST_LENGTH;
  check(isFit, "WRONG_SIZE", () => `${task}: the text has ${text.length} characters; ${MOST_LENGTH} are the most`);
  if (inputs.length > 0 && inputs.every(({ type }) => type === "string")) return stringInputs(task, inputs, text);
  const ids = inputs.filter((info): info is TextInfo => info.tokenizer !== undefined && info.type !== "string");
  const [first] = ids;
  if (first === undefined || ids.length !== inputs.length)
    throw wrongTask(task, inputs, "inputs of strings, or a tokenizer in its metadata");
  if (first.tokenizer.kind === "regex") {
    if (ids.length > 1) throw wrongTask(task, inputs, "one input for its tokenizer of words");
    return { [first.name]: wordValue(task, first, text) };
  }
  return pieceInputs(task, ids, first.tokenizer, text);
}

function wrongTask(task: string, inputs: readonly TensorInfo[], wanted: string): NetworkError {
  const list = inputs.map(infoText).join(", ");
  return new NetworkError("WRONG_TASK", `${task}: expected a model with ${wanted}; the inputs are ${list}`);
}

/** The text for the only input; of the universal sentence encoder's three, for the response. */
function stringInputs(task: string, inputs: readonly TensorInfo[], text: string): Record<string, PlainValue> {
  const response = findLike(inputs, /res(ponse)?_text/);
  const wanted = inputs.length === 1 ? inputs[0] : response;
  if (wanted === undefined) throw wrongTask(task, inputs, "one input of strings, or one that is called response_text");
  return Object.fromEntries(inputs.map((info) => [info.name, [info === wanted ? text : ""]]));
}

function findLike(inputs: readonly TensorInfo[], name: RegExp): TensorInfo | undefined {
  return inputs.find((info) => [info.name, ...info.otherNames].some((each) => name.test(each.toLowerCase())));
}

/** The extents of an input for a text, and how many tokens it takes: any number if its last extent is open. */
function lengthOf(task: string, info: TensorInfo): { readonly length: number; readonly isOpen: boolean } {
  const isRow = info.shape.length === 0 || info.shape.slice(0, -1).every((extent) => extent <= 1);
  if (!isRow) throw wrongTask(task, [info], "inputs of one text, of the shape [1, tokens]");
  const length = info.shape.at(-1) ?? 0;
  return { length, isOpen: length === 0 };
}

function tooShort(frame: number): string {
  return `inputs of one length, of at least ${frame + 1} tokens (load it with dynamicShapes or inputShapes)`;
}

function rowOf(info: TensorInfo, data: readonly number[]): PlainValue {
  const before = info.shape.length === 0 ? [1] : info.shape.slice(0, -1).map(() => 1);
  return { data, shape: [...before, data.length] };
}

/** Words: the token of the start if the vocabulary has one, then tokens, then padding. */
function wordValue(task: string, info: TextInfo, text: string): PlainValue {
  const tokenizer = tokenizerOf(info.tokenizer);
  const { length, isOpen } = lengthOf(task, info);
  const start = tokenizer.idOf(regexTokens.start);
  const head = start === undefined ? [] : [start];
  if (!isOpen && length <= head.length) throw wrongTask(task, [info], tooShort(head.length));
  const most = isOpen ? Number.POSITIVE_INFINITY : length - head.length;
  const ids = [...head, ...tokenizer.encode(text, most).map(({ id }) => id)];
  return rowOf(info, padIds(ids, isOpen ? Math.max(1, ids.length) : length, tokenizer.idOf(regexTokens.pad) ?? 0));
}

function padIds(ids: readonly number[], length: number, pad: number): readonly number[] {
  return [...ids, ...Array<number>(length - ids.length).fill(pad)];
}

/** Which input is which, by name, else by place as the Task Library has it. */
function pieceRoles(task: string, inputs: readonly TextInfo[]) {
  const byName = {
    segments: findLike(inputs, /segment|type/),
    mask: findLike(inputs, /mask/),
  };
  const ids = inputs.find((info) => info !== byName.segments && info !== byName.mask);
  const isNamed = (byName.segments !== undefined ? 1 : 0) + (byName.mask !== undefined ? 1 : 0) === inputs.length - 1;
  if (ids !== undefined && isNamed) return { ids, ...byName };
  const [first, segments, mask] = inputs;
  if (inputs.length === 3 && first !== undefined) return { ids: first, segments, mask };
  throw wrongTask(task, inputs, "inputs of ids, and none or one each of mask and segment_ids");
}

/** Pieces between the tokens that begin and end a text, their mask, and segments of 0. */
function pieceInputs(
  task: string,
  inputs: readonly TextInfo[],
  info: TokenizerInfo,
  text: string,
): Record<string, PlainValue> {
  const roles = pieceRoles(task, inputs);
  const tokenizer = tokenizerOf(info);
  const { begin, end, pad } = framesOf(tokenizer, info.kind === "bert", inputs.length > 1);
  const { length, isOpen } = lengthOf(task, roles.ids);
  const frame = begin.length + end.length;
  for (const each of inputs) {
    const own = lengthOf(task, each).length;
    if (own !== length || (!isOpen && length <= frame)) throw wrongTask(task, inputs, tooShort(frame));
  }
  const most = isOpen ? Number.POSITIVE_INFINITY : length - frame;
  const ids = [...begin, ...tokenizer.encode(text, most).map(({ id }) => id), ...end];
  const size = isOpen ? Math.max(1, ids.length) : length;
  const values: [string, PlainValue][] = [[roles.ids.name, rowOf(roles.ids, padIds(ids, size, pad))]];
  const ones = padIds(
    ids.map(() => 1),
    size,
    0,
  );
  if (roles.mask !== undefined) values.push([roles.mask.name, rowOf(roles.mask, ones)]);
  if (roles.segments !== undefined) values.push([roles.segments.name, rowOf(roles.segments, padIds([], size, 0))]);
  return Object.fromEntries(values);
}

/**
 * The tokens around a text, and for the rest of an input. A vocabulary of BERT has [CLS] and [SEP]. SentencePiece has them, or tokens of its own,
 * where the model takes a mask or segments; a single input takes the pieces alone.
 */
function framesOf(tokenizer: Tokenizer, isBert: boolean, hasMask: boolean) {
  const tokenOf = (name: string, id: number | undefined) => {
    const known = tokenizer.idOf(name) ?? id;
    if (known === undefined && isBert) failTokenizer(`its vocabulary has no ${name}`);
    return known === undefined || !(isBert || hasMask) ? [] : [known];
  };
  return {
    begin: tokenOf("[CLS]", tokenizer.begin),
    end: tokenOf("[SEP]", tokenizer.end),
    pad: tokenizer.idOf("[PAD]") ?? tokenizer.idOf("<pad>") ?? 0,
  };
}
