/** Results of random models of single operators have shown, as text and as the table in docs/measurements-steps.md. */
import type { Compared } from "./run-models.ts";

/** The comparisons of an operator. */
export interface OperatorSummary {
  readonly operator: string;
  readonly types: readonly string[];
  readonly models: number;
  /** Models by what became of them in a build; `judged` by one of the builds at least. */
  readonly judged: number;
  readonly equal: number;
  readonly close: number;
  readonly differing: readonly Compared[];
}

const engines = ["litert", "tfjs"] as const;

/** True if one of the builds has the result, and the other no better one. */
function isDiffering({ outcomes }: Compared): boolean {
  const { litert, tfjs } = outcomes;
  // One build may be wrong where the other is right.
  const [first, second] = litert.kind === "refused" ? [tfjs, litert] : [litert, tfjs];
  return first.kind === "differs" && (second.kind === "refused" || second.kind === "differs");
}

export function summarise(compared: readonly Compared[]): OperatorSummary[] {
  const operators = [...new Set(compared.map(({ operator }) => operator))];
  return operators.map((operator) => {
    const own = compared.filter((each) => each.operator === operator);
    const judged = own.filter(({ outcomes }) => engines.some((engine) => outcomes[engine].kind !== "refused"));
    const differing = judged.filter(isDiffering);
    const rest = judged.filter((each) => !differing.includes(each));
    const close = rest.filter(({ outcomes }) => engines.every((engine) => outcomes[engine].kind !== "equal"));
    return {
      ...{ operator, types: [...new Set(own.map(({ type }) => type))], models: own.length, judged: judged.length },
      ...{ equal: rest.length - close.length, close: close.length, differing },
    };
  });
}

/** A line about a model that differs. */
export function lineOf({ operator, type, seed, outcomes }: Compared): string {
  const texts = engines.map((engine) => {
    const outcome = outcomes[engine];
    return `${engine} ${outcome.kind}${"message" in outcome && outcome.message !== undefined ? `: ${outcome.message.slice(0, 150)}` : ""}`;
  });
  return `${operator} ${type} seed ${seed}: ${texts.join("; ")}`;
}

const begin = "<!-- models: written by `npm run differences -- --models N --write` -->";
const end = "<!-- end of models -->";

/** The document with the table of these operators in place of the one that it has. */
export function documentWithModels(summaries: readonly OperatorSummary[], text: string): string {
  const [before, rest] = text.split(begin);
  const [, after] = (rest ?? "").split(end);
  if (before === undefined || after === undefined)
    throw new Error(`the document has no place for the table: ${begin} … ${end}`);
  const rows = summaries.map(
    ({ operator, types, models, judged, equal, close, differing }) =>
      `| ${operator} | ${types.join(", ")} | ${models} | ${judged} | ${equal} | ${close} | ${differing.length} |`,
  );
  const sum = (key: "models" | "judged" | "equal" | "close") =>
    summaries.reduce((total, summary) => total + summary[key], 0);
  const differ = summaries.reduce((total, { differing }) => total + differing.length, 0);
  const head = [
    "| operator | types | models | judged | equal | close | differ |",
    "|---|---|---|---|---|---|---|",
    `| all ${summaries.length} | | ${sum("models")} | ${sum("judged")} | ${sum("equal")} | ${sum("close")} | ${differ} |`,
  ];
  return `${before}${begin}\n\n${[...head, ...rows].join("\n")}\n\n${end}${after}`;
}
