/**
 * Reports that the command line writes as JSON, as facts and tables. A report is a file like any other: nothing in it is taken for granted.
 */
import { bytesText, countText, numberText, shapeText, shorten, timeText } from "../text.ts";
import { stepsText } from "./difference-text.ts";

/** A cell of a table. `part`: a bar of this share of the greatest. */
export type ReportCell =
  | string
  | { readonly text: string; readonly part?: number; readonly tone?: "passed" | "failed" };

/** A table of a report. */
export interface ReportTable {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly ReportCell[])[];
  /** Rows that were left out. */
  readonly more: number;
}

/** A report. */
export interface ReportView {
  readonly kind: "conformance" | "bench" | "explain" | "diff";
  /** The outcome in a sentence; undefined: there is none. */
  readonly verdict: { readonly text: string; readonly isGood: boolean } | undefined;
  readonly facts: readonly (readonly [name: string, text: string])[];
  readonly tables: readonly ReportTable[];
}

/** Rows of a table that are shown. */
export const MOST_ROWS = 1000;

/** Letters of the name of a tensor: fused operators have those of all their parts. */
const MOST_LETTERS = 60;

/** True if a file begins as the JSON of a report does. */
export function isReport(bytes: Uint8Array): boolean {
  return /^\s*\{\s*"/.test(new TextDecoder().decode(bytes.subarray(0, 100)));
}

/** Reads a report. Throws an Error if the text is none of those that are known. */
export function readReport(text: string): ReportView {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new Error("this is not a report: its JSON is broken", { cause });
  }
  const json = recordOf(value);
  if (textOf(json.format).startsWith("nnhal-benchmark-")) return readBenchmark(json);
  if (Array.isArray(json.suites)) return readConformance(json);
  if (Array.isArray(json.operations) && typeof json.verdict === "string") return readDifference(json);
  if (Array.isArray(json.operations) && Array.isArray(json.steps)) return readExplanation(json);
  throw new Error("expected the JSON of nnhal conformance, bench, explain or diff, got another");
}

type Json = Readonly<Record<string, unknown>>;

function recordOf(value: unknown): Json {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

function recordsIn(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.map(recordOf) : [];
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : typeof value === "number" ? numberText(value) : "";
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** A number as a text, or a dash if there is none. */
function shownAs(value: unknown, toText: (number: number) => string): string {
  const number = numberOf(value);
  return number === undefined ? "–" : toText(number);
}

const time = (value: unknown) => shownAs(value, timeText);
const count = (value: unknown) => shownAs(value, countText);
const bytes = (value: unknown) => shownAs(value, bytesText);
const digits = (value: unknown) => shownAs(value, (number) => numberText(number, 4));

function namesOf(value: unknown): string {
  return Array.isArray(value) ? value.map(textOf).join(", ") : "";
}

function table(title: string, titles: readonly string[], all: ReportTable["rows"]): ReportTable {
  // Columns without a text in any row are left out.
  const isWanted = titles.map((_, column) => all.length === 0 || all.some((cells) => cells[column] !== ""));
  const columns = titles.filter((_, column) => isWanted[column]);
  const rows = all.slice(0, MOST_ROWS).map((cells) => cells.filter((_, column) => isWanted[column]));
  return { title, columns, rows, more: Math.max(0, all.length - MOST_ROWS) };
}

/** Times with bars: those of one column, of which the greatest has the longest. */
function timeBars(times: readonly unknown[]): ReportCell[] {
  const most = Math.max(1e-9, ...times.map((each) => numberOf(each) ?? 0));
  return times.map((each) => ({ text: time(each), part: (numberOf(each) ?? 0) / most }));
}

function readBenchmark(json: Json): ReportView {
  const machine = recordOf(json.machine);
  const models = recordsIn(json.models);
  return {
    kind: "bench",
    verdict: undefined,
    facts: [
      ["processor", `${textOf(machine.processor)}, ${count(machine.processors)} cores`],
      ["memory", bytes(machine.memory)],
      ["system", `${textOf(machine.system)}, Node.js ${textOf(machine.node)}`],
      ["threads", count(json.threads)],
    ],
    tables: models.flatMap((model) => {
      const contestants = recordsIn(model.contestants);
      const bars = timeBars(contestants.map(({ times }) => recordOf(times).median));
      const title = `${textOf(model.model)}: ${bytes(model.bytes)}, ${count(model.multiplyAdds)} multiply-adds`;
      return [
        table(
          title,
          ["engine", "median time", "a second", "first run", "preparing", "memory", "off the reference", "remark"],
          contestants.map((each, row) => {
            const agreement = recordOf(each.agreement);
            const cold = recordOf(each.prepare).cold;
            const agrees = agreement.agrees;
            return [
              textOf(each.name),
              bars[row] ?? "–",
              digits(each.perSecond),
              time(each.first),
              time(Array.isArray(cold) ? [...cold].sort((a, b) => Number(a) - Number(b))[cold.length >> 1] : undefined),
              bytes(each.memory),
              agrees === undefined
                ? "–"
                : {
                    text: `${digits(agreement.difference)} ${textOf(agreement.unit)}`,
                    tone: agrees === true ? ("passed" as const) : ("failed" as const),
                  },
              textOf(each.problem),
            ];
          }),
        ),
        table(
          "Times of ours divided by those of others",
          ["ours", "other", "ratio", "likely range"],
          recordsIn(model.ratios).map((each) => {
            const ratio = recordOf(each.ratio);
            const range =
              numberOf(ratio.low) === undefined ? textOf(each.reason) : `${digits(ratio.low)} to ${digits(ratio.high)}`;
            return [textOf(each.name), textOf(each.other), digits(ratio.median), range];
          }),
        ),
      ];
    }),
  };
}

const verdicts = ["passed", "failed", "unsupported", "skipped"] as const;

function countCells(counts: Json): ReportCell[] {
  return verdicts.map((name) => {
    const text = count(counts[name]);
    return name === "failed" && (numberOf(counts.failed) ?? 0) > 0 ? { text, tone: "failed" as const } : text;
  });
}

function readConformance(json: Json): ReportView {
  const suites = recordsIn(json.suites);
  const failed = numberOf(json.failed) ?? 0;
  const rows = (of: (suite: Json) => ReportCell[][]) =>
    suites.flatMap((suite) => of(suite).map((cells) => [textOf(suite.suite), ...cells]));
  const failures = rows(({ failures: all }) =>
    recordsIn(all).map(({ name, reason }) => [textOf(name), textOf(reason)]),
  );
  const subjects = rows(({ subjects: all }) =>
    Object.entries(recordOf(all)).map(([name, counts]) => [name, ...countCells(recordOf(counts))]),
  );
  const reasons = rows(({ reasons: all }) =>
    Object.entries(recordOf(all)).map(([reason, times]) => [reason, count(times)]),
  );
  return {
    kind: "conformance",
    verdict: {
      text: failed === 0 ? "Nothing has failed." : `${countText(failed)} of ${count(json.total)} cases have failed.`,
      isGood: failed === 0,
    },
    facts: [["device", textOf(json.device)], ...verdicts.map((name) => [name, count(json[name])] as const)],
    tables: [
      table(
        "Suites",
        ["suite", "HAL", ...verdicts],
        suites.map((suite) => [textOf(suite.suite), textOf(suite.hal), ...countCells(suite)]),
      ),
      ...(failures.length === 0 ? [] : [table("Failures", ["suite", "case", "reason"], failures)]),
      table("By subject", ["suite", "subject", ...verdicts], subjects),
      ...(reasons.length === 0 ? [] : [table("Not run", ["suite", "reason", "cases"], reasons)]),
    ],
  };
}

function readExplanation(json: Json): ReportView {
  const memory = recordOf(json.memory);
  const problem = textOf(json.problem);
  const problems = recordsIn(json.problems);
  return {
    kind: "explain",
    verdict: problem === "" ? undefined : { text: problem, isGood: false },
    facts: [
      ["model", textOf(json.model)],
      ["devices", namesOf(json.devices)],
      ["policy", `${textOf(json.policy)}, ${textOf(json.preference)}`],
      ["expected time", time(json.predictedMs)],
      ["measured time", time(json.measuredMs)],
      ["memory between steps", bytes(memory.peak)],
    ],
    tables: [
      ...planTables(json, ""),
      ...(problems.length === 0
        ? []
        : [
            table(
              "Problems",
              ["where", "problem", "help"],
              problems.map(({ path, message, help }) => [textOf(path), textOf(message), textOf(help)]),
            ),
          ]),
    ],
  };
}

/** The steps and operations of a plan, and of those inside its control flow. `where`: an end of their titles. */
function planTables(plan: Json, where: string): ReportTable[] {
  const operations = recordsIn(plan.operations);
  const steps = recordsIn(plan.steps);
  const bars = timeBars(operations.map(({ measuredMs }) => measuredMs));
  const isMeasured = operations.some(({ measuredMs }) => measuredMs !== undefined);
  return [
    table(
      `Steps${where}`,
      ["step", "device", "operations", "expected", "measured", "bytes in", "bytes out"],
      steps.map((step, place) => [
        String(place + 1),
        textOf(step.device) || "the runtime",
        String(Array.isArray(step.operations) ? step.operations.length : 0),
        time(step.predictedMs),
        time(step.measuredMs),
        bytes(step.inputBytes),
        bytes(step.outputBytes),
      ]),
    ),
    table(
      `Operations${where}`,
      ["operation", "device", "result", ...(isMeasured ? ["time"] : []), "why"],
      operations.map((operation, place) => {
        const [output = {}] = recordsIn(operation.outputs);
        const shape = Array.isArray(output.shape) ? output.shape.map(Number) : [];
        return [
          `${place + 1} ${textOf(operation.type)}`,
          textOf(operation.device) || "the runtime",
          `${textOf(output.type)} ${shapeText(shape)}`,
          ...(isMeasured ? [bars[place] ?? "–"] : []),
          textOf(operation.reason),
        ];
      }),
    ),
    ...steps.flatMap((step, place) =>
      recordsIn(step.inside).flatMap((inner) =>
        planTables(inner, `, ${textOf(inner.part)} of step ${place + 1}${where}`),
      ),
    ),
  ];
}

function readDifference(json: Json): ReportView {
  const noise = (difference: Json) =>
    numberOf(difference.signalToNoise) === undefined
      ? difference.differing === 0
        ? "equal"
        : "–"
      : `${digits(difference.signalToNoise)} dB`;
  const largest = (difference: Json) =>
    difference.isFloat === true ? digits(difference.largestReal) : stepsText(digits(difference.largest));
  const worst = (difference: Json) => {
    const { element, expected, actual } = recordOf(difference.worst);
    return element === undefined ? "" : `element ${count(element)}: ${digits(actual)}, not ${digits(expected)}`;
  };
  return {
    kind: "diff",
    verdict: { text: textOf(json.verdict), isGood: json.isRight === true },
    facts: [
      ["model", textOf(json.model)],
      ["devices", namesOf(json.devices)],
      ["against", namesOf(json.against)],
      ["inputs", namesOf(json.inputs)],
    ],
    tables: [
      table(
        "Outputs",
        ["output", "largest error", "SNR", "worst element"],
        recordsIn(json.outputs).map((output) => {
          const difference = recordOf(output.difference);
          return [textOf(output.name), largest(difference), noise(difference), worst(difference)];
        }),
      ),
      table(
        "Operations",
        ["operation", "output", "device", "verdict", "largest error", "SNR", "SNR in the network", "worst element"],
        recordsIn(json.operations).map((operation, place) => {
          const [output = {}] = recordsIn(operation.outputs);
          const [alone, accumulated] = [recordOf(output.alone), recordOf(output.accumulated)];
          const verdict = textOf(operation.verdict);
          return [
            `${place + 1} ${textOf(operation.operation)}`,
            shorten(textOf(output.name), MOST_LETTERS),
            textOf(operation.device) || "the runtime",
            ["wrong", "failed", "gone"].includes(verdict) ? { text: verdict, tone: "failed" as const } : verdict,
            largest(alone),
            noise(alone),
            noise(accumulated),
            worst(alone),
          ];
        }),
      ),
    ],
  };
}
