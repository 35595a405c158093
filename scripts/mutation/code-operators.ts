import ts from 'typescript';
import type { Edit } from './mutant.ts';
import { isSql, sqlEdits } from './sql-operators.ts';

const K = ts.SyntaxKind;

/** Each by the one that differs from it least, so that a test has to know the border. */
const COMPARISONS = new Map<ts.SyntaxKind, string>([
  [K.LessThanToken, '<='],
  [K.LessThanEqualsToken, '<'],
  [K.GreaterThanToken, '>='],
  [K.GreaterThanEqualsToken, '>'],
  [K.EqualsEqualsEqualsToken, '!=='],
  [K.ExclamationEqualsEqualsToken, '==='],
]);

/** A millisecond more or less of a time that somebody chose is no fault that anybody could see. */
const TIMES = /_(MS|SECONDS|MINUTES|HOURS|DAYS)$/;
const LOGGING = /^(await )?(this\.)?(log|logger)\./;

/** Every fault of the list that can be put into the file. */
export function codeEdits(file: string, text: string): Edit[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2023, true);
  const edits: Edit[] = [];
  const add = (operator: string, node: ts.Node, replacement: string): void => {
    edits.push({ operator, start: node.getStart(source), end: node.end, replacement });
  };
  const visit = (node: ts.Node): void => {
    if (isLeftAlone(node, source)) return;
    if (ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)) {
      const start = node.getStart(source) + 1;
      const raw = text.slice(start, node.end - 1);
      if (isSql(raw)) {
        for (const edit of sqlEdits(raw)) {
          edits.push({ ...edit, start: edit.start + start, end: edit.end + start });
        }
      }
    }
    inExpressions(node, source, add);
    inStatements(node, source, add);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return edits;
}

type Add = (operator: string, node: ts.Node, replacement: string) => void;

function inExpressions(node: ts.Node, source: ts.SourceFile, add: Add): void {
  const textOf = (part: ts.Node): string => part.getText(source);
  if (ts.isBinaryExpression(node)) {
    const { left, right, operatorToken } = node;
    const other = COMPARISONS.get(operatorToken.kind);
    if (other) add('comparison', operatorToken, other);
    const isAnd = operatorToken.kind === K.AmpersandAmpersandToken;
    if (isAnd || operatorToken.kind === K.BarBarToken) {
      add('and for or', operatorToken, isAnd ? '||' : '&&');
      add('dropped condition', node, `(${textOf(left)})`);
      add('dropped condition', node, `(${textOf(right)})`);
    }
    if (operatorToken.kind === K.PlusToken && !isText(left) && !isText(right)) {
      add('arithmetic', operatorToken, '-');
    }
    if (operatorToken.kind === K.MinusToken) add('arithmetic', operatorToken, '+');
  }
  if (ts.isPrefixUnaryExpression(node) && node.operator === K.ExclamationToken) {
    add('negation', node, textOf(node.operand));
  }
  if (ts.isConditionalExpression(node)) {
    add('negation', node.condition, `!(${textOf(node.condition)})`);
  }
  if (node.kind === K.TrueKeyword && !ts.isLiteralTypeNode(node.parent))
    add('boolean', node, 'false');
  if (node.kind === K.FalseKeyword && !ts.isLiteralTypeNode(node.parent))
    add('boolean', node, 'true');
  if (ts.isNumericLiteral(node)) {
    const value = Number(node.text);
    add('number', node, String(value + 1));
    if (value > 0) add('number', node, String(value - 1));
  }
}

function inStatements(node: ts.Node, source: ts.SourceFile, add: Add): void {
  if (ts.isIfStatement(node)) {
    add('negation', node.expression, `!(${node.expression.getText(source)})`);
    if (!node.elseStatement && leaves(node.thenStatement)) add('removed guard', node, ';');
  }
  if (ts.isExpressionStatement(node)) {
    // Without super() a class cannot be made at all.
    if (!/^super\(/.test(node.getText(source))) add('removed statement', node, ';');
  }
}

function leaves(statement: ts.Statement): boolean {
  const last = ts.isBlock(statement) ? statement.statements.at(-1) : statement;
  return (
    last !== undefined &&
    (ts.isReturnStatement(last) || ts.isThrowStatement(last) || ts.isContinueStatement(last))
  );
}

function isText(node: ts.Node): boolean {
  return ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);
}

function isLeftAlone(node: ts.Node, source: ts.SourceFile): boolean {
  if (ts.isImportDeclaration(node) || ts.isDecorator(node) || ts.isTypeNode(node)) return true;
  if (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return true;
  if (ts.isVariableDeclaration(node)) return TIMES.test(node.name.getText(source));
  return ts.isExpressionStatement(node) && LOGGING.test(node.getText(source));
}
