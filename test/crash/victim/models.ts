import type { Content, Model, Part } from 'toolwright'
import { type ScriptedLive, scriptedLive } from 'toolwright/testing'
import type { Desk } from './desk.ts'

/** The message that makes the model call its tools. It answers any other one with "done". */
export const PAY = 'Pay.'

/** A model that calls these tools when it is asked to pay, and says "done" to their results. */
export function textModel({ killer, shape }: Pick<Desk, 'killer' | 'shape'>, calls: readonly string[]): Model {
  return {
    name: 'text',
    async *generate({ contents }) {
      killer.reach('c2')
      const isAsked = isPayment(contents.at(-1))
      yield { partial: true, content: { role: 'model', parts: [{ text: 'do' }] } }
      killer.reach('c3')
      if (shape === 'background' && isAsked) await killer.waitFor('c12')
      yield { content: { role: 'model', parts: isAsked ? calls.map(callOf) : [{ text: 'done' }] } }
    },
  }
}

function isPayment(last: Content | undefined): boolean {
  return last?.role === 'user' && last.parts.some(({ text }) => text === PAY)
}

function callOf(name: string): Part {
  return { functionCall: { name, args: name === 'clerk' ? { request: PAY } : {} } }
}

/** A live model that calls these tools when it is asked to pay, and says "done" to their responses. */
export function liveModel({ killer }: Pick<Desk, 'killer'>, calls: readonly string[]): ScriptedLive {
  return scriptedLive((input, connection) => {
    if (input.type !== 'text') return 'done'
    killer.reach('c2')
    connection.emit({ type: 'text', text: 'do' })
    killer.reach('c3')
    return { text: 'ne', calls: calls.map((name) => ({ name })) }
  })
}
