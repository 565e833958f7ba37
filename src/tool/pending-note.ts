import type { FunctionDeclaration } from '../content/content.ts'

const NOTE =
  'This starts work that goes on after the call returns. While its result is pending, do not call it again for the same work.'

/** Adds, once, the sentence that keeps a model from calling a long-running tool again. */
export function addPendingNote(declaration: FunctionDeclaration): FunctionDeclaration {
  const { description = '' }: { description?: string } = declaration // one written by hand may have none
  if (description.includes(NOTE)) return declaration
  return { ...declaration, description: description === '' ? NOTE : `${description}\n\n${NOTE}` }
}
