import {
  about,
  anyOf,
  constant,
  date,
  type ExpectedTable,
  fields,
  list,
  nil,
  number,
  object,
  oneOf,
  reference,
  result,
  string,
} from './schema.ts'

const customer = fields({ id: about('Number of the customer', number), name: string, email: string }, ['email'])
const stage = oneOf('packed', 'shipped', 'delivered')
const tree = fields({ value: string, children: list(reference('Tree')) })
const steps = object({ steps: number })

export const results: ExpectedTable = {
  returnsObject: { description: 'Return an object.', response: customer },
  returnsPromise: {
    description: 'Return a promise.',
    response: fields({ stage: about('Where a parcel is.', stage), at: date }, ['at']),
  },
  returnsInferred: {
    description: 'Return what the body says.',
    parameters: object({ name: string }),
    response: fields({ greeting: string, length: number, tags: list(string), best: anyOf(number, nil) }),
  },
  returnsNothing: { description: 'Return nothing.' },
  returnsText: { description: 'Return text.', response: result(string) },
  returnsList: { description: 'Return a list.', response: result(list(customer)) },
  returnsNullable: { description: 'Return null or an object.', response: result(anyOf(customer, nil)) },
  returnsUnion: {
    description: 'Return one of several objects.',
    response: {
      type: 'object',
      ...anyOf(fields({ ok: constant(true), id: number }), fields({ ok: constant(false), reason: string })),
    },
  },
  // nothing says what the model gets for undefined
  returnsMaybe: { description: 'Return a value or nothing.' },
  returnsTree: { description: 'Return a recursive object.', response: { ...tree, $defs: { Tree: tree } } },
  returnsTrees: {
    description: 'Return a recursive list.',
    response: { ...result(list(reference('Tree'))), $defs: { Tree: tree } },
  },
  returnsAny: { description: 'Return any value.' },
  returnsUnknown: { description: 'Return an unknown value.' },
  returnsMap: { description: 'Return what has no schema.' },
  returnsFromGenerator: {
    description: 'Report progress, then return.',
    parameters: steps,
    response: fields({ done: number }),
  },
  returnsFromAsyncGenerator: {
    description: 'Report progress, then return later.',
    parameters: steps,
    response: result(stage),
  },
  returnsFromInferredGenerator: {
    description: 'Report progress, then return what the body says.',
    parameters: steps,
    response: fields({ total: number }),
  },
  returnsProgressOnly: { description: 'Report progress only.' },
  returnsLiteral: { description: 'Return an enum of numbers.', response: result(oneOf(1, 2)) },
}
