import {
  about,
  anyOf,
  boolean,
  constant,
  type ExpectedTable,
  list,
  number,
  object,
  oneOf,
  result,
  string,
} from './schema.ts'

const guest = about('Name of the guest', string)
const id = about('Number of the customer', number)
const sortedStage = oneOf('delivered', 'packed', 'shipped')

export const objects: ExpectedTable = {
  inlineObject: { description: 'Inline type.', parameters: object({ city: string, days: number }) },
  destructured: {
    description: 'Destructured, with defaults.',
    parameters: object({ city: string, days: { ...number, default: 3 }, units: { ...string, default: 'celsius' } }, [
      'days',
      'units',
    ]),
  },
  requiredDefault: {
    description: 'A default of a required property is not used by callers that follow the type.',
    parameters: object({ days: number }),
  },
  interfaceObject: { description: 'Interface.', parameters: object({ guest, nights: number }) },
  aliasObject: {
    description: 'Alias.',
    parameters: object({ article: about('Number of the article', string), amount: number }, ['amount']),
  },
  importedObject: { description: 'Imported type.', parameters: object({ id, name: string, email: string }, ['email']) },
  genericObject: {
    description: 'Resolved generic.',
    parameters: object(
      { items: list(sortedStage), next: about('Where a parcel is.', oneOf('packed', 'shipped', 'delivered')) },
      ['next'],
    ),
  },
  defaultGeneric: { description: 'Default of a type parameter.', parameters: object({ equals: string }) },
  pickObject: { description: 'Pick.', parameters: object({ id, name: string }) },
  omitObject: { description: 'Omit.', parameters: object({ name: string, email: string }, ['email']) },
  partialObject: {
    description: 'Partial.',
    parameters: object({ id, name: string, email: string }, ['id', 'name', 'email']),
  },
  requiredObject: { description: 'Required.', parameters: object({ id, name: string, email: string }) },
  readonlyObject: { description: 'Readonly.', parameters: object({ guest, nights: number }) },
  recordOfLiterals: { description: 'Record of literals.', parameters: object({ height: number, width: number }) },
  intersectionObject: {
    description: 'Intersection.',
    parameters: object({ guest, nights: number, paid: boolean }),
  },
  updateObject: {
    description: 'Partial of a part, and the rest.',
    parameters: object({ id, name: string, email: string }, ['name', 'email']),
  },
  mappedObject: {
    description: 'Mapped type.',
    parameters: object(
      {
        guest: about('Name of the guest', object({ from: string, to: string })),
        nights: object({ from: number, to: number }),
      },
      ['guest', 'nights'],
    ),
  },
  conditionalObject: {
    description: 'Conditional types.',
    parameters: object({ guest: constant('letters'), nights: constant('digits') }),
  },
  extendedObject: {
    description: 'Extended interface.',
    parameters: object({
      arrival: string,
      // the comment of the extended interface is inherited, as in an editor
      guest: about('Name of the guest', oneOf('member', 'visitor')),
      nights: number,
    }),
  },
  keysOfType: { description: 'Keys of a type.', parameters: object({ sortBy: oneOf('guest', 'nights') }) },
  typesOfConstants: {
    description: 'Types of constants.',
    parameters: object({ size: oneOf('large', 'small'), factor: oneOf(1, 2), city: oneOf('Bergen', 'Oslo') }),
  },
  typeOfObject: {
    description: 'Type of an object.',
    parameters: object({ depth: number, title: string, nested: object({ deep: boolean }) }),
  },
  indexedAccess: { description: 'Indexed access.', parameters: object({ guest: string, stage: sortedStage }) },
  nestedObject: {
    description: 'Nested objects.',
    parameters: object(
      {
        to: object({ street: string, country: about('Country code', string) }),
        via: object({ city: string, stops: list(object({ name: string })) }),
      },
      ['via'],
    ),
  },
  optionalObject: {
    description: 'The whole object is optional.',
    parameters: object({ verbose: boolean }, ['verbose']),
  },
  defaultObject: {
    description: 'The whole object has a default.',
    parameters: object({ verbose: { ...boolean, default: false }, depth: { ...number, default: 1 } }, [
      'verbose',
      'depth',
    ]),
  },
  exactOptional: {
    description: 'Absent, or absent and undefined.',
    parameters: object({ a: string, b: string, c: string }, ['a', 'b', 'c']),
  },
  exclusiveProperties: {
    description: 'A property that must not be there.',
    parameters: object({ by: anyOf(object({ id: number }), object({ name: string })) }),
  },
  objectAndContext: {
    description: 'Object and context.',
    parameters: object({ city: string }),
    response: result(string),
  },
  contextAndObject: {
    description: 'Context and object.',
    parameters: object({ city: string }),
    response: result(string),
  },
  destructuredContext: {
    description: 'Object and a destructured context.',
    parameters: object({ city: string }),
    response: result(string),
  },
  unusualNames: {
    description: 'Properties with unusual names.',
    parameters: {
      ...object({ 'content-type': string, 1: number, toString: string, 'a b': boolean }),
      required: ['content-type', '1', 'toString'],
    },
  },
  openObject: {
    description: 'Named properties and others.',
    parameters: { ...object({ id: string }), additionalProperties: string },
  },
  emptyObject: { description: 'An empty object is no argument.', parameters: object({}) },
  inferredObject: {
    description: 'Types from their defaults, without annotations.',
    parameters: object(
      {
        city: { ...string, default: 'Oslo' },
        days: { ...number, default: 3 },
        names: { ...list(string), default: ['a'] },
      },
      ['city', 'days', 'names'],
    ),
  },
  nestedGeneric: {
    description: 'Generics around generics.',
    parameters: object(
      { items: list(object({ email: string }, ['email'])), next: object({ email: string }, ['email']) },
      ['next'],
    ),
  },
  destructuredUnion: {
    description: 'Union of objects, destructured.',
    parameters: {
      type: 'object',
      ...anyOf(
        object({ kind: constant('circle'), radius: number }),
        object({ kind: constant('square'), side: number }),
      ),
    },
  },
}
