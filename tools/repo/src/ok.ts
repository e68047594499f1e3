/**
 * The gate: `npm run ok` runs every step, `npm run ok -- types lint` the named ones, `npm run ok -- --changed` the steps that a
 * change since origin/main touches, and `--changed=COMMIT` since another commit. One line per step, the output of those that
 * fail in full, and as the last line the counts, in which each step counts as one test.
 */
import { constants, setPriority } from "node:os";
import { type Changes, findChanges } from "./changes.ts";
import { eachOf } from "./process.ts";
import { emptyPackages, type Step, type StepResult, steps } from "./steps.ts";
import { noTests, type TestCounts } from "./test-run.ts";
import { workspaceRoot } from "./workspace.ts";

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const option = args.find((arg) => arg === "--changed" || arg.startsWith("--changed="));
  const names = args.filter((arg) => arg !== option);
  const unknown = names.filter((name) => !steps.some((step) => step.name === name));
  if (unknown.length > 0) {
    console.error(`No step is called ${unknown.join(", ")}. There are:`);
    for (const { name, purpose } of steps) console.error(`  ${name.padEnd(10)} ${purpose}`);
    return 2;
  }
  const changes = option === undefined ? undefined : await findChanges(workspaceRoot, option.split("=")[1]);
  if (changes !== undefined) console.log(`note  ${changes.files.length} files have changed since ${changes.since}`);
  for (const folder of emptyPackages(workspaceRoot)) console.log(`note  ${folder} has no sources yet`);
  let total = noTests;
  const failed = new Set<string>();
  const runGroups = async (groups: readonly Step[][]) => {
    for (const together of groups) {
      await eachOf(together, async (step) => {
        const counts =
          step.after !== undefined && failed.has(step.after) ? skipStep(step) : await runStep(step, changes);
        if (counts.failed > 0) failed.add(step.name);
        total = add(total, counts);
      });
    }
  };
  const { before, tests, others } = inStages(inGroups(chooseSteps(names)));
  await runGroups(before);
  const testing = runGroups(tests);
  // The tests have begun, so their processes keep the usual priority. The other steps get the remaining processor time.
  if (tests.length > 0) setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  await Promise.all([testing, runGroups(others)]);
  console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
  return total.failed === 0 ? 0 : 1;
}

/** The named steps and those whose results they read; all, if none is named. */
function chooseSteps(names: readonly string[]): readonly Step[] {
  const wanted = new Set(names);
  for (const { name, after } of steps) if (after !== undefined && wanted.has(name)) wanted.add(after);
  return names.length === 0 ? steps : steps.filter(({ name }) => wanted.has(name));
}

/**
 * Groups the steps: successive ones that read the result of the same step, or that may run concurrently, run at the same time;
 * the others alone.
 */
function inGroups(all: readonly Step[]): Step[][] {
  const groups: Step[][] = [];
  for (const step of all) {
    const group = groups.at(-1);
    const [first] = group ?? [];
    const isTogether = step.after === undefined ? step.besides && first?.besides : first?.after === step.after;
    if (isTogether) group?.push(step);
    else groups.push([step]);
  }
  return groups;
}

/** Groups the steps by stages: the tests and the later steps run at the same time. */
function inStages(groups: readonly Step[][]): Readonly<Record<"before" | "tests" | "others", Step[][]>> {
  const place = groups.findIndex((group) => group.some(({ name }) => name === "tests"));
  if (place === -1) return { before: [...groups], tests: [], others: [] };
  return { before: groups.slice(0, place), tests: groups.slice(place, place + 1), others: groups.slice(place + 1) };
}

function skipStep({ name, after, purpose }: Step): TestCounts {
  console.log(`skip  ${name.padEnd(10)}           ${purpose}: needs ${after}, which failed`);
  return { ...noTests, skipped: 1 };
}

/** The step's own tests, if it has any, and the step itself as one more. */
async function runStep(step: Step, changes: Changes | undefined): Promise<TestCounts> {
  const started = performance.now();
  const result = await step.run(workspaceRoot, changes).catch(
    (error: unknown): StepResult => ({
      ok: false,
      output: error instanceof Error ? (error.stack ?? error.message) : String(error),
    }),
  );
  const seconds = ((performance.now() - started) / 1000).toFixed(1).padStart(6);
  console.log(`${result.ok ? "ok  " : "FAIL"}  ${step.name.padEnd(10)} ${seconds} s  ${step.purpose}`);
  for (const note of result.notes ?? []) console.log(`      ${note}`);
  if (!result.ok) console.log(result.output.trimEnd());
  const own = result.ok ? { ...noTests, passed: 1 } : { ...noTests, failed: 1 };
  return add(own, result.counts ?? noTests);
}

function add(a: TestCounts, b: TestCounts): TestCounts {
  return { passed: a.passed + b.passed, failed: a.failed + b.failed, skipped: a.skipped + b.skipped };
}
