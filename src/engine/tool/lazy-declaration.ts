import type { FunctionDeclaration } from '../../core/content/content.ts'

/** Creates a `declaration()` that calls `create` on first use. A program with a thousand tools then starts quickly. */
export function lazyDeclaration(create: () => FunctionDeclaration): () => FunctionDeclaration {
  let declaration: FunctionDeclaration | undefined
  return () => {
    declaration ??= create()
    return declaration
  }
}
