import type ts from 'typescript-classic'
import type { TypeScript } from '../compiler/find-compiler.ts'
import type { Docs } from './docs.ts'
import { plainText } from './plain-text.ts'

/**
 * The doc comment in `{ /** City *\/ city: string }`. The compiler skips the comment of a member on the line of what comes before it.
 * Empty if there is no such comment.
 */
export function inlineDocs(ts: TypeScript, { valueDeclaration: declaration }: ts.Symbol): Docs[] {
  if (
    !declaration ||
    (!ts.isTypeElement(declaration) && !ts.isClassElement(declaration) && !ts.isObjectLiteralElement(declaration))
  )
    return []
  const { text } = declaration.getSourceFile()
  const start = declaration.getStart()
  const ranges = ts.getTrailingCommentRanges(text, declaration.pos) ?? []
  const range = ranges.findLast(({ pos, end }) => end <= start && text.startsWith('/**', pos))
  // a comment at the end of a line is about the property before it
  if (!range || text.slice(range.end, start).includes('\n')) return []
  const comment = text.slice(range.pos, range.end)
  const { statements } = ts.createSourceFile('comment.ts', `${comment}\nlet value`, ts.ScriptTarget.Latest, true)
  const [statement] = statements
  if (!statement) return []
  const texts = ts.getJSDocCommentsAndTags(statement).filter(ts.isJSDoc).map(textOf)
  const tags = ts.getJSDocTags(statement).map((tag) => {
    const name = ts.isJSDocParameterTag(tag) ? `${tag.name.getText()} ` : ''
    return { name: tag.tagName.text, text: `${name}${textOf(tag)}`.trim() }
  })
  const description = texts.join('\n').trim()
  return [{ ...(description !== '' && { description }), tags }]

  function textOf({ comment }: ts.JSDoc | ts.JSDocTag): string {
    return plainText(ts.getTextOfJSDocComment(comment) ?? '')
  }
}
