// Doc comments of properties, parameters and types.
import type ts from 'typescript-classic'
import { isKnownTag } from './doc-keywords.ts'
import type { Docs, DocTag } from './docs.ts'
import { inlineDocs } from './inline-comment.ts'
import { plainText } from './plain-text.ts'
import { isOwnCode, type Reading } from './reading.ts'
import { aliasOf } from './type-nodes.ts'

/** Reads the doc comment of a property, and of the aliases that its type names. What is nearer to the property comes first. */
export function readDocs(
  reading: Reading,
  { symbol, typeNode }: { symbol?: ts.Symbol | undefined; typeNode?: ts.TypeNode | undefined },
): Docs {
  const { ts, program, checker } = reading
  const found: Docs[] = symbol ? [writtenDocs(reading, symbol)] : []
  let alias = aliasOf(ts, checker, typeNode)
  for (let depth = 0; alias && depth < 20; depth++) {
    // the comments of Record, Partial and others explain TypeScript, not the value
    if (program.isSourceFileDefaultLibrary(alias.getSourceFile())) break
    const named = checker.getSymbolAtLocation(alias.name)
    if (named) found.push(writtenDocs(reading, named))
    alias = aliasOf(ts, checker, alias.type)
  }
  return mergeDocs(found)
}

function writtenDocs(reading: Reading, symbol: ts.Symbol): Docs {
  const { description, tags } = docsOf(reading.ts, reading.checker, symbol)
  return { description, tags: usedTags(reading, tags, symbol.declarations) }
}

/** The tags to read. Users cannot correct the tags of a package, so only known ones are kept. */
export function usedTags(
  { program }: Reading,
  tags: readonly DocTag[],
  declarations: readonly ts.Declaration[] = [],
): readonly DocTag[] {
  const isOwn = declarations.every((node) => isOwnCode(program, node))
  return isOwn ? tags : tags.filter(({ name }) => isKnownTag(name))
}

/** The doc comment of a symbol. */
export function docsOf(ts: Reading['ts'], checker: ts.TypeChecker, symbol: ts.Symbol): Docs {
  const description = plainText(ts.displayPartsToString(symbol.getDocumentationComment(checker)))
  const tags = symbol
    .getJsDocTags(checker)
    .map(({ name, text }) => ({ name, text: plainText(ts.displayPartsToString(text)) }))
  return mergeDocs([...inlineDocs(ts, symbol), { ...(description !== '' && { description }), tags }])
}

/** Merges doc comments. The first description and the first tag of each name win. */
export function mergeDocs(all: readonly Docs[]): Docs {
  const tags: DocTag[] = []
  for (const docs of all) {
    const known = new Set(tags.map(({ name }) => name))
    tags.push(...docs.tags.filter(({ name }) => !known.has(name)))
  }
  return { description: all.find(({ description }) => description !== undefined)?.description, tags }
}
