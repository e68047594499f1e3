/**
 * Reading the facts of a foreign device or driver: each field is read once, copied and checked. Readers throw BrokenAnswer for a
 * value that breaks a rule of the HAL; its message continues a sentence that begins with the method.
 */
import {
  type Capabilities,
  DEVICE_TYPE_UNKNOWN,
  DeviceStatus,
  DeviceType,
  ErrorStatus,
  type Extension,
  errorStatusNames,
  MAX_NUMBER_OF_CACHE_FILES,
  type Outcome,
  type SupportedOperations,
} from "@nnhal/types";
import { capabilitiesIssues } from "./capabilities.ts";
import { extensionIssues } from "./extension.ts";
import { type Issue, show } from "./issues.ts";
import { isObject } from "./structure.ts";

/** An answer that breaks a rule: `answered …`. */
export class BrokenAnswer extends Error {
  override readonly name = "BrokenAnswer";
}

/** Throws BrokenAnswer. `problem` begins with a verb, such as `answered …`. */
export function throwBroken(problem: string): never {
  throw new BrokenAnswer(problem);
}

/** An answer before its fields are checked. */
export type UncheckedFields = Readonly<Record<string, unknown>>;

/** Returns whether a value is an object, whose fields can be any values. */
export function hasFields(value: unknown): value is UncheckedFields {
  return isObject(value);
}

const done: Outcome = { status: ErrorStatus.NONE };

/** The status of an answer, with its message unless the status is NONE. */
export function readOutcome(answer: unknown): Outcome {
  if (!hasFields(answer)) return throwBroken(`answered ${show(answer)}, expected an object with a status`);
  const { status, message } = answer;
  if (!isErrorStatus(status)) return throwBroken(`answered status ${show(status)}, which is not an ErrorStatus`);
  if (status === ErrorStatus.NONE) return done;
  return typeof message === "string" ? { status, message } : { status };
}

function isErrorStatus(status: unknown): status is ErrorStatus {
  return typeof status === "number" && errorStatusNames.has(status);
}

/** Capabilities that were taken before. They are frozen and valid, so taking them again needs no copy and no check. */
const taken = new WeakSet<object>();

/** Valid capabilities as a frozen copy, or the first rule that they break. */
export function takeCapabilities(value: unknown): { readonly capabilities: Capabilities } | { readonly issue: Issue } {
  // The check accepts any value, and the copy has the shape if there are no issues.
  const capabilities = (hasFields(value) && taken.has(value) ? value : frozenCopy(value)) as Capabilities;
  if (taken.has(capabilities)) return { capabilities };
  const [issue] = capabilitiesIssues(capabilities);
  if (issue !== undefined) return { issue };
  taken.add(capabilities);
  return { capabilities };
}

export function readCapabilities(value: unknown): Capabilities {
  const answer = takeCapabilities(value);
  return "issue" in answer ? notValid("capabilities", answer.issue) : answer.capabilities;
}

export function readExtensions(value: unknown): readonly Extension[] {
  const copy = frozenCopy(value) as readonly Extension[];
  const [issue] = extensionIssues(copy);
  return issue === undefined ? copy : notValid("extensions", issue);
}

function notValid(what: string, { path, message }: Issue): never {
  return throwBroken(`answered ${what} that are not valid: ${path}: ${message}`);
}

/** A copy that does not change with the answer. A few levels deep: no answer has more. */
function frozenCopy(value: unknown, levels = 5): unknown {
  if (levels === 0) return value;
  if (Array.isArray(value)) return Object.freeze(Array.from(value, (item: unknown) => frozenCopy(item, levels - 1)));
  if (!hasFields(value)) return value;
  const fields = Object.entries(value).map(([key, field]) => [key, frozenCopy(field, levels - 1)]);
  return Object.freeze(Object.fromEntries(fields));
}

/** A device type. `mayBeUnknown`: whether it can be DEVICE_TYPE_UNKNOWN, as for devices older than HAL 1.2. */
export function readDeviceType(value: unknown, mayBeUnknown: boolean): DeviceType | typeof DEVICE_TYPE_UNKNOWN {
  const known = Object.values(DeviceType).find((one) => one === value);
  if (known !== undefined) return known;
  if (value === DEVICE_TYPE_UNKNOWN && mayBeUnknown) return DEVICE_TYPE_UNKNOWN;
  return throwBroken(`answered type ${show(value)}, which is not a DeviceType`);
}

export function readVersionString(value: unknown): string {
  if (typeof value === "string" && value !== "") return value;
  return throwBroken(`answered version ${show(value)}, expected a text`);
}

/** The numbers of cache files that a device needs. */
export function readCacheFileCounts({ numModelCache, numDataCache }: UncheckedFields): {
  readonly numModelCache: number;
  readonly numDataCache: number;
} {
  const most = MAX_NUMBER_OF_CACHE_FILES;
  const files = (count: unknown, kind: string): number => {
    if (typeof count === "number" && Number.isInteger(count) && count >= 0 && count <= most) return count;
    return throwBroken(`answered ${show(count)} ${kind} cache files where at most ${most} are allowed`);
  };
  return { numModelCache: files(numModelCache, "model"), numDataCache: files(numDataCache, "data") };
}

/** The state of a device; UNKNOWN for any other value. */
export function readDeviceStatus(value: unknown): DeviceStatus {
  return Object.values(DeviceStatus).find((one) => one === value) ?? DeviceStatus.UNKNOWN;
}

/** The answer of getSupportedOperations for a model with `count` operations, with status NONE. */
export function readSupport(
  { supported, reasons, dispatches }: UncheckedFields,
  count: number,
): Omit<SupportedOperations, keyof Outcome> {
  if (!isListOf(supported, count, isBoolean)) {
    const length = Array.isArray(supported) ? supported.length : undefined;
    const problem = length === undefined || length === count ? show(supported) : `${length} entries`;
    return throwBroken(`answered NONE with supported: expected ${count} booleans, got ${problem}`);
  }
  if (dispatches !== undefined && !isListOf(dispatches, count, isCount)) {
    return throwBroken(`answered dispatches that are not ${count} numbers of at least 0`);
  }
  const texts: readonly unknown[] = Array.isArray(reasons) ? reasons : [];
  return {
    supported: [...supported],
    reasons: supported.map((isSupported, index) => {
      const reason = texts[index];
      return !isSupported && typeof reason === "string" ? reason : undefined;
    }),
    ...(dispatches !== undefined && { dispatches: [...dispatches] }),
  };
}

function isListOf<Item>(value: unknown, count: number, isItem: (item: unknown) => item is Item): value is Item[] {
  if (!Array.isArray(value) || value.length !== count) return false;
  for (let index = 0; index < count; index++) if (!isItem(value[index])) return false;
  return true;
}

function isBoolean(value: unknown): value is boolean {
  return typeof value === "boolean";
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && value < Number.POSITIVE_INFINITY;
}
