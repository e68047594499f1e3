/**
 * The limit of the length of a function, and of a class. One that is longer is several parts that have no names yet.
 */
import ts from "typescript";
import { isTest, type SourceFile } from "./workspace.ts";

/** The most lines of a function, and of a class without its comments: its public members carry their documentation. */
const most = 120;

/** Checks the sources, except tests, whose bodies are lists of cases, and generated files. Returns one line for each problem. */
export function checkFunctionSizes(files: readonly SourceFile[]): string[] {
  return files
    .filter(({ path, text }) => !path.endsWith(".gen.ts") && !isTest(path) && lineCount(text) > most)
    .flatMap(({ path, text }) =>
      longFunctionsIn(path, text).map(
        ({ name, lines }) => `${path}: ${name}: expected at most ${most} lines, got ${lines}`,
      ),
    );
}

/** A function or class that is too long, and its number of lines. */
interface LongFunction {
  readonly name: string;
  readonly lines: number;
}

function lineCount(text: string): number {
  return text.split("\n").length;
}

function longFunctionsIn(path: string, text: string): LongFunction[] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const lineAt = (position: number) => source.getLineAndCharacterOfPosition(position).line;
  const found: LongFunction[] = [];
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
