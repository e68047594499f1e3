/**
 * The mutations suite: a device has to accept the model of every example and to refuse every model and request that is
 * made from it by breaking one rule.
 */
import type { Device } from "@nnhal/types";
import { attempt } from "../attempt.ts";
import type { OnStart } from "../isolated.ts";
import type { CaseResult } from "../result.ts";
import type { Example } from "../vectors/example.ts";
import { modelOf } from "../vectors/model.ts";
import { requestOf } from "../vectors/request.ts";
import type { VectorCase } from "../vectors/variant.ts";
import { type Acceptance, acceptModel, findModelProblem, findRequestProblem } from "./answers.ts";
import { modelMutations } from "./list.ts";
import type { Mutant } from "./mutation.ts";
import { type RequestMutant, requestMutations } from "./request.ts";
import { isSampled } from "./sample.ts";

/** Options of runMutations. */
export interface MutationsOptions {
  /** Selects the examples to mutate, for instance with `matchesText`. Others are not counted. Default: all. */
  readonly filter?: ((vectorCase: VectorCase) => boolean) | undefined;
  /**
   * About one mutant in this number runs, the same ones each time; the others are counted as skipped. Default 1: all
   * run.
   */
  readonly sample?: number | undefined;
  /** Returns why no status is expected of the device for a mutant of a class; it counts as skipped. Default: never. */
  readonly exempt?: ((mutation: string, mutant: Mutant | RequestMutant) => string | undefined) | undefined;
  /** Milliseconds after which a mutant has failed. Default 60 000. */
  readonly timeLimit?: number | undefined;
  /** The number of results to leave out at the beginning. Default 0. */
  readonly skip?: number | undefined;
  readonly onStart?: OnStart | undefined;
}

/** The subject of the results about models that are right. */
export const originals = "original";

/** All subjects of results: the models that are right, then the classes of mutants in the order in which they run. */
export const mutationSubjects: readonly string[] = [
  originals,
  ...[...modelMutations, ...requestMutations].map(({ name }) => name),
];

type Outcome = Pick<CaseResult, "verdict" | "reason">;

const passed: Outcome = { verdict: "passed" };

/** One model or request to be judged. */
interface MutationCase {
  readonly name: string;
  readonly subject: string;
  /** Why no status is expected of the device. */
  readonly exempt?: string | undefined;
  judge(): Promise<Outcome>;
}

/** Runs the mutants of examples on a device, one after the other. The subject of a result is the class of its mutant. */
export async function* runMutations(
  device: Device,
  examples: Iterable<Example> | AsyncIterable<Example>,
  {
    filter = () => true,
    sample = 1,
    exempt = () => undefined,
    timeLimit = 60_000,
    skip = 0,
    onStart,
  }: MutationsOptions = {},
): AsyncGenerator<CaseResult> {
  let toSkip = skip;
  const leftOut = new Map<string, number>();
  for await (const example of examples) {
    const vectorCase: VectorCase = { name: example.name, example, unspecifiedOutputs: false };
    if (!filter(vectorCase)) continue;
    const subject = subjectOf(device, vectorCase, exempt);
    try {
      for (const { name, subject: mutation, exempt: exemption, judge } of subject.cases()) {
        if (mutation !== originals && !isSampled(name, sample)) {
          leftOut.set(mutation, (leftOut.get(mutation) ?? 0) + 1);
          continue;
        }
        if (toSkip-- > 0) continue;
        const start = { name, subject: mutation };
        if (exemption !== undefined) {
          yield { ...start, verdict: "skipped", reason: exemption };
          continue;
        }
        await onStart?.(start);
        const outcome = await attempt(timeLimit, judge);
        const { verdict, reason } = "value" in outcome ? outcome.value : failOutcome(outcome.problem);
        yield { ...start, verdict, ...(reason !== undefined && { reason }) };
      }
    } finally {
      subject.close();
    }
  }
  const reason = `not in the sample of one in ${sample}`;
  for (const [subject, count] of leftOut) {
    if (toSkip-- > 0) continue;
    yield { name: `${subject}: ${reason}`, subject, verdict: "skipped", reason, count };
  }
}

function failOutcome(reason: string): Outcome {
  return { verdict: "failed", reason };
}

/** The cases that come from one example. */
interface Subject {
  cases(): Iterable<MutationCase>;
  /** Frees the resources of the cases. */
  close(): void;
}

function subjectOf(device: Device, vectorCase: VectorCase, exempt: NonNullable<MutationsOptions["exempt"]>): Subject {
  const { name, example } = vectorCase;
  const model = modelOf(vectorCase);
  // Prepared when a case needs it, since a run may begin with any case.
  let accepted: Promise<Acceptance> | undefined;
  const accept = () => {
    accepted ??= acceptModel(device, model);
    return accepted;
  };
  return {
    *cases() {
      if (example.expectFailure) {
        const exempt = "the example's own model is wrong";
        yield { name, subject: originals, exempt, judge: async () => passed };
        return;
      }
      yield { name, subject: originals, judge: async () => judgeOriginal(await accept()) };
      for (const mutation of modelMutations) {
        for (const mutant of mutation.mutate(model)) {
          yield {
            name: `${name} ${mutation.name}: ${mutant.name}`,
            subject: mutation.name,
            exempt: mutant.exempt ?? exempt(mutation.name, mutant),
            judge: () => judgeModel(device, mutant),
          };
        }
      }
      const { request } = requestOf(example);
      let measured = false;
      for (const mutation of requestMutations) {
        for (const mutant of mutation.mutate(request, model)) {
          measured = !measured;
          const measure = measured;
          yield {
            name: `${name} ${mutation.name}: ${mutant.name}`,
            subject: mutation.name,
            exempt: exempt(mutation.name, mutant),
            judge: async () => judgeRequest(await accept(), mutant, measure),
          };
        }
      }
    },
    close() {
      accepted?.then(
        (acceptance) => "preparedModel" in acceptance && acceptance.preparedModel.close(),
        () => {},
      );
    },
  };
}

function judgeOriginal(acceptance: Acceptance): Outcome {
  if ("problem" in acceptance) return failOutcome(acceptance.problem);
  return "unsupported" in acceptance ? { verdict: "unsupported", reason: acceptance.unsupported } : passed;
}

async function judgeModel(device: Device, mutant: Mutant): Promise<Outcome> {
  const problem = await findModelProblem(device, mutant);
  return problem === undefined ? passed : failOutcome(problem);
}

async function judgeRequest(acceptance: Acceptance, mutant: RequestMutant, measured: boolean): Promise<Outcome> {
  if ("problem" in acceptance)
    return { verdict: "skipped", reason: "the device refuses the model that the request is for" };
  if ("unsupported" in acceptance) return { verdict: "unsupported", reason: acceptance.unsupported };
  const problem = await findRequestProblem(acceptance.preparedModel, mutant, measured);
  if (problem === undefined) return passed;
  return typeof problem === "string" ? failOutcome(problem) : { verdict: "unsupported", reason: problem.unsupported };
}
