import { expect, test } from 'vitest'
import { readTraceparent, writeTraceparent } from './traceparent.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const SPAN = 'b7ad6b7169203331'

test.each([
  [`00-${TRACE}-${SPAN}-01`, 1],
  [`00-${TRACE}-${SPAN}-00`, 0],
])('reads %s and writes it again', (text, traceFlags) => {
  const reference = readTraceparent(text)
  expect(reference).toEqual({ traceId: TRACE, spanId: SPAN, traceFlags })
  expect(reference && writeTraceparent(reference)).toBe(text)
})

test.each([
  ['nothing', undefined],
  ['an empty text', ''],
  ['another version', `01-${TRACE}-${SPAN}-01`],
  ['the forbidden version', `ff-${TRACE}-${SPAN}-01`],
  ['upper case', `00-${TRACE.toUpperCase()}-${SPAN}-01`],
  ['a trace of zeros', `00-${'0'.repeat(32)}-${SPAN}-01`],
  ['a span of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
  ['a short span', `00-${TRACE}-${SPAN.slice(1)}-01`],
  ['more members', `00-${TRACE}-${SPAN}-01-extra`],
  ['a line break', `00-${TRACE}-${SPAN}-01\n`],
  ['two values', `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`],
])('ignores %s', (_, text) => {
  expect(readTraceparent(text)).toBeUndefined()
})
