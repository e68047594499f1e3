/**
 * `nnhal completion SHELL`: prints a script that lets the shell complete command lines.
 */
import { Argument, type Command } from "commander";
import { completionScript, type Shell, shells } from "../completion.ts";
import type { Surroundings } from "../context.ts";
import { allDevices } from "../option-values.ts";

const help = `
To complete in each new shell, add the line to the file of the shell:
  bash  ~/.bashrc                   eval "$(nnhal completion bash)"
  zsh   ~/.zshrc, behind compinit   eval "$(nnhal completion zsh)"
  fish  ~/.config/fish/config.fish  nnhal completion fish | source

Examples:
  nnhal completion bash`;

/** Gives the command its arguments, options and work. `program` has all commands with their options. */
export function registerCompletionCommand(
  command: Command,
  program: Command,
  { stdout, engines }: Pick<Surroundings, "stdout" | "engines">,
): void {
  command
    .addArgument(new Argument("<shell>", "the shell").choices(shells))
    .addHelpText("after", help)
    .action(async (shell: Shell) => {
      const installed = (await engines()).filter(({ isInstalled }) => isInstalled?.() ?? true);
      const devices = [allDevices, ...installed.map(({ device }) => device.replace(/^nnhal-/, ""))];
      stdout.write(completionScript(shell, program, devices));
    });
}
