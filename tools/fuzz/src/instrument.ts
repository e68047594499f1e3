/**
 * Instrumentation of sources, which counts the places that they reach: every function, branch, case, loop body and operand of a
 * logical operator has a number, and increments its element in an array. Digests are compared as always equal, since no change
 * of a sealed file could get past them.
 */
import ts from "typescript";
import { countsName } from "./coverage.ts";

/** An instrumented source. */
export interface Instrumented {
  readonly code: string;
  /** The line of each place, the first one being number `first`. */
  readonly lines: readonly number[];
}

/** Instruments a TypeScript source. `first`: the number of its first place. */
export function instrument(text: string, path: string, first: number): Instrumented {
  const lines: number[] = [];
  const { outputText } = ts.transpileModule(text, {
    fileName: path,
    compilerOptions: {
      target: ts.ScriptTarget.ESNext,
      module: ts.ModuleKind.ESNext,
      verbatimModuleSyntax: true,
      inlineSourceMap: true,
      inlineSources: false,
    },
    transformers: { before: [(context) => (source) => visitSource(source, context, lines, first)] },
  });
  return { code: outputText, lines };
}

function visitSource(source: ts.SourceFile, context: ts.TransformationContext, lines: number[], first: number) {
  const { factory } = context;

  /** `counts[N]++` of the next place. */
  const makeCounting = (at: ts.Node): ts.Expression => {
    lines.push(source.getLineAndCharacterOfPosition(at.pos < 0 ? 0 : at.getStart(source)).line + 1);
    const place = factory.createNumericLiteral(first + lines.length - 1);
    const element = factory.createElementAccessExpression(factory.createIdentifier(countsName), place);
    return factory.createPostfixIncrement(element);
  };
  const count = (at: ts.Node) => factory.createExpressionStatement(makeCounting(at));
  const asBlock = (statement: ts.Statement | undefined, at: ts.Node): ts.Block => {
    const statements = statement === undefined ? [] : ts.isBlock(statement) ? statement.statements : [statement];
    return factory.createBlock([count(at), ...statements], true);
  };
  const findValued = (expression: ts.Expression, at: ts.Node): ts.Expression =>
    factory.createParenthesizedExpression(factory.createComma(makeCounting(at), expression));

  const visit = (node: ts.Node): ts.Node => {
    // Types and declarations without code are erased.
    if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return node;
    const visited = ts.visitEachChild(node, visit, context);
    if (ts.isIfStatement(visited)) {
      const { expression, thenStatement, elseStatement } = visited;
      return factory.updateIfStatement(visited, expression, asBlock(thenStatement, node), asBlock(elseStatement, node));
    }
    if (ts.isConditionalExpression(visited)) {
      const { condition, questionToken, whenTrue, colonToken, whenFalse } = visited;
      return factory.updateConditionalExpression(
        visited,
        condition,
        questionToken,
        findValued(whenTrue, node),
        colonToken,
        findValued(whenFalse, node),
      );
    }
    if (ts.isBinaryExpression(visited) && logical.has(visited.operatorToken.kind)) {
      const { left, operatorToken, right } = visited;
      return factory.updateBinaryExpression(visited, left, operatorToken, findValued(right, node));
    }
    if (ts.isForStatement(visited)) {
      const { initializer, condition, incrementor, statement } = visited;
      return factory.updateForStatement(visited, initializer, condition, incrementor, asBlock(statement, node));
    }
    if (ts.isForOfStatement(visited)) {
      const { awaitModifier, initializer, expression, statement } = visited;
      return factory.updateForOfStatement(visited, awaitModifier, initializer, expression, asBlock(statement, node));
    }
    if (ts.isForInStatement(visited)) {
      const { initializer, expression, statement } = visited;
      return factory.updateForInStatement(visited, initializer, expression, asBlock(statement, node));
    }
    if (ts.isWhileStatement(visited)) {
      return factory.updateWhileStatement(visited, visited.expression, asBlock(visited.statement, node));
    }
    if (ts.isCaseClause(visited)) {
      return factory.updateCaseClause(visited, visited.expression, [count(node), ...visited.statements]);
    }
    if (ts.isDefaultClause(visited)) return factory.updateDefaultClause(visited, [count(node), ...visited.statements]);
    if (ts.isCatchClause(visited)) {
      return factory.updateCatchClause(visited, visited.variableDeclaration, asBlock(visited.block, node));
    }
    if (ts.isArrowFunction(visited)) {
      const { modifiers, typeParameters, parameters, type, equalsGreaterThanToken, body } = visited;
      const counting = ts.isBlock(body) ? asBlock(body, node) : findValued(body, node);
      return factory.updateArrowFunction(
        visited,
        modifiers,
        typeParameters,
        parameters,
        type,
        equalsGreaterThanToken,
        counting,
      );
    }
    // The bodies of functions, methods, accessors and constructors.
    if (ts.isBlock(visited) && ts.isFunctionLike(node.parent) && !ts.isArrowFunction(node.parent)) {
      // A call of super must come first only among uses of `this`; to count is none.
      return asBlock(visited, node);
    }
    if (ts.isCallExpression(visited) && isDigestComparison(visited.expression)) {
      return factory.createParenthesizedExpression(
        factory.createComma(...asPair(visited.arguments), factory.createTrue()),
      );
    }
    return visited;
  };
  const asPair = (given: ts.NodeArray<ts.Expression>): [ts.Expression] => [factory.createArrayLiteralExpression(given)];
  return ts.visitEachChild(source, visit, context);
}

function isDigestComparison(called: ts.Expression): boolean {
  return ts.isPropertyAccessExpression(called) && called.name.text === "timingSafeEqual";
}

const logical: ReadonlySet<ts.SyntaxKind> = new Set([
  ts.SyntaxKind.AmpersandAmpersandToken,
  ts.SyntaxKind.BarBarToken,
  ts.SyntaxKind.QuestionQuestionToken,
]);
