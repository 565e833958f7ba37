// References inside the document. References to anything else are never read or fetched.
import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import { resolvePointer } from '../../../core/schema/json-schema/json-pointer.ts'
import { type ApiDocument, DocumentProblem, quote } from './api-document.ts'

/** References from one object to the next until the object itself. */
const MAX_HOPS = 50

/** The object that `value` is or refers to. Throws `DocumentProblem`. `what` names it in the message. */
export function followReferences(document: ApiDocument, value: unknown, what: string): JsonObject {
  let target = value
  for (let hops = 0; hops < MAX_HOPS; hops++) {
    if (!isRecord(target)) throw new DocumentProblem(`${what} is not an object`)
    if (!Object.hasOwn(target, '$ref')) return target
    target = resolveReference(document, target.$ref)
  }
  throw new DocumentProblem(`${what} is a chain of more than ${MAX_HOPS} references, or a reference to itself`)
}

/** The part of the document that a "$ref" points to. Throws `DocumentProblem`. */
export function resolveReference(document: ApiDocument, reference: unknown): unknown {
  if (typeof reference !== 'string') throw new DocumentProblem('"$ref" is not a text')
  if (!reference.startsWith('#'))
    throw new DocumentProblem(
      `it refers to ${quote(withoutSecrets(reference))}, outside of the document. Bundle the document into one file`,
    )
  const fragment = reference.slice(1)
  const isPointer = fragment === '' || fragment.startsWith('/')
  const target = isPointer ? resolvePointer(document.root, fragment) : anchorsOf(document).get(fragment)
  if (target === undefined) throw new DocumentProblem(`it refers to ${quote(reference)}, which is not in the document`)
  return target
}

/** The reference without credentials and query. */
function withoutSecrets(reference: string): string {
  return reference.replace(/\/\/[^/@]*@/, '//').replace(/\?[^#]*/, '')
}

function anchorsOf(document: ApiDocument): ReadonlyMap<string, JsonObject> {
  document.anchors ??= findAnchors(document.root)
  return document.anchors
}

/** Every object with "$anchor". The first of two with one name wins. */
function findAnchors(root: JsonObject): Map<string, JsonObject> {
  const found = new Map<string, JsonObject>()
  const seen = new Set<object>([root])
  // The set grows while it is read, so that a document of any depth takes no stack.
  for (const value of seen) {
    const { $anchor } = value as JsonObject
    if (typeof $anchor === 'string' && !found.has($anchor)) found.set($anchor, value as JsonObject)
    for (const part of Object.values(value)) if (typeof part === 'object' && part !== null) seen.add(part)
  }
  return found
}
