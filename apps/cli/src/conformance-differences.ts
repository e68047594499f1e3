/**
 * The page of differences of `nnhal conformance --differences`: by engine a table of operations and types whose results are not exactly the
 * reference's, and by how much. Each engine has a section between two marks; the rest of a page is left as it is.
 */
import { currentProcessor, type Processor } from "@nnhal/backend/proof";
import { type Deviation, describeAllowance, type Summary } from "@nnhal/conformance";
import { isFloat } from "@nnhal/operations";
import type { DeviceFacts } from "./conformance-report.ts";
import { usageError } from "./failure.ts";

/** Source of the measured examples, so that they can be drawn again. */
export interface DrawnFrom {
  readonly seed: number;
  /** Number of random examples of each operation. */
  readonly examples: number;
}

/** Head of a page, before its sections. */
export const pageHead = `# Differences by engine

> **In short**: The reference defines what is right. Other engines may differ by rounding; this page says where and by how much, as measured. An
> operation that is not listed has no difference. Of 8-bit networks, expect single steps.

A driver may differ from the reference within the allowances of the conformance kit. This page lists by how much engines do: each operation and
type of result of which any element differed, in the examples of the suite \`arithmetic\`: edge cases, limits, examples of bias, and random ones.
What is not listed is exactly as the reference computes it.

- **Elements** are those that were compared. Those of which the HAL leaves open what they are, such as sums of NaN, are not.
- **Largest** is the greatest difference, and **mean** that of the signed differences of all elements, actual minus expected: a mean that is not near
  0 is a bias, which adds up over the layers of a network. Both are in steps of the result's quantisation; of integers in whole numbers; of floats
  in units in the last place (ULP) of the greatest element of the result, or of 1 if all are less: a sum near 0 of large terms has no more digits.
- **Allowed** is how far a result may be off: n terms of at most m are summed, "the HAL's" are the tolerances of its published vectors. **Used** is
  the greatest part of that allowance which an element used up.

Engines have several forms of a computation, of which a self-check chooses by the processor: the version names the choice, if it is not the
preferred one. On another processor the command of a section writes it again.
`;

const marks = (named: string) => [`<!-- differences of ${named} -->`, `<!-- end of ${named} -->`] as const;

/** A page with the section of a device in place of the one that it has, or at its end. Throws a usage error if a mark is missing. */
export function pageWith(page: string | undefined, named: string, section: string, path: string): string {
  const [begin, end] = marks(named);
  const whole = `${begin}\n\n${section}\n${end}`;
  const text = page ?? pageHead;
  const start = text.indexOf(begin);
  const stop = text.indexOf(end);
  if (start < 0 && stop < 0) return `${text.trimEnd()}\n\n${whole}\n`;
  if (start < 0 || stop < start) throw usageError(`${path}: expected "${begin}" and after it "${end}", one is missing`);
  return `${text.slice(0, start)}${whole}${text.slice(stop + end.length)}`;
}

/** The section of a device. `summary`: of the suite arithmetic. */
export function differencesSection(
  { named, name, version }: Pick<DeviceFacts, "named" | "name" | "version">,
  summary: Summary,
  { seed, examples }: DrawnFrom,
  processor: Processor = currentProcessor(),
): string {
  const all = [...summary.deviations]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([operation, types]) => [...types.values()].map((deviation) => ({ operation, deviation })))
    .filter(({ deviation }) => deviation.elements > 0);
  const rows = all.filter(({ deviation }) => deviation.differing > 0);
  const total = all.reduce((sum, { deviation }) => sum + deviation.elements, 0);
  const equal = all.length - rows.length;
  const { passed, failed } = summary;
  const lines = [
    `## ${named}`,
    "",
    `\`nnhal conformance --device ${named} --suite arithmetic --seed ${seed} --examples ${examples} --differences FILE\``,
    "",
    `Device \`${name}\`, version \`${version}\`, on ${describeProcessor(processor)}. ${count(passed + failed)} examples ran, ` +
      `${count(total)} elements were compared. In ${equal} of ${all.length} operations and types no element differs` +
      `${rows.length === 0 ? "." : "; in the others:"}`,
    ...(failed > 0 ? ["", failedText(summary)] : []),
    ...(rows.length > 0 ? ["", ...tableHead, ...rows.map(rowOf)] : []),
    "",
  ];
  return lines.join("\n");
}

/** The most failed examples that are named. */
const mostNamed = 20;

function failedText({ failures }: Summary): string {
  const named = failures.slice(0, mostNamed).map(({ name }) => `\`${name}\``);
  const more = failures.length - named.length;
  return `Beyond what is allowed, or without a result: ${named.join(", ")}${more > 0 ? `, and ${count(more)} more examples` : ""}.`;
}

const tableHead = [
  "| operation | type | elements | differ, % | largest | mean | allowed | used, % |",
  "|---|---|---:|---:|---:|---:|---|---:|",
];

function rowOf({ operation, deviation }: { readonly operation: string; readonly deviation: Deviation }): string {
  const { type, elements, differing, largest, sum, error } = deviation;
  const unit = isFloat(type) ? " ULP" : "";
  const cells = [
    operation,
    type,
    count(elements),
    short((100 * differing) / elements, 0.01),
    largest >= unbounded ? "unbounded" : `${short(largest, 0.01)}${unit}`,
    short(sum / elements, 0.0001),
    describeAllowance(operation, type),
    error >= unbounded ? "unbounded" : short(100 * error, 0.1),
  ];
  return `| ${cells.join(" | ")} |`;
}

/** Number that stands for infinity in reports. */
const unbounded = 1e9;

function count(number: number): string {
  return number.toLocaleString("en-US");
}

/** A number with three digits at most; what is nearer to 0 than `least` as such. */
function short(value: number, least: number): string {
  if (value === 0) return "0";
  if (Math.abs(value) >= 1000) return count(Math.round(value));
  if (Math.abs(value) < least) return value < 0 ? `> -${least}` : `< ${least}`;
  return String(Number(value.toPrecision(3)));
}

/** Features of processors by which the arithmetic of engines differs, as Linux names them. */
const features: readonly string[] = [
  ...["ssse3", "sse4_1", "avx", "f16c", "fma", "avx2", "avx_vnni", "avx512f", "avx512bw", "avx512_vnni"],
  ...["avx512_bf16", "avx512_fp16", "amx_int8", "amx_bf16"],
  ...["asimd", "asimdhp", "asimddp", "i8mm", "bf16", "sve"],
];

function describeProcessor({ name, identity }: Processor): string {
  if (identity === undefined) return `the processor ${name}`;
  const own = new Set(identity.slice(name.length).split(" "));
  const has = features.filter((feature) => own.has(feature));
  return `the processor ${name}${has.length === 0 ? "" : ` with ${has.join(", ")}`}`;
}
