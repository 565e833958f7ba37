import {
  anyOf,
  boolean,
  bytes,
  constant,
  date,
  type ExpectedTable,
  list,
  nil,
  number,
  object,
  oneOf,
  record,
  reference,
  string,
  tuple,
} from './schema.ts'

const stage = { ...oneOf('packed', 'shipped', 'delivered'), description: 'Where a parcel is.' }
const color = oneOf('red', 'green')
const shape = anyOf(
  object({ kind: constant('circle'), radius: number }),
  object({ kind: constant('square'), side: number }),
  object({ kind: constant('point') }),
)
const comment = object({ text: string, replies: list(reference('Comment')) })
const file = object({ name: string, folder: reference('Folder') }, ['folder'])
const visit = object({ at: date, before: reference('Visit') }, ['before'])

export const values: ExpectedTable = {
  primitives: {
    description: 'Primitive types.',
    parameters: object({ text: string, amount: number, isOpen: boolean, nothing: nil }),
  },
  literals: {
    description: 'Literals, in the order of the source.',
    parameters: object({
      order: oneOf('z', 'a', 'm'),
      size: oneOf(3, 1),
      mode: anyOf(constant('on'), constant(0), constant(true)),
    }),
  },
  oneLiteral: {
    description: 'One literal.',
    parameters: object({ kind: constant('parcel'), version: constant(2), isDraft: constant(false) }),
  },
  literalAlias: {
    description: 'Imported alias of literals.',
    parameters: object({ stage, stages: list(stage), other: oneOf('packed', 'shipped', 'delivered', 'lost') }),
  },
  stringEnum: {
    description: 'String enum.',
    parameters: object({ color, colors: list(color), only: constant('red') }, ['only']),
  },
  numericEnum: {
    description: 'Numeric enum.',
    parameters: object({ level: oneOf(0, 5, 6), optional: oneOf(0, 5, 6) }, ['optional']),
  },
  constantEnum: { description: 'Constant enum.', parameters: object({ flag: oneOf('on', 'off') }) },
  singleEnum: { description: 'Enum with one member.', parameters: object({ single: constant('only') }) },
  enumKeys: { description: 'Enum as keys.', parameters: object({ green: number, red: number }) },
  nullable: {
    description: 'Nullable types.',
    parameters: object(
      { a: anyOf(string, nil), b: anyOf(number, nil), c: anyOf(oneOf('x', 'y'), nil), d: anyOf(list(string), nil) },
      ['b'],
    ),
  },
  typeUnions: {
    description: 'Unions of types.',
    parameters: object({
      a: anyOf(string, number),
      b: anyOf(boolean, string),
      c: anyOf(string, list(string)),
      d: anyOf(constant('auto'), number),
    }),
  },
  openUnion: {
    description: 'Text with suggestions.',
    parameters: object({ color: anyOf(oneOf('red', 'green'), string) }),
  },
  arrays: {
    description: 'Arrays.',
    parameters: object({
      names: list(string),
      grid: list(list(number)),
      sizes: list(number),
      mixed: list(anyOf(string, number)),
      frozen: list(object({ id: number })),
    }),
  },
  arrayOfOptional: {
    description: 'Array of optional items.',
    parameters: object({ names: list(string), values: list(anyOf(number, nil)) }),
  },
  tuples: {
    description: 'Tuples.',
    parameters: object({
      point: tuple([number, number]),
      named: tuple([number, string]),
      optional: tuple([string, number], 1),
      rest: { type: 'array', prefixItems: [string], items: number, minItems: 1 },
      frozen: tuple([boolean, oneOf('a', 'b')]),
      empty: { type: 'array', items: false, maxItems: 0 },
    }),
  },
  tupleOfObjects: {
    description: 'Tuple of objects.',
    parameters: object({ pair: tuple([object({ id: number }), object({ name: string })], 1) }),
  },
  records: {
    description: 'Records.',
    parameters: object({
      prices: record(number),
      nested: record(object({ amount: number, tags: list(string) })),
      byNumber: { ...object({}), patternProperties: { '^(0|-?[1-9][0-9]*)$': string } },
      index: record(boolean),
      free: record({}),
    }),
  },
  partialRecord: {
    description: 'Partial record.',
    parameters: object({ amounts: object({ a: number, b: number }, ['a', 'b']) }),
  },
  brandedKeys: { description: 'Branded text as keys.', parameters: object({ amounts: record(number) }) },
  templateKeys: {
    description: 'Keys of a template.',
    parameters: object({ headers: { ...object({ id: string }), patternProperties: { '^x-[\\s\\S]*$': string } } }),
  },
  discriminated: { description: 'Discriminated union.', parameters: object({ shape, others: list(shape) }) },
  discriminatedByGroups: {
    description: 'Discriminated by several values.',
    parameters: object({
      event: anyOf(object({ type: oneOf('a', 'b'), x: number }), object({ type: constant('c'), y: string }), nil),
    }),
  },
  recursiveArguments: {
    description: 'Recursive arguments.',
    parameters: { ...comment, $defs: { Comment: comment } },
  },
  recursiveProperty: {
    description: 'Recursive property.',
    parameters: { ...object({ thread: reference('Comment'), limit: number }), $defs: { Comment: comment } },
  },
  recursiveList: {
    description: 'Recursive through optional and null.',
    parameters: {
      ...object({ head: reference('Node') }),
      $defs: {
        Node: object({ label: string, next: reference('Node'), parent: anyOf(reference('Node'), nil) }, ['next']),
      },
    },
  },
  mutuallyRecursive: {
    description: 'Mutually recursive.',
    parameters: {
      ...object({ root: reference('Folder'), file }),
      $defs: { Folder: object({ name: string, files: list(file) }) },
    },
  },
  recursiveGeneric: {
    description: 'Recursive generic.',
    parameters: {
      ...object({ words: reference('Tree'), amounts: reference('Tree2') }),
      $defs: {
        Tree: object({ value: string, children: list(reference('Tree')) }),
        Tree2: object({ value: number, children: list(reference('Tree2')) }),
      },
    },
  },
  recursiveUnion: {
    description: 'Recursive union.',
    parameters: {
      ...object({ value: reference('Json') }),
      $defs: {
        Json: anyOf(boolean, string, number, list(reference('Json')), record(reference('Json')), nil),
      },
    },
  },
  recursiveArray: {
    description: 'Recursive array.',
    parameters: {
      ...object({ nested: reference('Nested'), list: list(reference('Nested')) }),
      $defs: { Nested: anyOf(number, list(reference('Nested'))) },
    },
  },
  recursiveTuple: {
    description: 'Recursive tuple.',
    parameters: {
      ...object({ chain: reference('Chain') }),
      $defs: { Chain: tuple([number, reference('Chain')], 1) },
    },
  },
  recursiveExpression: {
    description: 'Recursive discriminated union.',
    parameters: {
      ...object({ expression: reference('Expression') }),
      $defs: {
        Expression: anyOf(
          object({ op: constant('const'), value: number }),
          object({ op: constant('add'), left: reference('Expression'), right: reference('Expression') }),
        ),
      },
    },
  },
  templateLiterals: {
    description: 'Template literals.',
    parameters: object({
      id: { ...string, pattern: '^user-[\\s\\S]*$' },
      pixels: { ...string, pattern: '^-?(0|[1-9][0-9]*)(\\.[0-9]+)?px$' },
      version: { ...string, pattern: '^v-?(0|[1-9][0-9]*)\\.-?(0|[1-9][0-9]*)(\\.[0-9]+)?$' },
      size: oneOf('m-slim', 'm-wide', 's-slim', 's-wide'),
      flag: oneOf('is-false', 'is-true'),
      dots: { ...string, pattern: '^a\\.[\\s\\S]*\\(b\\)$' },
      key: { ...string, pattern: '^[^-]*--?(0|[1-9][0-9]*)(\\.[0-9]+)?$' },
      pair: { ...string, pattern: '^(0|[1-9][0-9]*)(\\.[0-9]+)?--?(0|[1-9][0-9]*)(\\.[0-9]+)?$' },
      code: { ...string, pattern: '^[\\s\\S]-?(0|[1-9][0-9]*)(\\.[0-9]+)?$' },
    }),
  },
  brandedText: {
    description: 'Branded text.',
    parameters: object({ id: string, others: list(string), maybe: anyOf(string, nil) }),
  },
  brandedNumber: {
    description: 'Branded number.',
    parameters: object({ price: number, discount: number }, ['discount']),
  },
  dates: {
    description: 'Dates.',
    parameters: object({ day: date, end: date, until: anyOf(date, nil), days: list(date), byName: record(date) }, [
      'end',
    ]),
  },
  bytes: {
    description: 'Bytes.',
    parameters: object(
      { file: bytes, thumbnail: anyOf(bytes, nil), pages: list(bytes), byName: record(object({ data: bytes })) },
      ['thumbnail'],
    ),
  },
  datesInside: {
    description: 'Dates in tuples, templates and unions of objects.',
    parameters: object({
      range: tuple([date, date]),
      rest: { type: 'array', prefixItems: [string], items: date, minItems: 1 },
      byKey: { ...object({}), patternProperties: { '^on-[\\s\\S]*$': date } },
      at: anyOf(object({ kind: constant('day'), day: date }), object({ kind: constant('never') })),
      or: anyOf(constant('now'), date),
    }),
  },
  recursiveDates: {
    description: 'Dates in a recursive type.',
    parameters: { ...visit, $defs: { Visit: visit } },
  },
  openTypes: {
    description: 'Unknown, object and empty.',
    parameters: object(
      { anything: {}, some: { type: 'object' }, empty: { type: 'object' }, optional: {}, list: list({}) },
      ['optional'],
    ),
  },
  booleans: {
    description: 'Boolean in unions.',
    parameters: object(
      {
        a: anyOf(boolean, nil),
        b: anyOf(constant('auto'), constant(true)),
        c: boolean,
        d: anyOf(boolean, number),
      },
      ['c'],
    ),
  },
  computedUnions: {
    description: 'Union that the source does not spell out.',
    parameters: object({
      extracted: oneOf('packed', 'shipped'),
      excluded: oneOf('delivered', 'shipped'),
      field: oneOf('email', 'id', 'name'),
      value: anyOf(number, string),
      nonNull: oneOf('a', 'b'),
    }),
  },
}
