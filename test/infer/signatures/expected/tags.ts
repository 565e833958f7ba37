import {
  about,
  anyOf,
  boolean,
  date,
  type ExpectedTable,
  list,
  nil,
  number,
  object,
  oneOf,
  record,
  string,
  tuple,
} from './schema.ts'

const country = about('Country code', { ...string, pattern: '^[A-Z]{2}$' })

export const tags: ExpectedTable = {
  stringTags: {
    description: 'Tags of strings.',
    parameters: object(
      {
        country: about('Two letters', { ...string, minLength: 2, maxLength: 2, pattern: '^[A-Z]*$' }),
        email: { ...string, format: 'email' },
        address: { ...string, pattern: '^[^@\\s]+@[^@\\s]+$' },
        id: { ...string, format: 'uuid' },
      },
      ['id'],
    ),
  },
  numberTags: {
    description: 'Tags of numbers.',
    parameters: object(
      {
        count: { ...number, minimum: 1, maximum: 10 },
        temperature: { ...number, minimum: -273.15 },
        minutes: { ...number, multipleOf: 5 },
      },
      ['temperature'],
    ),
  },
  positionalTags: {
    description: 'Tags of positional parameters.',
    parameters: object({ count: about('How many', { ...number, minimum: 1 }), code: { ...string, maxLength: 3 } }, [
      'code',
    ]),
  },
  arrayTags: {
    description: 'Tags of arrays.',
    parameters: object({ names: { ...list(string), minItems: 1, maxItems: 3 } }),
  },
  defaultTags: {
    description: 'Defaults of tags.',
    parameters: object(
      {
        limit: { ...number, default: 10 },
        units: { ...oneOf('celsius', 'fahrenheit'), default: 'celsius' },
        city: { ...string, default: 'Oslo' },
        zip: { ...string, default: '12345' },
        names: { ...list(string), default: ['a'] },
        parent: { ...anyOf(string, nil), default: null },
        isOpen: { ...boolean, default: true },
      },
      ['limit', 'units', 'city', 'zip', 'names', 'parent', 'isOpen'],
    ),
  },
  exampleTags: {
    description: 'Examples, and a deprecated property.',
    parameters: object(
      {
        city: { ...string, examples: ['Oslo', 'Bergen'] },
        days: { ...number, examples: [3] },
        zip: { ...string, examples: ['0150'] },
        town: { ...string, deprecated: true },
      },
      ['town'],
    ),
  },
  aliasTags: {
    description: 'Tags of an alias.',
    parameters: object({
      from: country,
      to: about('Where it goes', country),
      others: list(country),
      via: anyOf(country, nil),
      byName: record(country),
      pair: tuple([country, anyOf(country, nil)]),
    }),
  },
  genericAliasTags: {
    description: 'Tags of an alias that fills in a type parameter or is the value of a record.',
    parameters: object({
      page: object({ item: country, next: string }, ['next']),
      pages: list(object({ item: number, next: country }, ['next'])),
      pair: object({ first: country, second: anyOf(number, nil) }),
      byKey: object({ from: country, to: country }),
      byProperty: object({ high: country, low: country }),
    }),
  },
  genericArgumentsTags: {
    description: 'Tags of an alias that fills in a type parameter of all arguments.',
    parameters: object({ item: country, next: country }, ['next']),
  },
  positionalAliasTags: {
    description: 'Tags of an alias of a positional parameter.',
    parameters: object({ country, others: list(country) }, ['others']),
  },
  unionTags: {
    description: 'Tags apply to the fitting part of a union.',
    parameters: object({
      price: anyOf({ ...number, minimum: 0 }, nil),
      code: anyOf({ ...string, minLength: 1 }, number),
    }),
  },
  mappedTags: {
    description: 'A mapped type keeps the comments and drops the tags of the types it replaced.',
    parameters: object({ low: about('Smallest', boolean), high: about('Largest', boolean) }),
  },
  partialTags: {
    description: 'A mapped type keeps the tags that still apply.',
    parameters: object(
      { low: about('Smallest', { ...number, minimum: 0 }), high: about('Largest', { ...number, maximum: 9 }) },
      ['low', 'high'],
    ),
  },
  anyTags: {
    description: 'Any value, on purpose.',
    parameters: object({ value: {}, values: list({}), byName: record({}) }),
  },
  positionalAny: {
    description: 'Any value of a positional parameter, on purpose.',
    parameters: object({ value: {} }),
  },
  dateDefault: {
    description: 'A default for a date.',
    parameters: object({ since: { ...date, default: '2026-01-31T12:00:00Z' } }, ['since']),
  },
}
