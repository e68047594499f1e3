/**
 * The limit of the length of a function, and of a class. One that is longer is several parts that have no names yet. Those of
 * before the limit are in a list that only shrinks.
 */
import ts from "typescript";
import { type LongFunction, longFunctions } from "./long-functions.ts";
import { isTest, type SourceFile } from "./workspace.ts";

/** The most lines of a function, and of a class without its comments: its public members carry their documentation. */
const most = 120;

/** Checks the sources, except tests, whose bodies are lists of cases, and generated files. Returns one line for each problem. */
export function checkFunctionSizes(
  files: readonly SourceFile[],
  known: readonly LongFunction[] = longFunctions,
): string[] {
  const problems: string[] = [];
  const left = new Map(known.map((one) => [keyOf(one), one]));
  for (const { path, text } of files) {
    if (path.endsWith(".gen.ts") || isTest(path) || lineCount(text) <= most) continue;
    for (const { name, lines } of longFunctionsIn(path, text)) {
      const entry = left.get(keyOf({ path, name }));
      left.delete(keyOf({ path, name }));
      if (entry === undefined) problems.push(`${path}: ${name}: expected at most ${most} lines, got ${lines}`);
      else if (lines > entry.lines)
        problems.push(`${path}: ${name}: expected at most ${entry.lines} lines, its number in the list, got ${lines}`);
    }
  }
  for (const { path, name } of left.values())
    problems.push(`${path}: ${name}: is in the list of long functions, but is none`);
  return problems;
}

function keyOf({ path, name }: Pick<LongFunction, "path" | "name">): string {
  return `${path}: ${name}`;
}

function lineCount(text: string): number {
  return text.split("\n").length;
}

function longFunctionsIn(path: string, text: string): Pick<LongFunction, "name" | "lines">[] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const lineAt = (position: number) => source.getLineAndCharacterOfPosition(position).line;
  const found: Pick<LongFunction, "name" | "lines">[] = [];
  const visit = (node: ts.Node): void => {
    const isFunction = ts.isFunctionLike(node) && "body" in node && node.body !== undefined;
    if (isFunction || ts.isClassLike(node)) {
      const [first, last] = [lineAt(node.getStart(source)), lineAt(node.end)];
      const all = last - first + 1;
      // Nothing in a short one is long.
      if (all <= most) return;
      const lines = isFunction ? all : linesOfCode(node, source).size;
      if (lines > most) found.push({ name: nameOf(node, source), lines });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** Returns the numbers of the lines on which a node has a word or a sign that is not in a comment. */
function linesOfCode(node: ts.Node, source: ts.SourceFile): Set<number> {
  const lines = new Set<number>();
  const visit = (part: ts.Node): void => {
    if (ts.isJSDoc(part)) return;
    const parts = part.getChildren(source);
    for (const one of parts) visit(one);
    if (parts.length > 0) return;
    const last = source.getLineAndCharacterOfPosition(part.end).line;
    for (let line = source.getLineAndCharacterOfPosition(part.getStart(source)).line; line <= last; line++)
      lines.add(line);
  };
  visit(node);
  return lines;
}

/** Returns the name of a function or class, or of the constant or property whose value it is. */
function nameOf(node: ts.Node, source: ts.SourceFile): string {
  for (const one of [node, node.parent]) {
    const isNamed =
      ts.isFunctionLike(one) || ts.isClassLike(one) || ts.isVariableDeclaration(one) || ts.isPropertyAssignment(one);
    if (isNamed && one.name !== undefined) return one.name.getText(source);
  }
  return "a function without a name";
}
