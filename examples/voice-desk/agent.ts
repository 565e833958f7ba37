// The payment desk in the workbench: npx toolwright web examples/voice-desk. The live model follows a script and needs no key:
// type or say anything. With a real model: export const live = { ...phases, model: geminiLive('gemini-...') }
import { Runner } from 'toolwright'
import { type ScriptedLiveStep, scriptedLive } from 'toolwright/testing'
import { model } from '../model.ts'
import { agent, desk } from './desk.ts'

const { agent: _, ...phases } = desk

/** The model answers typed messages of the chat. */
const runner: Runner = new Runner({ appName: 'voice-desk', agent, model })
export default runner

const call = (name: string, args = {}): ScriptedLiveStep => ({ calls: [{ name, args }] })

/** What the desk says and calls, from the first word of the caller to the last. */
const script: readonly ScriptedLiveStep[] = [
  'This is the payment desk. What are your account number and your year of birth?',
  call('verify_identity', { account: 'A-7', birthYear: 1815 }),
  'Thank you, Ada. How much can you pay each month?',
  call('agree_plan', { months: 6 }),
  'Six months, then. I take the first instalment when a colleague has confirmed it. Shall I?',
  call('take_payment', { amount: 50 }),
  'It is paid. Goodbye!',
  call('hang_up'),
  'The call has ended.',
]

const nextSteps = new WeakMap<object, number>()

export const live: Omit<typeof desk, 'agent'> & { model: ReturnType<typeof scriptedLive> } = {
  ...phases,
  model: scriptedLive((_input, connection) => {
    const at = nextSteps.get(connection) ?? 0
    nextSteps.set(connection, at + 1)
    return script[at] ?? 'The call has ended. Open another one.'
  }),
}
