/** The options of the scripts that take minutes: none of them begins by mistake. */
import { type ParseArgsConfig, parseArgs } from "node:util";

type Options = NonNullable<ParseArgsConfig["options"]>;

/** The values of a script's options, or what is to be printed instead, with the exit code. `usage`: its help. */
export function readOptions<T extends Options>(usage: string, options: T, args: readonly string[]) {
  try {
    const { values } = parseArgs({ args: [...args], options: { ...options, help: { type: "boolean", short: "h" } } });
    return "help" in values && values.help === true ? { printed: usage, exitCode: 0 } : { values };
  } catch (error) {
    return { printed: `${error instanceof Error ? error.message : error}\n\n${usage}`, exitCode: 2 };
  }
}

/** The same for the process at hand, which ends if something is printed. */
export function optionsOf<T extends Options>(usage: string, options: T) {
  const read = readOptions(usage, options, process.argv.slice(2));
  if (read.values !== undefined) return read.values;
  (read.exitCode === 0 ? process.stdout : process.stderr).write(`${read.printed}\n`);
  process.exit(read.exitCode);
}
