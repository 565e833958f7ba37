// The payment desk: an agent, the phases of its calls, and what follows from state. It works with every live model.
import { LlmAgent } from 'toolwright'
import { changed, isTrue, type LiveOptions, type LiveSession } from 'toolwright/live'
import { agreePlan, hangUp, searchPlans, takePayment, verifyIdentity } from './tools.ts'

export const agent: LlmAgent = new LlmAgent({
  name: 'desk',
  description: 'A payment desk on the phone. It checks who calls, agrees on a plan and takes a payment.',
  instruction: 'You are the payment desk of a small shop, on the phone. Speak in short sentences.',
  tools: [verifyIdentity, searchPlans, agreePlan, takePayment, hangUp],
})

export const desk: Omit<LiveOptions<LiveSession>, 'model'> = {
  agent,
  initialPhase: 'verify',
  phases: [
    {
      name: 'verify',
      instruction:
        'Ask for the account number and the year of birth. Say nothing about the account before they are verified.',
      tools: ['verify_identity', 'hang_up'],
      transitions: [{ to: 'negotiate', when: isTrue('identity_verified') }],
    },
    {
      name: 'negotiate',
      instruction: (state) => `The caller owes ${state.get('balance')} EUR. Search the plans, then agree on one.`,
      tools: ['search_plans', 'agree_plan', 'hang_up'],
      transitions: [{ to: 'arrange', when: isTrue('plan_agreed') }],
      needs: ['months'],
    },
    {
      name: 'arrange',
      guard: isTrue('identity_verified'), // whatever else has set plan_agreed
      instruction: (state) => `Take the first instalment of ${state.get('derived:instalment')} EUR, then say goodbye.`,
      tools: ['take_payment', 'hang_up'],
    },
  ],
  computed: [
    {
      key: 'instalment',
      from: ['balance', 'months'],
      compute: (state) => state.get('balance', 0) / state.get('months', 1),
    },
  ],
  watchers: [
    {
      key: 'balance',
      on: changed(),
      run: ({ before = '-', after }) => console.log(`[ledger] ${before} -> ${after} EUR`),
    },
  ],
}
