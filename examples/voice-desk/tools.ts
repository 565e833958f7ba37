// The tools of the payment desk: an identity check, a search in the background, and a payment that a person confirms.
import { background, type Tool, ToolError, tool } from 'toolwright'
import { z } from 'zod'

const accounts = new Map([['A-7', { name: 'Ada', birthYear: 1815, balance: 300 }]])
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

export const verifyIdentity: Tool = tool({
  name: 'verify_identity',
  description: 'Check the account number and the year of birth of the caller',
  parameters: z.object({ account: z.string(), birthYear: z.number().int() }),
  effect: 'none',
  run: ({ account, birthYear }, { state }) => {
    const found = accounts.get(account)
    if (found?.birthYear !== birthYear) throw new ToolError('The account and the year of birth do not match.')
    state.set('identity_verified', true)
    state.set('account', account)
    state.set('balance', found.balance)
    return { verified: true, name: found.name, balance: found.balance }
  },
})

/** Runs while the model speaks. The model gets the result when it has finished its sentence. */
export const searchPlans: Tool = background(
  tool({
    name: 'search_plans',
    description: 'Find the payment plans that the account may have',
    effect: 'none',
    run: async function* (_args, { state }) {
      yield 'reading the rules'
      await pause(300)
      yield 'checking the account'
      await pause(300)
      const balance = state.get('balance', 0)
      return { plans: [3, 6].map((months) => ({ months, instalment: balance / months })) }
    },
  }),
)

export const agreePlan: Tool = tool({
  name: 'agree_plan',
  description: 'Record the plan that the caller has chosen',
  parameters: z.object({ months: z.union([z.literal(3), z.literal(6)]) }),
  effect: 'idempotent',
  run: ({ months }, { state }) => {
    state.set('months', months)
    state.set('plan_agreed', true)
    return { months, instalment: state.get('balance', 0) / months }
  },
})

export const takePayment: Tool = tool({
  name: 'take_payment',
  description: 'Charge an instalment',
  parameters: z.object({ amount: z.number().positive() }),
  requiresConfirmation: true,
  confirmationHint: ({ amount }) => `Charge ${amount} EUR now?`,
  run: ({ amount }, { state, idempotencyKey }) => {
    // Send the key with the payment: it is the same for every attempt of this call.
    console.log(`[bank] ${amount} EUR from ${state.get('account')}, key ${idempotencyKey}`)
    const balance = state.get('balance', 0) - amount
    state.set('balance', balance)
    return { paid: amount, balance }
  },
})

export const hangUp: Tool = tool({
  name: 'hang_up',
  description: 'End the call. Say goodbye first',
  effect: 'idempotent',
  run: (_args, { state }) => {
    state.set('call_ended', true)
    return { ended: true }
  },
})
