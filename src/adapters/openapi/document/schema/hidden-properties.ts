import { isRecord, type JsonObject } from '../../../../core/base/json.ts'
import type { ApiDocument } from '../api-document.ts'
import { composedSchemas } from './composition.ts'
import type { SchemaUse } from './fragment.ts'

/** Finds the properties that are left out: read-only ones of requests, and write-only ones of responses. */
export class HiddenProperties {
  readonly #document: ApiDocument
  /** The hidden names in the "properties" of single schemas. */
  readonly #own = {
    readOnly: new Map<JsonObject, readonly string[]>(),
    writeOnly: new Map<JsonObject, readonly string[]>(),
  }

  constructor(document: ApiDocument) {
    this.#document = document
  }

  /** Is the property left out? */
  isHidden(property: unknown, use: SchemaUse): boolean {
    const keyword = keywordOf(use)
    return composedSchemas(this.#document, property).some((schema) => schema[keyword] === true)
  }

  /** The hidden properties of a schema and of the schemas it consists of, unless the schema itself declares them anew. */
  of(schema: JsonObject, use: SchemaUse): ReadonlySet<string> {
    const [, ...others] = composedSchemas(this.#document, schema)
    const { properties } = schema
    const inherited = others.flatMap((other) => this.#ownNames(other, use))
    const isDeclared = (name: string): boolean => isRecord(properties) && Object.hasOwn(properties, name)
    return new Set([...inherited.filter((name) => !isDeclared(name)), ...this.#ownNames(schema, use)])
  }

  #ownNames(schema: JsonObject, use: SchemaUse): readonly string[] {
    const { properties } = schema
    if (!isRecord(properties)) return []
    const known = this.#own[keywordOf(use)]
    let names = known.get(properties)
    if (!names) {
      names = Object.keys(properties).filter((name) => this.isHidden(properties[name], use))
      known.set(properties, names)
    }
    return names
  }
}

function keywordOf(use: SchemaUse): 'readOnly' | 'writeOnly' {
  return use === 'response' ? 'writeOnly' : 'readOnly'
}
