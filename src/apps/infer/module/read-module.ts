import { isDeepStrictEqual } from 'node:util'
import type ts from 'typescript-classic'
import type { TypeScript } from '../compiler/find-compiler.ts'
import { constantOf } from '../functions/constant-value.ts'
import { calledExpression, type InferredModule } from './module-text.ts'

/** Whether the text of a module attaches exactly what its source says now. A formatter may have changed how it is written. */
export function isUpToDate(
  ts: TypeScript,
  checker: ts.TypeChecker,
  text: string,
  { functions }: InferredModule,
): boolean {
  const written = attachedValues(ts, checker, text)
  const expected = functions.map((fn) => [calledExpression(fn), fn.inferred])
  // A module is JSON, which has no -0.
  return isDeepStrictEqual(written, JSON.parse(JSON.stringify(expected)))
}

function attachedValues(ts: TypeScript, checker: ts.TypeChecker, text: string): unknown[] {
  const source = ts.createSourceFile('module.ts', text, ts.ScriptTarget.Latest, true)
  return source.statements.flatMap((statement) => {
    if (!ts.isExpressionStatement(statement) || !ts.isCallExpression(statement.expression)) return []
    const { expression, arguments: given } = statement.expression
    const [target, value] = given
    if (expression.getText() !== 'attachInferred' || !target || !value) return []
    return [[target.getText(), constantOf(ts, checker, value)]]
  })
}
