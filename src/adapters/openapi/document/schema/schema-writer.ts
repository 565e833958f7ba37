import { isRecord, type JsonObject, setOwn } from '../../../../core/base/json.ts'
import { clip } from '../../../../core/base/limits.ts'
import { findKeywordProblem, isStringList } from '../../../../core/schema/json-schema/check-keyword.ts'
import { translateNullable } from '../../../../core/schema/json-schema/nullable.ts'
import { DocumentProblem, quote } from '../api-document.ts'
import { MAX_SCHEMA_BYTES, MAX_SCHEMA_LEVELS, MAX_SCHEMA_PARTS } from '../limits.ts'
import { findDataProblem } from './data-problem.ts'
import { toDiscriminatorRule } from './discriminator.ts'
import type { Fragment, SchemaUse } from './fragment.ts'
import {
  DATA_KEYWORDS,
  OTHER_VALUE_KEYWORDS,
  SAME_VALUE_LIST_KEYWORDS,
  toPlainBounds,
  toPlainItems,
} from './keywords.ts'
import { below, deeper, NONE, type Position, ROOT } from './position.ts'
import { toUnicodePattern } from './unicode-pattern.ts'
import { addSentence, writeTexts } from './write-texts.ts'
import type { WriterContext } from './writer-context.ts'

/** Writes one fragment: a schema of an OpenAPI document in JSON Schema 2020-12. */
export class SchemaWriter {
  readonly #converter: WriterContext
  readonly #fragment: Fragment
  readonly #use: SchemaUse
  readonly #label: string
  /** How many constraints were left out. */
  #loosened = 0
  #dataBytes = 0
  #root: unknown

  constructor(converter: WriterContext, fragment: Fragment, options: { use: SchemaUse; label: string }) {
    this.#converter = converter
    this.#fragment = fragment
    this.#use = options.use
    this.#label = options.label
  }

  /** Writes the schema of the fragment. Throws `DocumentProblem` if it cannot be used. */
  writeRoot(schema: unknown): void {
    this.#root = schema
    this.#fragment.schema = this.#write(schema, ROOT)
  }

  /** Writes a schema without its alternatives, for a schema that is one of them. */
  writeBase(schema: JsonObject): void {
    const { oneOf, anyOf, ...base } = schema
    this.#root = schema
    this.#fragment.schema = this.#write(base, ROOT)
  }

  #write(given: unknown, at: Position): JsonObject | boolean {
    if (typeof given === 'boolean') return given
    if (!isRecord(given)) {
      this.#leaveOut(at.path, 'it is not a schema')
      return true
    }
    if (at.level > MAX_SCHEMA_LEVELS)
      throw new DocumentProblem(`its schema is nested deeper than ${MAX_SCHEMA_LEVELS} levels`)
    this.#converter.countPart()
    if (++this.#fragment.parts > MAX_SCHEMA_PARTS)
      throw new DocumentProblem(`its schema has more than ${MAX_SCHEMA_PARTS} parts`)
    const schema = toPlainBounds(toPlainItems(given))
    const isNullable = schema.nullable === true || schema['x-nullable'] === true
    // A nullable schema may become an alternative of a new one.
    const inner = isNullable ? deeper(at) : at
    const copy: JsonObject = {}
    if (typeof schema.$ref === 'string') this.#writeReference(schema.$ref, copy, inner)
    // Before 3.1, everything beside a reference is ignored. Authors still describe it.
    const isBare = copy.$ref !== undefined && (this.#version === '2.0' || this.#version === '3.0')
    writeTexts(schema, copy)
    if (!isBare) this.#writeKeywords(schema, copy, inner)
    if (!isNullable) return copy
    this.#fragment.parts += 2
    return translateNullable({ ...copy, nullable: true })
  }

  get #version(): string {
    return this.#converter.document.version
  }

  #writeReference(reference: string, copy: JsonObject, { chain, isPart }: Position): void {
    const target = this.#converter.define(reference, {
      // Only the properties of the form itself are files.
      use: this.#use === 'form' && chain === undefined ? 'request' : this.#use,
      // A schema that consists of a schema that lists it as an alternative would refer to itself.
      isBase: isPart && this.#converter.isAlternative(this.#root, reference),
    })
    if (target === true) return
    if (target === false) {
      copy.not = {}
      return
    }
    copy.$ref = `#/$defs/${target.name}`
    this.#fragment.references.add(target)
    if (chain === undefined) return
    this.#fragment.sameValue.set(target, Math.max(chain + 1, this.#fragment.sameValue.get(target) ?? 0))
  }

  #writeKeywords(schema: JsonObject, copy: JsonObject, at: Position): void {
    if (typeof schema.$dynamicRef === 'string' || typeof schema.$recursiveRef === 'string')
      throw new DocumentProblem('its schema uses "$dynamicRef". Use "$ref"')
    const hidden = this.#hiddenIn(schema, at)
    for (const keyword of DATA_KEYWORDS) this.#writeData(keyword, schema, copy, { ...at, hidden })
    this.#writeProperties(schema, copy, at)
    for (const keyword of OTHER_VALUE_KEYWORDS)
      if (schema[keyword] !== undefined) copy[keyword] = this.#write(schema[keyword], below(at, keyword))
    if (schema.prefixItems !== undefined)
      this.#writeList('prefixItems', schema, copy, { ...below(at, ''), path: at.path })
    const same = { ...deeper(at), hidden, isPart: false }
    for (const keyword of SAME_VALUE_LIST_KEYWORDS)
      if (schema[keyword] !== undefined) this.#writeList(keyword, schema, copy, same)
    this.#writeMap('dependentSchemas', schema, copy, same)
    this.#writeDependencies(schema, copy, same)
    this.#writeConditions(schema, copy, same)
  }

  /** Names that the schema must not require. Only a schema that requires names has any. */
  #hiddenIn(schema: JsonObject, at: Position): ReadonlySet<string> {
    if (!isRecord(schema.properties) && !Array.isArray(schema.required) && !Array.isArray(schema.allOf))
      return at.hidden
    const own = this.#converter.hidden.of(schema, this.#use)
    return own.size === 0 ? at.hidden : new Set([...at.hidden, ...own])
  }

  #writeData(keyword: string, schema: JsonObject, copy: JsonObject, at: Position): void {
    const value = schema[keyword]
    if (value === undefined) return
    const path = `${at.path}/${keyword}`
    if (keyword === 'type' && value === 'file') {
      copy.type = 'string'
      return
    }
    if (keyword === 'pattern' && typeof value === 'string') {
      const pattern = toUnicodePattern(value)
      if (this.#countPattern(pattern, path)) copy.pattern = pattern
      else addSentence(copy, `Pattern: ${clip(value, 200)}`)
      return
    }
    const problem = findDataProblem(value) ?? findKeywordProblem(keyword, value, { patterns: true })
    if (problem) this.#leaveOut(path, problem)
    else if (keyword === 'required')
      setNames(
        copy,
        (value as string[]).filter((name) => !at.hidden.has(name)),
      )
    else if (keyword === 'dependentRequired') copy.dependentRequired = withoutNames(value as JsonObject, at.hidden)
    else copy[keyword] = this.#copyData(value)
  }

  #copyData(value: unknown): unknown {
    if (typeof value !== 'object' || value === null) return value
    const text = JSON.stringify(value)
    this.#dataBytes += text.length
    if (this.#dataBytes > MAX_SCHEMA_BYTES)
      throw new DocumentProblem(`its schema is larger than ${MAX_SCHEMA_BYTES} bytes`)
    return JSON.parse(text)
  }

  #countPattern(source: string, path: string): boolean {
    const check = this.#converter.checkPattern(source)
    if ('steps' in check) this.#fragment.patternSteps += check.steps
    else this.#leaveOut(path, check.problem)
    return 'steps' in check
  }

  #writeProperties(schema: JsonObject, copy: JsonObject, at: Position): void {
    const { files, hidden } = this.#converter
    const { properties } = schema
    if (isRecord(properties)) {
      const kept: JsonObject = {}
      for (const name of Object.keys(properties)) {
        const property = properties[name]
        if (hidden.isHidden(property, this.#use)) continue
        const isFormField = this.#use === 'form' && at.chain !== undefined
        const file = isFormField ? files.toFileSchema(property) : undefined
        setOwn(kept, name, file ?? this.#write(property, below(at, `properties/${clip(name, 40)}`)))
      }
      copy.properties = kept
    } else if (properties !== undefined) this.#leaveOut(`${at.path}/properties`, 'it must be an object of schemas')
    this.#writePatternProperties(schema, copy, at)
  }

  #writePatternProperties({ patternProperties }: JsonObject, copy: JsonObject, at: Position): void {
    if (!isRecord(patternProperties)) return
    const kept: JsonObject = {}
    for (const given of Object.keys(patternProperties)) {
      const source = toUnicodePattern(given)
      const path = `patternProperties/${clip(source, 40)}`
      if (this.#countPattern(source, `${at.path}/${path}`))
        setOwn(kept, source, this.#write(patternProperties[given], below(at, path)))
      // Any key may match a pattern that cannot be used, so every key is allowed.
      else kept[''] = true
    }
    copy.patternProperties = kept
  }

  #writeList(keyword: string, schema: JsonObject, copy: JsonObject, at: Position): void {
    const parts = schema[keyword]
    if (!Array.isArray(parts) || parts.length === 0) {
      this.#leaveOut(`${at.path}/${keyword}`, 'it must be a list of schemas')
      return
    }
    const before = this.#loosened
    const isChoice = keyword === 'oneOf' || keyword === 'anyOf'
    const toRule = toDiscriminatorRule(this.#converter.document, isChoice ? schema.discriminator : undefined)
    const written = parts.map((part, i) => {
      const position = {
        ...at,
        path: `${at.path}/${keyword}/${i}`,
        isPart: keyword === 'allOf' && at.chain !== undefined,
        ...(isChoice && { hidden: NONE }),
      }
      const rule = toRule(part)
      const one = this.#write(part, position)
      if (!rule || !isRecord(one)) return one
      this.#fragment.parts += 2
      return Object.keys(one).length === 1 ? { ...one, ...rule } : { allOf: [one, rule] }
    })
    // Without one of their constraints, two alternatives may fit.
    if (keyword === 'oneOf' && this.#loosened > before && schema.anyOf === undefined) copy.anyOf = written
    else copy[keyword] = written
  }

  #writeMap(keyword: string, schema: JsonObject, copy: JsonObject, at: Position): void {
    const map = schema[keyword]
    if (map === undefined) return
    if (!isRecord(map)) {
      this.#leaveOut(`${at.path}/${keyword}`, 'it must be an object of schemas')
      return
    }
    const kept: JsonObject = {}
    for (const name of Object.keys(map))
      setOwn(kept, name, this.#write(map[name], { ...at, path: `${at.path}/${keyword}/${clip(name, 40)}` }))
    copy[keyword] = kept
  }

  /** Draft 7 has one keyword for lists of names and schemas. */
  #writeDependencies({ dependencies }: JsonObject, copy: JsonObject, at: Position): void {
    if (!isRecord(dependencies)) return
    const kept: JsonObject = {}
    for (const name of Object.keys(dependencies)) {
      const part = dependencies[name]
      const path = `${at.path}/dependencies/${clip(name, 40)}`
      setOwn(
        kept,
        name,
        isStringList(part) ? part.filter((other) => !at.hidden.has(other)) : this.#write(part, { ...at, path }),
      )
    }
    copy.dependencies = kept
  }

  /** A condition that lost a constraint would refuse valid values, so it is left out. */
  #writeConditions(schema: JsonObject, copy: JsonObject, at: Position): void {
    for (const keyword of ['not', 'if', 'then', 'else']) {
      if (schema[keyword] === undefined) continue
      const before = this.#loosened
      const written = this.#write(schema[keyword], { ...at, path: `${at.path}/${keyword}`, hidden: NONE })
      const isCondition = keyword === 'not' || keyword === 'if'
      if (!isCondition || this.#loosened === before) copy[keyword] = written
      else if (keyword === 'if') return
    }
  }

  #leaveOut(path: string, problem: string): void {
    this.#loosened++
    if (this.#use === 'response') return // no model sees it
    const where = path === '' ? '' : ` at ${quote(path)}`
    this.#converter.document.notes.add(`${this.#label}${where}`, `: a constraint is left out: ${problem}.`)
  }
}

function setNames(copy: JsonObject, required: readonly string[]): void {
  if (required.length > 0) copy.required = required
}

function withoutNames(lists: JsonObject, names: ReadonlySet<string>): JsonObject {
  const kept: JsonObject = {}
  for (const key of Object.keys(lists))
    setOwn(
      kept,
      key,
      (lists[key] as string[]).filter((name) => !names.has(name)),
    )
  return kept
}
