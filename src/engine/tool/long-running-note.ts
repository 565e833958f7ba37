import type { FunctionDeclaration } from '../../core/content/content.ts'

const NOTE =
  'This tool starts work that continues after the call returns. While the result is pending, do not call the tool again for the same work.'

/** Adds a sentence that tells the model not to call a long-running tool again. Adds it only once. */
export function addPendingNote(declaration: FunctionDeclaration): FunctionDeclaration {
  const { description = '' }: { description?: string } = declaration // a declaration written by hand may have none
  if (description.includes(NOTE)) return declaration
  return { ...declaration, description: description === '' ? NOTE : `${description}\n\n${NOTE}` }
}
