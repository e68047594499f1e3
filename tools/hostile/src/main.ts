/** `npm run hostile`: attacks surfaces for as long as wanted. */
import { parseArgs } from "node:util";
import { attack } from "./attack.ts";
import { surfaces } from "./surfaces/index.ts";

const usage = `npm run hostile -- SURFACE [--seconds N] [--kind NAME]

Surfaces:
${surfaces.map(({ name, says }) => `  ${name.padEnd(8)} ${says}`).join("\n")}
  all      each of them in turn

Options:
  --seconds N  for each kind of hostile input (default 10)
  --kind NAME  only this kind; may be given several times
  --seed N     of what is random (default: the time)

The exit code is 0 if nothing was found, 1 if something was, and 2 if the arguments are wrong. See docs/fuzzing.md.
`;

class UsageError extends Error {}

async function main(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      seconds: { type: "string", default: "10" },
      kind: { type: "string", multiple: true },
      seed: { type: "string", default: String(Date.now() % 2 ** 31) },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help) {
    process.stdout.write(usage);
    return 0;
  }
  const [wanted] = positionals;
  const chosen = wanted === "all" ? surfaces : surfaces.filter(({ name }) => name === wanted);
  if (positionals.length !== 1 || chosen.length === 0) throw new UsageError(`expected a surface, got "${positionals}"`);
  const [seconds, seed] = [Number(values.seconds), Number(values.seed)];
  if (!(seconds > 0)) throw new UsageError(`--seconds: expected a number above 0, got "${values.seconds}"`);
  if (!Number.isSafeInteger(seed)) throw new UsageError(`--seed: expected an integer, got "${values.seed}"`);
  process.stdout.write(`seed ${seed}\n`);
  let found = 0;
  for (const surface of chosen) {
    const onLine = (line: string) => process.stdout.write(`${line}\n`);
    const reports = await attack(surface, { seconds, seed, only: values.kind, onLine });
    found += reports.filter(({ problems }) => problems.length > 0).length;
  }
  process.stdout.write(found === 0 ? "nothing was found\n" : `${found} kinds found something\n`);
  return found === 0 ? 0 : 1;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`hostile: ${error instanceof Error ? error.message : error}\n\n${usage}`);
  process.exitCode = 2;
}
