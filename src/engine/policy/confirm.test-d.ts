import { expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { tool } from '../tool/define-tool.ts'
import { confirm } from './confirm.ts'

test('confirm() infers the arguments of the tool it wraps', () => {
  const pay = tool({ name: 'pay', description: 'Pay', parameters: z.object({ n: z.number() }), run: ({ n }) => n })
  confirm(pay, {
    when: ({ n }) => n > 3,
    hint: (args) => {
      expectTypeOf(args).toEqualTypeOf<{ n: number }>()
      return `Pay ${args.n}?`
    },
  })
  expectTypeOf(confirm(pay)).toEqualTypeOf(pay)
})
