/** `npm run fuzz`: runs targets, and inputs again that have found something. */
import { readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { type Built, buildProgram, root } from "./build.ts";
import { type Finding, type Outcome, type Progress, supervise } from "./supervisor.ts";
import type { Target } from "./target.ts";
import { targetNamed, targets } from "./targets/index.ts";

const usage = `npm run fuzz -- TARGET [--minutes N]     feed a target with changed inputs, guided by what they reach
npm run fuzz -- TARGET FILE…             run inputs again, such as those that found something
npm run fuzz -- --write-corpus           write the inputs that the fuzzer starts with (tools/fuzz/corpus)

Targets:
${targets.map(({ name, says }) => `  ${name.padEnd(11)} ${says}`).join("\n")}
  all         each of them in turn, --minutes for each

Options:
  --minutes N     how long (default 1)
  --seed N        of the choice of inputs and changes (default: the time)
  --cpu-limit N   milliseconds of processor time for one input (default 3000)
  --memory N      MiB by which one input may raise the memory of the process (default 512)
  --failures DIR  where inputs are written that found something (default fuzz-failures)
  --quiet         no line about the progress

Inputs that reach something first are kept in node_modules/.cache/nnhal-fuzz and run at the start of the next run.
The exit code is 0 if nothing was found, 1 if something was, and 2 if the arguments are wrong. See docs/fuzzing.md.
`;

const heapLimit = 1024;
const silenceLimit = 30_000;

class UsageError extends Error {}

function numberOf(name: string, text: string | undefined, preset: number): number {
  if (text === undefined) return preset;
  const number = Number(text);
  if (!(number > 0)) throw new UsageError(`--${name}: expected a number above 0, got ${text}`);
  return number;
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        minutes: { type: "string" },
        seed: { type: "string" },
        "cpu-limit": { type: "string" },
        memory: { type: "string" },
        failures: { type: "string" },
        quiet: { type: "boolean" },
        help: { type: "boolean", short: "h" },
        "write-corpus": { type: "boolean" },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

async function main(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parse(argv);
  const [name, ...files] = positionals;
  if (values["write-corpus"]) {
    // Loaded only here: it imports the conformance kit.
    const { writeCorpus } = await import("./seeds.ts");
    for (const line of await writeCorpus()) console.log(line);
    return 0;
  }
  if (values.help || name === undefined) {
    console.log(usage);
    return values.help ? 0 : 2;
  }
  const chosen = targetsOf(name);
  const folder = join(root, "node_modules/.cache/nnhal-fuzz");
  const userFolder = process.env.INIT_CWD ?? process.cwd();
  const options = {
    minutes: numberOf("minutes", values.minutes, 1),
    seed: numberOf("seed", values.seed, (Date.now() % 2 ** 31) + 1),
    cpuLimit: numberOf("cpu-limit", values["cpu-limit"], 3000),
    memoryLimit: numberOf("memory", values.memory, 512) * 2 ** 20,
    failures: resolve(userFolder, values.failures ?? "fuzz-failures"),
    files: files.length === 0 ? undefined : files.map((file) => resolve(userFolder, file)),
  };
  for (const file of options.files ?? []) readFileSync(file);
  console.log("instrumenting the sources…");
  const built = await buildProgram(folder);
  let isSound = true;
  for (const target of chosen) {
    const outcome = await supervise({
      ...options,
      built,
      target: target.name,
      corpusFolder: join(folder, "corpus", target.name),
      until: Date.now() + options.minutes * 60_000,
      silenceLimit,
      heapLimit,
      onProgress: values.quiet ? () => {} : progressLine(target.name),
      onFound: (finding) => console.log(foundText(target, finding, userFolder)),
    });
    console.log(summaryOf(target, outcome, built));
    isSound &&= outcome.findings.length === 0;
  }
  return isSound ? 0 : 1;
}

function targetsOf(name: string): readonly Target[] {
  if (name === "all") return targets;
  const target = targetNamed(name);
  if (target !== undefined) return [target];
  const names = targets.map((one) => one.name).join(", ");
  throw new UsageError(`there is no target ${name}; there are: ${names}, all`);
}

/** A line that is written over on a terminal; elsewhere one each half minute. */
function progressLine(name: string): (progress: Progress) => void {
  const start = Date.now();
  let next = start;
  return ({ executions, places, corpus, memory, found }) => {
    const now = Date.now();
    if (!process.stdout.isTTY && now < next) return;
    next = now + 30_000;
    const seconds = Math.max(1, (now - start) / 1000);
    const line = `${name} ${Math.round(seconds)} s: ${executions} executions (${Math.round(executions / seconds)}/s), ${places} places, corpus ${corpus}, ${Math.round(memory / 2 ** 20)} MiB, found ${found}`;
    process.stdout.write(process.stdout.isTTY ? `\r\u001b[K${line}` : `${line}\n`);
  };
}

function foundText(target: Target, { kind, message, file }: Finding, from: string): string {
  const path = relative(from, file);
  return `\n${target.name}: ${kind}: ${message}\n  input: ${path}\n  again: npm run fuzz -- ${target.name} ${path}`;
}

function summaryOf(target: Target, { executions, findings, reached }: Outcome, { places }: Built): string {
  const counts = target.packages.map((name) => {
    const own = places.flatMap(([source], place) => (source.startsWith(`packages/${name}/`) ? [place] : []));
    return `${name} ${own.filter((place) => reached.has(place)).length} of ${own.length}`;
  });
  return `\n${target.name}: ${executions} executions, ${findings.length} found; places reached: ${counts.join(", ")}`;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof UsageError) && !(error instanceof Error && "code" in error && error.code === "ENOENT"))
    throw error;
  console.error(`fuzz: ${error.message}\n\n${usage}`);
  process.exitCode = 2;
}
