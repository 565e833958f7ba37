import {
  about,
  anyOf,
  boolean,
  constant,
  date,
  type ExpectedTable,
  list,
  nil,
  number,
  object,
  oneOf,
  record,
  result,
  string,
  tuple,
} from './schema.ts'

export const positional: ExpectedTable = {
  twoParameters: { description: 'Two parameters.', parameters: object({ from: string, to: string }) },
  oneNumber: { description: 'One parameter that is not an object.', parameters: object({ amount: number }) },
  optionalParameters: {
    description: 'Optional parameters.',
    parameters: object({ a: string, b: number, c: boolean }, ['b', 'c']),
  },
  undefinedParameter: {
    description: 'A parameter that accepts undefined.',
    parameters: object({ a: string, b: number }, ['a']),
  },
  constantDefaults: {
    description: 'Constant defaults.',
    parameters: object(
      {
        text: { ...string, default: 'a' },
        limit: { ...number, default: 10 },
        offset: { ...number, default: -1 },
        isOpen: { ...boolean, default: true },
        names: { ...list(string), default: ['x', 'y'] },
        range: { ...object({ from: number, to: number }, ['to']), default: { from: 0 } },
      },
      ['text', 'limit', 'offset', 'isOpen', 'names', 'range'],
    ),
  },
  enumDefault: {
    description: 'A default that is a member of an enum.',
    parameters: object({ color: { ...oneOf('red', 'green'), default: 'green' } }, ['color']),
  },
  namedDefault: {
    description: 'A default that is a named constant.',
    parameters: object({ limit: { ...number, default: 25 } }, ['limit']),
  },
  earlyDefault: {
    description: 'A default before a required parameter.',
    parameters: object({ limit: { ...number, default: 5 }, city: string }, ['limit']),
  },
  computedDefaults: {
    description: 'Defaults that are not constant.',
    parameters: object({ since: date, size: number, name: string }, ['since', 'size', 'name']),
  },
  nullDefault: {
    description: 'A default that is null.',
    parameters: object({ parent: { ...anyOf(string, nil), default: null } }, ['parent']),
  },
  contextFirst: { description: 'Context first.', parameters: object({ city: string }), response: result(string) },
  contextMiddle: {
    description: 'Context in the middle.',
    parameters: object({ city: string, days: number }),
    response: result(string),
  },
  contextLast: {
    description: 'Context last.',
    parameters: object({ city: string, days: number }),
    response: result(string),
  },
  contextOptional: { description: 'Optional context.', parameters: object({ city: string }), response: result(string) },
  restParameters: {
    description: 'Rest of the parameters.',
    parameters: object({ first: string, others: list(number) }, ['others']),
  },
  restOnly: { description: 'Rest only.', parameters: object({ names: list(string) }, ['names']) },
  restTuple: {
    description: 'Rest as a tuple.',
    parameters: object({ position: tuple([number, number, string], 2) }),
  },
  objectsAndValues: {
    description: 'Objects and values.',
    parameters: object(
      {
        customer: object({ id: about('Number of the customer', number), name: string, email: string }, ['email']),
        address: object({ street: string, country: about('Country code', string) }),
        note: string,
      },
      ['note'],
    ),
  },
  oneUnion: {
    description: 'One union of objects.',
    parameters: object({
      shape: anyOf(
        object({ kind: constant('circle'), radius: number }),
        object({ kind: constant('square'), side: number }),
      ),
    }),
  },
  oneRecord: { description: 'One record.', parameters: object({ prices: record(number) }) },
  oneArray: { description: 'One array.', parameters: object({ names: list(string) }) },
  oneUnknown: { description: 'One value of any type.', parameters: object({ value: {} }) },
  oneDate: { description: 'One date.', parameters: object({ day: date }) },
  inferredParameters: {
    description: 'No annotations, types from the defaults.',
    parameters: object(
      {
        city: { ...string, default: 'Oslo' },
        days: { ...number, default: 3 },
        isOpen: { ...boolean, default: false },
        names: { ...list(string), default: ['a'] },
      },
      ['city', 'days', 'isOpen', 'names'],
    ),
  },
}
