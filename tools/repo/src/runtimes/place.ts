/** Places where nnhal is tried: a runtime, a package manager, a bundle. In each the same programs run. */

/** The programs that run in a place: the columns of the table. */
export const programs = ["three lines", "command line", "worker", "daemon", "server"] as const;

/** One of them. */
export type ProgramName = (typeof programs)[number];

/** A command: the program, and its arguments. */
export type Command = readonly [program: string, ...args: string[]];

/** A place, with the commands that start programs in it. */
export interface Place {
  /** As the row of the table says it. */
  readonly name: string;
  /** The folder with the files of `tools/repo/runtimes`, where everything runs. */
  readonly folder: string;
  /** Variables besides those of this process. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Starts a script of the folder. */
  script(name: string, ...args: string[]): Command;
  /** Starts a command of a package. */
  command(name: string, ...args: string[]): Command;
  /** A site instead of scripts: the command that starts it at a port, and the path that replaces a script. */
  readonly site?: {
    start(port: number): Command;
    /** Variables for it besides those of the place. */
    env(port: number): Readonly<Record<string, string>>;
    /** The line that it prints when it answers. */
    readonly ready: RegExp;
    route(script: string): string;
  };
  /** Why a program cannot run here. */
  readonly impossible?: Partial<Readonly<Record<ProgramName, string>>>;
}

/** Outcome of a program in a place. */
export type Outcome =
  | { readonly kind: "run"; readonly seconds: number }
  | { readonly kind: "failed" | "impossible"; readonly why: string };

/** A row of the table. */
export interface Row {
  readonly name: string;
  readonly outcomes: Readonly<Record<ProgramName, Outcome>>;
}

/** A row from the outcome of each program. */
export function rowOf(name: string, outcome: (program: ProgramName) => Outcome): Row {
  const of = (program: ProgramName) => outcome(program);
  return {
    name,
    outcomes: {
      "three lines": of("three lines"),
      "command line": of("command line"),
      worker: of("worker"),
      daemon: of("daemon"),
      server: of("server"),
    },
  };
}
