import type { StandardSchemaV1 } from '@standard-schema/spec'

/**
 * Describes a value: a Standard Schema that converts to JSON Schema (Zod 4, ArkType, Valibot through
 * `toStandardJsonSchema`), or a plain JSON Schema object.
 */
export type Schema = StandardSchemaV1 | object

/** The type that a schema accepts. Properties with a default are optional. */
export type InferInput<S> = S extends StandardSchemaV1 ? StandardSchemaV1.InferInput<S> : FromJsonSchema<S, 'input'>

/**
 * The type of a checked value, after defaults and transforms. The type is `unknown` for a JSON Schema that is not `as
 * const`.
 */
export type InferOutput<S> = S extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<S> : FromJsonSchema<S, 'output'>

type Side = 'input' | 'output'

type FromJsonSchema<S, D extends Side> = S extends { readonly nullable: true }
  ? FromSchema<S, D> | null
  : FromSchema<S, D>

type FromSchema<S, D extends Side> = S extends { readonly const: infer C }
  ? C
  : S extends { readonly enum: readonly (infer E)[] }
    ? E
    : S extends { readonly anyOf: readonly (infer U)[] } | { readonly oneOf: readonly (infer U)[] }
      ? FromJsonSchema<U, D>
      : S extends { readonly type: readonly (infer T)[] }
        ? FromType<T, S, D>
        : S extends { readonly type: infer T }
          ? FromType<T, S, D>
          : unknown

// Distributes over T, so that a list of types becomes a union.
type FromType<T, S, D extends Side> = T extends string
  ? string extends T
    ? unknown
    : T extends 'string'
      ? string
      : T extends 'number' | 'integer'
        ? number
        : T extends 'boolean'
          ? boolean
          : T extends 'null'
            ? null
            : T extends 'array'
              ? FromArray<S, D>
              : T extends 'object'
                ? FromObject<S, D>
                : unknown
  : unknown

type FromArray<S, D extends Side> = S extends { readonly items: infer I } ? FromJsonSchema<I, D>[] : unknown[]

type FromObject<S, D extends Side> = S extends { readonly properties: infer P }
  ? Flat<
      { [K in RequiredKeys<S, P, D>]: FromJsonSchema<P[K], D> } & {
        [K in Exclude<keyof P, RequiredKeys<S, P, D>>]?: FromJsonSchema<P[K], D>
      }
    >
  : S extends { readonly additionalProperties: infer A }
    ? A extends false
      ? Record<string, never>
      : A extends object
        ? { [key: string]: FromJsonSchema<A, D> }
        : { [key: string]: unknown }
    : { [key: string]: unknown }

type RequiredKeys<S, P, D extends Side> =
  | Extract<Listed<S>, keyof P>
  | (D extends 'output' ? { [K in keyof P]: P[K] extends { readonly default: unknown } ? K : never }[keyof P] : never)

// A list of unknown strings makes no key required.
type Listed<S> = S extends { readonly required: readonly (infer R)[] } ? (string extends R ? never : R) : never

type Flat<T> = { [K in keyof T]: T[K] }
