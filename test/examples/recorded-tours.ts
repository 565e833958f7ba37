// The conversations of the examples that are recorded, and how their agents are loaded.
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { approve, deny, type PendingRequest, respond } from 'toolwright'
import type { EvalTarget } from 'toolwright/eval'

/** A conversation with an example. */
export interface Tour {
  /** The file of the agent below `examples`, without its ending. */
  readonly example: string
  /** What the user sends. Default: the tour of the example. */
  readonly messages?: readonly string[]
  /** Answers a request. Default: approves. */
  answer?(request: PendingRequest): ReturnType<typeof approve>
}

/**
 * Examples whose sessions can be recorded. Not among them: `oauth` asks for a credential, `voice-desk` is live, `replicas` and
 * `background` start their work when they are loaded, `store` and `test-your-tool` have no agent.
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
