import type ts from 'typescript-classic'
import type { TypeScript } from '../compiler/find-compiler.ts'
import { docsOf } from '../types/doc-comments.ts'
import type { DocTag } from '../types/docs.ts'
import { plainText } from '../types/plain-text.ts'

/** What the doc comment of a function says about its parameters. */
export interface ParameterDocs {
  /** The text of `@param city ...`, or of the comment directly before the parameter. */
  ofParameter(symbol: ts.Symbol, declaration: ts.ParameterDeclaration | undefined): string | undefined
  /** The text of `@param options.city ...`. For a destructured parameter also of `@param city ...`. */
  ofProperty(parameter: string | undefined, property: string): string | undefined
  /** The tags of the comment directly before a parameter. */
  tagsOf(declaration: ts.ParameterDeclaration | undefined): readonly DocTag[]
  /** Whether the function has `@any city`. */
  allowsAny(name: string): boolean
}

/** Reads the `@param` tags of a function. */
export function parameterDocs(ts: TypeScript, checker: ts.TypeChecker, symbol: ts.Symbol | undefined): ParameterDocs {
  const texts = new Map<string, string>()
  const anyNames = new Set<string>()
  for (const { name, text } of symbol ? docsOf(ts, checker, symbol).tags : []) {
    const [first = '', ...rest] = text.split(/\s+/)
    if (name === 'param') texts.set(first.replace(/^\[|\]$/g, ''), text.slice(first.length).replace(/^\s*-?\s*/, ''))
    else if (name === 'any') for (const one of [first, ...rest]) anyNames.add(one)
  }
  const textOf = (name: string): string | undefined => texts.get(name) || undefined
  return {
    ofParameter: (parameter, declaration) => textOf(parameter.name) ?? (declaration && ownText(ts, declaration)),
    ofProperty: (parameter, property) => {
      if (parameter !== undefined) return textOf(`${parameter}.${property}`)
      const dotted = [...texts].find(([name]) => name.endsWith(`.${property}`) && name.split('.').length === 2)?.[1]
      return textOf(property) ?? dotted
    },
    tagsOf: (declaration) => (declaration ? tagsOf(ts, declaration) : []),
    allowsAny: (name) => anyNames.has(name),
  }
}

function tagsOf(ts: TypeScript, declaration: ts.ParameterDeclaration): DocTag[] {
  return ts
    .getJSDocTags(declaration)
    .filter((tag) => !ts.isJSDocParameterTag(tag))
    .map(({ tagName, comment }) => ({ name: tagName.text, text: plainText(ts.getTextOfJSDocComment(comment) ?? '') }))
}

function ownText(ts: TypeScript, declaration: ts.ParameterDeclaration): string | undefined {
  const comments = ts
    .getJSDocCommentsAndTags(declaration)
    .filter((node) => ts.isJSDoc(node) && node.parent === declaration)
  const texts = comments.map(({ comment }) => ts.getTextOfJSDocComment(comment) ?? '')
  return plainText(texts.join('\n')) || undefined
}
