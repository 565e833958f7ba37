import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import { kindOf } from '../../../core/base/kind-of.ts'
import { ToolwrightError } from '../../../core/error/error.ts'

/**
 * The members of a JSON object that a client sent. Each member is accepted in camelCase and in snake_case; null counts as
 * absent. Every error is INVALID_REQUEST and names the field.
 */
export class Fields {
  readonly #object: JsonObject
  readonly #where: string

  /** `where` names the object in errors, such as `newMessage`. Empty for the body. */
  constructor(value: unknown, where = '') {
    if (!isRecord(value)) throw invalid(`${where || 'The body'} must be an object, got ${kindOf(value)}.`)
    this.#object = value
    this.#where = where
  }

  /** The whole object, whose keys are data of the caller. */
  whole(): JsonObject {
    return this.#object
  }

  /** The value of a member; undefined if it is absent or null. */
  value(name: string): unknown {
    const snake = toSnakeCase(name)
    const given = [...new Set([name, snake])].filter((key) => isGiven(this.#object, key))
    if (given.length > 1)
      throw invalid(`${this.path(name)} is there twice, as ${given.join(' and ')}. Send one of them.`)
    return given[0] === undefined ? undefined : this.#object[given[0]]
  }

  /** A text, or undefined. */
  optionalText(name: string): string | undefined {
    const value = this.value(name)
    if (value === undefined || typeof value === 'string') return value
    throw this.#unexpected(name, 'a string', value)
  }

  /** A text. */
  text(name: string): string {
    return this.optionalText(name) ?? this.#missing(name, 'a string')
  }

  /** A boolean; false if it is absent. */
  flag(name: string): boolean {
    const value = this.value(name) ?? false
    if (typeof value === 'boolean') return value
    throw this.#unexpected(name, 'true or false', value)
  }

  /** An object whose keys are data of the caller, or undefined. */
  optionalObject(name: string): JsonObject | undefined {
    const value = this.value(name)
    if (value === undefined || isRecord(value)) return value
    throw this.#unexpected(name, 'an object', value)
  }

  /** An object whose keys are data of the caller. */
  object(name: string): JsonObject {
    return this.optionalObject(name) ?? this.#missing(name, 'an object')
  }

  /** A list, or undefined. */
  optionalList(name: string): readonly unknown[] | undefined {
    const value = this.value(name)
    if (value === undefined || Array.isArray(value)) return value
    throw this.#unexpected(name, 'a list', value)
  }

  /** The name of a member in errors. */
  path(name: string | number): string {
    return this.#where === '' ? String(name) : `${this.#where}.${name}`
  }

  #missing(name: string, expected: string): never {
    throw this.#unexpected(name, expected, undefined)
  }

  #unexpected(name: string, expected: string, value: unknown): ToolwrightError {
    return invalid(`${this.path(name)} must be ${expected}, got ${value === undefined ? 'nothing' : kindOf(value)}.`)
  }
}

/** An error about what the client sent. */
export function invalid(message: string): ToolwrightError {
  return new ToolwrightError('INVALID_REQUEST', message)
}

/** The snake_case form of a camelCase name. */
export function toSnakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

function isGiven(object: JsonObject, key: string): boolean {
  return Object.hasOwn(object, key) && object[key] !== undefined && object[key] !== null
}
