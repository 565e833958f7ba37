// The conversations of the examples that are recorded, and how their agents are loaded.
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { approve, deny, type PendingRequest, type Runner, respond } from 'toolwright'
import type { EvalTarget } from 'toolwright/eval'

/** A conversation with an example. */
export interface Tour {
  /** The file of the agent below `examples`, without its ending. */
  readonly example: string
  /** What the user sends. Default: the tour of the example. */
  readonly messages?: readonly string[]
  /** What happens in other sessions before. */
  before?(runner: Runner): Promise<void>
  /** Answers a request. Default: approves. */
  answer?(request: PendingRequest): ReturnType<typeof approve>
}

/**
 * Sessions of the examples. Of `oauth` it is one after the sign-in: a session that asks for a credential cannot be recorded, because its
 * answer is a secret. Of `voice-desk` it is the chat, without the search, which is a background call: what a live model says cannot be
 * recorded, nor what comes between two runs. `store` has no agent: `store.test.ts` records a session in it. `test-your-tool` plays its
 * script when it is loaded, and records and replays its session itself.
 */
export const tours: readonly Tour[] = [
  { example: 'functions', messages: ['How warm is it in Oslo?', 'Count the stock', 'Refund order A-8'] },
  { example: 'pipeline' },
  { example: 'policies' },
  { example: 'team' },
  { example: 'weather' },
  { example: 'shop/agent' },
  {
    example: 'approvals/desk',
    messages: ['Refund 500 EUR for order A-7.', 'Refund 700 EUR for order A-8.', 'Refund 20 EUR for order A-9.'],
    answer: (request) => (request.args?.amount === 700 ? deny(request, { reason: 'Too much.' }) : approve(request)),
  },
  {
    example: 'mcp/desk',
    messages: ['Add the note "buy milk".', 'List the notes.', 'Delete all notes.'],
    answer: (request) => respond(request, { approve: true }),
  },
  { example: 'openapi/desk', messages: ['List the pets.', 'Delete the pet Minka.', 'List the pets.'] },
  { example: 'fleet/desk', messages: ['Refund 30 EUR for order A-1.'] },
  { example: 'replicas/agent', messages: ['Refund 500 EUR for order A-7.'] },
  { example: 'background/agent', messages: ['Count the orders.', 'Count the orders.'] },
  {
    example: 'voice-desk/agent',
    messages: [
      'Verify identity of account A-7, birth year 1815',
      'Agree plan with 6 months',
      'Take payment of 50',
      'Hang up',
    ],
  },
  {
    example: 'oauth/desk',
    messages: ['List my mail.', 'List my mail again.'],
    before: async (runner) => {
      const [{ signIn }, { redirectUri }] = await Promise.all([
        import('../../examples/oauth/browser.ts'),
        import('../../examples/oauth/provider.ts'),
      ])
      const { sessionId, pending } = await runner.complete({ userId: 'ada', message: 'List my mail.' })
      for (const request of pending) {
        const authResponseUri = await signIn(request.authUri ?? '', redirectUri)
        await runner.complete({ userId: 'ada', sessionId, message: [respond(request, { authResponseUri })] })
      }
    },
  },
]

/** The file with the recording of a tour. */
export function recordingOf({ example }: Tour): string {
  return resolve(import.meta.dirname, 'recordings', `${example.replace('/', '-')}.evalset.json`)
}

/** The agent of a tour, and its messages. */
export async function loadTour({ example, messages }: Tour): Promise<{
  readonly target: EvalTarget
  readonly messages: readonly string[]
}> {
  const file = resolve(import.meta.dirname, '../../examples', `${example}.ts`)
  const module = await import(pathToFileURL(file).href)
  return { target: module.default ?? module.rootAgent, messages: messages ?? module.tour ?? ['Hello'] }
}
