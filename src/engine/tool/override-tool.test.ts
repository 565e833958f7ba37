import { type } from 'arktype'
import { expect, expectTypeOf, test } from 'vitest'
import type { ToolContext } from '../context/context.ts'
import { tool } from './define-tool.ts'
import { overrideTool } from './override-tool.ts'

const context = {} as ToolContext
const MARK = Symbol('mark')

class Account {
  #balance = 10
  readonly name: string = 'pay'
  description = 'Pays'
  readonly [MARK] = { agent: 'x' }
  readonly outputSchema = type({ left: 'number' })
  declaration() {
    return { name: this.name, description: this.description }
  }
  run({ amount }: { amount: number }, _context: ToolContext) {
    this.#balance -= amount
    return { left: this.#balance }
  }
  get balance() {
    return this.#balance
  }
  requiresConfirmation(): boolean {
    return this.#balance < 5
  }
}

test('overrideTool forwards private state, own members and symbols of a class', () => {
  const original = new Account()
  const made = overrideTool(overrideTool(original, {}), { timeoutMs: 5 })
  expectTypeOf(made).toEqualTypeOf<Account>()
  expect(made.run({ amount: 6 }, context)).toEqual({ left: 4 })
  expect(made.balance).toBe(4)
  expect(made.requiresConfirmation()).toBe(true)
  expect(made[MARK]).toBe(original[MARK])
  expect(made).toBeInstanceOf(Account)
  expect((made as { timeoutMs?: number }).timeoutMs).toBe(5)
  expect(original).not.toHaveProperty('timeoutMs')
})

test('overrideTool keeps a schema that is a function', () => {
  const original = new Account()
  expect(overrideTool(original, {}).outputSchema).toBe(original.outputSchema)
})

test('overrideTool shows later changes of the original', () => {
  const original = new Account()
  const made = overrideTool(original, {})
  original.description = 'Pays later'
  expect(made.description).toBe('Pays later')
  expect(made.declaration()).toMatchObject({ description: 'Pays later' })
})

test('overrideTool replaces a member with undefined', () => {
  const original = tool({ name: 't', description: 'd', requiresConfirmation: true, run: () => 1 })
  expect(overrideTool(original, { requiresConfirmation: undefined }).requiresConfirmation).toBeUndefined()
})
