/**
 * Rules on one operand: its type and dimensions (2 – 5, 59), its quantisation (6 – 12) and extraParams (13 – 18). The location
 * of its value is checked in location.ts.
 */
import {
  type ExtensionOperandType,
  isExtensionType,
  type NamedFacts,
  OperationError,
  operandTypeText,
  typeText,
  vocabularyOf,
} from "@nnhal/operations";
import {
  type ExtensionNameAndPrefix,
  newestHalVersion,
  type Operand,
  type OperandExtraParams,
  OperandLifeTime,
  OperandType,
} from "@nnhal/types";
import { addIssue, type ModelContext, type OperandPlace, operandPath, requireVersion } from "./context.ts";
import { collectIssues, type Issue, show, showDimensions } from "./issues.ts";
import { checkLocation } from "./location.ts";
import type { RuleCode } from "./rules.ts";
import { isBytes, isNumberList, isObject, isUint32, isUint32List } from "./structure.ts";
import {
  extensionOf,
  extensionsSince,
  isExtensionOperandType,
  isOem,
  type KnownOperandType,
  knownOperandType,
  sizeOf,
  unknownPrefix,
} from "./type-ranges.ts";

/** Degrees to which later checks can trust an operand. */
export const Soundness = {
  /** A field does not hold the right kind of value. */
  garbage: 0,
  /** It breaks a rule. */
  wrong: 1,
  right: 2,
} as const;
export type Soundness = (typeof Soundness)[keyof typeof Soundness];

/** Sizes above this do not fit in a DataLocation. */
export const greatestSize = 0xffff_ffff;

/** Greatest float32. */
const greatestFloat = 3.4028234663852886e38;

/** Checks an operand. */
export function checkOperand(place: OperandPlace, operand: Operand | undefined): Soundness {
  const { context } = place;
  const { items } = context.issues;
  const before = items.length;
  if (!hasStructure(place, operand)) return Soundness.garbage;
  const type = knownOperandType(operand.type);
  if (type === undefined && !isExtensionOperandType(operand.type)) {
    addIssue(place, "operand-type", ".type", `${show(operand.type)} is not an operand type`);
    return Soundness.wrong;
  }
  const since = type?.since ?? extensionsSince;
  if (since > context.version) {
    const what = operandTypeText(operand.type, context.prefixes, context.vocabulary);
    const path = operandPath(place, ".type");
    requireVersion(context, since, "operand-type", path, what);
  }
  if (type === undefined) {
    const described = checkExtensionOperand(place, operand);
    checkLocation(place, operand, described && { ...described, name: typeText(described) });
  } else {
    checkDimensions(place, operand, type);
    checkScale(place, operand, type);
    checkZeroPoint(place, operand, type);
    checkExtraParams(place, operand, type);
    checkLocation(place, operand, type);
  }
  return items.length === before ? Soundness.right : Soundness.wrong;
}

/**
 * The rules that an operand breaks by its type, dimensions, scale and zeroPoint alone, for any source of its value. For models under
 * construction. `prefixes`: of the model, as far as they are known.
 */
export function operandTypeIssues(
  { type, dimensions, scale, zeroPoint }: Pick<Operand, "type" | "dimensions" | "scale" | "zeroPoint">,
  prefixes: readonly ExtensionNameAndPrefix[] = [],
): Issue[] {
  const location = { poolIndex: 0, offset: 0, length: 0 };
  const lifetime = type === OperandType.SUBGRAPH ? OperandLifeTime.SUBGRAPH : OperandLifeTime.TEMPORARY_VARIABLE;
  const extraParams = { kind: "none" } as const;
  const operand = { type, dimensions, scale, zeroPoint, numberOfConsumers: 0, lifetime, location, extraParams };
  const issues = collectIssues("operand", undefined, (list) => {
    const context: ModelContext = {
      version: newestHalVersion,
      mode: "runtime",
      vocabulary: vocabularyOf(prefixes, {}),
      prefixes,
      issues: list,
      requirements: undefined,
      referenced: [],
      operandValues: new Uint8Array(0),
      pools: [],
    };
    checkOperand({ context, at: "", index: 0 }, operand);
  });
  // Per-channel scales, subgraphs and the prefixes of extensions are set later.
  return issues.filter(({ code }) => !setLater.has(code));
}

const setLater: ReadonlySet<RuleCode> = new Set<RuleCode>(["channel-quant", "subgraph-location", "extension-prefix"]);

/** Returns whether every field of an operand holds the right kind of value; adds an issue if not. */
function hasStructure(place: OperandPlace, operand: Operand | undefined): operand is Operand {
  const garbage = findGarbage(operand);
  if (garbage === undefined) return true;
  const { field, value, needed } = garbage;
  const name = field.slice(1) || "the operand";
  addIssue(place, "structure", field, `${name}: expected ${needed}, got ${show(value)}`);
  return false;
}

/** A field that does not hold the right kind of value. */
interface Garbage {
  /** Such as `.scale`; "" is the operand itself. */
  readonly field: string;
  readonly value: unknown;
  readonly needed: string;
}

const numbers = ["type", "numberOfConsumers", "scale", "zeroPoint", "lifetime"] as const;
const unsigned = ["poolIndex", "offset", "length"] as const;

function findGarbage(operand: Operand | undefined): Garbage | undefined {
  if (!isObject(operand)) return { field: "", value: operand, needed: "an object" };
  for (const field of numbers) {
    if (typeof operand[field] !== "number") return { field: `.${field}`, value: operand[field], needed: "a number" };
  }
  const { dimensions, location, extraParams } = operand;
  if (!isUint32List(dimensions)) {
    return { field: ".dimensions", value: dimensions, needed: "an array of integers within [0, 2^32)" };
  }
  if (!isObject(location)) return { field: ".location", value: location, needed: "an object" };
  for (const field of unsigned) {
    if (isUint32(location[field])) continue;
    return { field: `.location.${field}`, value: location[field], needed: "an integer within [0, 2^32)" };
  }
  if (isExtraParams(extraParams)) return undefined;
  return { field: ".extraParams", value: extraParams, needed: "none, channelQuant or extension with its fields" };
}

function isExtraParams(extraParams: Operand["extraParams"]): boolean {
  if (!isObject(extraParams)) return false;
  switch (extraParams.kind) {
    case "none":
      return true;
    case "channelQuant": {
      const { channelQuant } = extraParams;
      return isObject(channelQuant) && isUint32(channelQuant.channelDim) && isNumberList(channelQuant.scales);
    }
    case "extension":
      return isBytes(extraParams.extension);
    default:
      return false;
  }
}

/** Returns whether the fields of an operand, which may be unchecked, hold the right kinds of values. */
export function isReadable(operand: Operand | undefined): operand is Operand {
  return operand !== undefined && findGarbage(operand) === undefined;
}

function checkDimensions(place: OperandPlace, { dimensions, lifetime }: Operand, type: NamedFacts): void {
  if (type.kind !== "tensor") {
    if (dimensions.length === 0) return;
    addIssue(
      place,
      "scalar-rank",
      ".dimensions",
      `a ${type.name} has dimensions ${showDimensions(dimensions)} where none are allowed`,
    );
    return;
  }
  const constant = lifetime === OperandLifeTime.CONSTANT_COPY || lifetime === OperandLifeTime.CONSTANT_REFERENCE;
  if (constant && (dimensions.length === 0 || dimensions.includes(0))) {
    const shown = showDimensions(dimensions);
    addIssue(
      place,
      "constant-dimensions",
      ".dimensions",
      `a constant ${type.name} has dimensions ${shown} where all must be known`,
    );
  } else if (dimensions.length === 0 && place.context.version < "1.2") {
    const path = operandPath(place, ".dimensions");
    requireVersion(place.context, "1.2", "tensor-rank", path, `a ${type.name} of unknown rank`);
  }
  const size = sizeOf(type, dimensions);
  if (size > greatestSize) {
    addIssue(
      place,
      "operand-size",
      ".dimensions",
      `a ${type.name} ${showDimensions(dimensions)} takes ${size} bytes, at most ${greatestSize} are allowed`,
    );
  }
}

function checkScale(place: OperandPlace, { scale }: Operand, type: KnownOperandType): void {
  if (isOem(type)) return;
  switch (type.quantisation) {
    case "none":
    case "perChannel":
      if (scale !== 0) addIssue(place, "scale-none", ".scale", `the scale of a ${type.name}: expected 0, got ${scale}`);
      return;
    case "bias":
      if (scale >= 0 && scale <= greatestFloat) return;
      addIssue(
        place,
        "scale-bias",
        ".scale",
        `the scale of a ${type.name}: expected 0 or a positive number, got ${scale}`,
      );
      return;
    default:
      if (scale > 0 && scale <= greatestFloat) return;
      addIssue(
        place,
        "scale-positive",
        ".scale",
        `the scale of a ${type.name}: expected a positive number, got ${scale}`,
      );
  }
}

/** The rule on the zero points of each type that has them. */
const zeroPointRules: Readonly<Partial<Record<KnownOperandType["name"], RuleCode>>> = {
  TENSOR_QUANT8_ASYMM: "zero-point-quant8",
  TENSOR_QUANT8_ASYMM_SIGNED: "zero-point-quant8-signed",
  TENSOR_QUANT16_ASYMM: "zero-point-quant16",
};

function checkZeroPoint(place: OperandPlace, { zeroPoint }: Operand, type: KnownOperandType): void {
  if (isOem(type)) return;
  const [least, greatest] = type.zeroPointRange ?? [0, 0];
  if (Number.isInteger(zeroPoint) && zeroPoint >= least && zeroPoint <= greatest) return;
  const needed = type.zeroPointRange === undefined ? "0" : `an integer within [${least}, ${greatest}]`;
  const code = zeroPointRules[type.name] ?? "zero-point-none";
  addIssue(place, code, ".zeroPoint", `the zeroPoint of a ${type.name}: expected ${needed}, got ${zeroPoint}`);
}

function checkExtraParams(place: OperandPlace, { extraParams, dimensions }: Operand, type: KnownOperandType): void {
  if (isOem(type)) return;
  const field = ".extraParams";
  if (type.quantisation !== "perChannel") {
    if (extraParams.kind === "none") return;
    addIssue(
      place,
      "extra-params-none",
      field,
      `the extraParams of a ${type.name}: expected none, got ${extraParams.kind}`,
    );
    return;
  }
  if (extraParams.kind !== "channelQuant") {
    addIssue(
      place,
      "channel-quant",
      field,
      `the extraParams of a ${type.name}: expected channelQuant, got ${extraParams.kind}`,
    );
    return;
  }
  const { channelDim, scales } = extraParams.channelQuant;
  if (channelDim >= dimensions.length) {
    const problem = `channelDim: expected an index of dimensions ${showDimensions(dimensions)}, got ${channelDim}`;
    addIssue(place, "channel-quant", `${field}.channelQuant.channelDim`, problem);
    return;
  }
  const extent = dimensions[channelDim];
  if (scales.length !== extent) {
    const problem = `there are ${scales.length} scales where dimension ${channelDim} has extent ${extent}`;
    addIssue(place, "channel-scales-count", `${field}.channelQuant.scales`, problem);
  } else if (extent === 0) {
    addIssue(place, "channel-extent", ".dimensions", `the extent of channel dimension ${channelDim} is 0 (unknown)`);
  }
  const wrong = scales.findIndex((scale) => !(scale > 0 && scale <= greatestFloat));
  if (wrong < 0) return;
  const problem = `the scale of channel ${wrong}: expected a positive number, got ${scales[wrong]}`;
  addIssue(place, "channel-scales-positive", `${field}.channelQuant.scales[${wrong}]`, problem);
}

/** Returns the description of the operand's type, if the extension is known. */
function checkExtensionOperand(place: OperandPlace, operand: Operand): ExtensionOperandType | undefined {
  const { type, scale, zeroPoint, extraParams } = operand;
  const { vocabulary, prefixes } = place.context;
  const described = vocabulary.operandTypeByCode(type);
  const name = `an operand of type ${operandTypeText(type, prefixes, vocabulary)}`;
  if (scale !== 0) addIssue(place, "scale-none", ".scale", `the scale of ${name}: expected 0, got ${scale}`);
  if (zeroPoint !== 0)
    addIssue(place, "zero-point-none", ".zeroPoint", `the zeroPoint of ${name}: expected 0, got ${zeroPoint}`);
  if (extraParams.kind === "channelQuant") {
    addIssue(
      place,
      "extra-params-extension",
      ".extraParams",
      `the extraParams of ${name}: expected none or extension, got channelQuant`,
    );
  }
  if (extensionOf(type, prefixes) === undefined) {
    addIssue(place, "extension-prefix", ".type", unknownPrefix(type));
    return undefined;
  }
  if (!isExtensionType(described)) return undefined;
  checkDimensions(place, operand, { ...described, name: typeText(described) });
  if (extraParams.kind !== "channelQuant") checkExtensionData(place, extraParams, described);
  return described;
}

/** An operand has extension data exactly if its type has a codec for it, and the codec accepts the data. */
function checkExtensionData(
  place: OperandPlace,
  extraParams: Exclude<OperandExtraParams, { readonly kind: "channelQuant" }>,
  type: ExtensionOperandType,
): void {
  const field = ".extraParams";
  const name = typeText(type);
  if (type.params === undefined) {
    if (extraParams.kind === "none") return;
    const given = extraParams.extension.length;
    addIssue(place, "extension-data", field, `a ${name} has ${given} bytes of extension data, but the type has none`);
    return;
  }
  if (extraParams.kind === "none") {
    addIssue(place, "extension-data", field, `a ${name} has no extension data, but the type requires it`);
    return;
  }
  try {
    type.params.decode(extraParams.extension);
  } catch (error) {
    const problem = error instanceof OperationError ? error.message : `the codec failed: ${show(error)}`;
    addIssue(place, "extension-data", `${field}.extension`, `the extension data of a ${name}: ${problem}`);
  }
}
