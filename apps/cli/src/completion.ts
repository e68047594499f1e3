/**
 * Scripts that let shells complete commands, options and their values. They are made from the definitions of the commands.
 */
import type { Argument, Command, Option } from "commander";

/** The shells. */
export const shells = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof shells)[number];

/** Facts of a command that a script needs. */
interface CompletedCommand {
  readonly name: string;
  readonly description: string;
  readonly options: readonly CompletedOption[];
  /** True if it has arguments, which are files unless there are choices. */
  readonly takesArguments: boolean;
  readonly choices: readonly string[];
}

interface CompletedOption {
  /** Such as `--input` and `-i`. */
  readonly flags: readonly string[];
  readonly description: string;
  readonly takesValue: boolean;
  /** Empty: any value, or a file. */
  readonly values: readonly string[];
  readonly isRepeatable: boolean;
}

/** The script of a shell. `devices`: names for options that select devices. */
export function completionScript(shell: Shell, program: Command, devices: readonly string[]): string {
  const shared = program.options.map((option) => describeOption(option, devices));
  const commands = program.commands.map((command) => describeCommand(command, shared, devices));
  const write = { bash: bashScript, zsh: zshScript, fish: fishScript }[shell];
  return write(commands, shared);
}

function describeCommand(
  command: Command,
  shared: readonly CompletedOption[],
  devices: readonly string[],
): CompletedCommand {
  const parts = command.commands.filter((part) => part.name() !== "help");
  const all = [...command.options, ...parts.flatMap(({ options }) => options)];
  const own = all
    .filter((option, place) => all.findIndex(({ long }) => long === option.long) === place)
    .filter(({ hidden }) => !hidden)
    .map((option) => describeOption(option, devices));
  const help: CompletedOption = { ...none, flags: ["-h", "--help"], description: "explain this command" };
  const { registeredArguments } = command;
  return {
    name: command.name(),
    description: command.description(),
    options: [...own, help, ...shared.filter(({ flags }) => !flags.includes("--version"))],
    takesArguments: registeredArguments.length > 0,
    choices: [
      ...parts.map((part) => part.name()),
      ...registeredArguments.flatMap(({ argChoices = [] }: Argument) => argChoices),
    ],
  };
}

const none = { takesValue: false, values: [], isRepeatable: false } as const;

function describeOption(option: Option, devices: readonly string[]): CompletedOption {
  const flags = [option.short, option.long].filter((flag) => flag !== undefined);
  const takesValue = option.required || option.optional;
  const values = option.long === "--device" ? devices : (option.argChoices ?? []);
  // Options that collect their values say so by a reader of their own.
  return { flags, description: option.description, takesValue, values, isRepeatable: option.parseArg !== undefined };
}

/** The first clause of a description, without what a shell would read as more than text. */
function brief(text: string): string {
  return text
    .split(/[:;(]/, 1)
    .join("")
    .replace(/['"`\\$[\]]/g, "")
    .trim();
}

function bashScript(commands: readonly CompletedCommand[], shared: readonly CompletedOption[]): string {
  const words = (options: readonly CompletedOption[]) => options.flatMap(({ flags }) => flags).join(" ");
  const choosing = commands.flatMap(({ name, options }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .map(({ flags, values }) => {
        const patterns = flags.map((flag) => `"${name} ${flag}"`).join(" | ");
        return `    ${patterns}) ${values.length === 0 ? "return" : `_nnhal_words "${values.join(" ")}"; return`} ;;`;
      }),
  );
  const cases = commands.map(({ name, options, choices }) => {
    const given = choices.length === 0 ? "" : ` else _nnhal_words "${choices.join(" ")}";`;
    return `    ${name}) if [[ $current == -* ]]; then _nnhal_words "${words(options)}";${given} fi ;;`;
  });
  return `# bash completion for nnhal: eval "$(nnhal completion bash)"
_nnhal_words() {
  COMPREPLY=($(compgen -W "$1" -- "$current"))
}
_nnhal() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD - 1]}" command="" word
  COMPREPLY=()
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD - 1}"; do
    case "$word" in
      ${commands.map(({ name }) => name).join(" | ")}) command="$word"; break ;;
    esac
  done
  case "$command $previous" in
${choosing.join("\n")}
  esac
  case "$command" in
${cases.join("\n")}
    *) _nnhal_words "${commands.map(({ name }) => name).join(" ")} help ${words(shared)} --help" ;;
  esac
}
complete -o default -F _nnhal nnhal
`;
}

function zshScript(commands: readonly CompletedCommand[]): string {
  const list = commands.map(({ name, description }) => `    '${name}:${brief(description)}'`);
  const value = ({ takesValue, values }: CompletedOption) => {
    if (!takesValue) return "";
    return values.length === 0 ? ":value:_files" : `:value:(${values.join(" ")})`;
  };
  const cases = commands.map(({ name, options, takesArguments, choices }) => {
    const specs = options.flatMap((option) =>
      option.flags.map(
        (flag) => `'${option.isRepeatable ? "*" : ""}${flag}[${brief(option.description)}]${value(option)}'`,
      ),
    );
    const rest =
      choices.length > 0 ? [`'*:argument:(${choices.join(" ")})'`] : takesArguments ? ["'*:file:_files'"] : [];
    return `    ${name}) _arguments ${[...specs, ...rest].join(" ")} ;;`;
  });
  return `#compdef nnhal
# zsh completion for nnhal: eval "$(nnhal completion zsh)", or a file _nnhal in a folder of $fpath
_nnhal() {
  local -a commands
  commands=(
${list.join("\n")}
    'help:explain a command'
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
${cases.join("\n")}
    help) _describe command commands ;;
  esac
}
if [[ $funcstack[1] == _nnhal ]]; then _nnhal "$@"; else compdef _nnhal nnhal; fi
`;
}

function fishScript(commands: readonly CompletedCommand[]): string {
  const lines = commands.flatMap(({ name, description, options, takesArguments, choices }) => {
    const inside = `-n '__fish_seen_subcommand_from ${name}'`;
    const files = takesArguments && choices.length === 0 ? "-F" : "-f";
    return [
      `complete -c nnhal -f -n __fish_use_subcommand -a ${name} -d '${brief(description)}'`,
      `complete -c nnhal ${files} ${inside}${choices.length > 0 ? ` -a '${choices.join(" ")}'` : ""}`,
      ...options.map(({ flags, description: what, takesValue, values }) => {
        const names = flags.map((flag) => (flag.startsWith("--") ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`));
        const argument = !takesValue ? "" : values.length === 0 ? " -r -F" : ` -x -a '${values.join(" ")}'`;
        return `complete -c nnhal ${inside} ${names.join(" ")}${argument} -d '${brief(what)}'`;
      }),
    ];
  });
  return `# fish completion for nnhal: nnhal completion fish | source\n${lines.join("\n")}\n`;
}
