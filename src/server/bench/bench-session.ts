// The sessions of the tool bench belong to the app. Their ids say which agent's tool bench runs them.
import { newId } from '../../base/new-id.ts'

const BENCH_SESSION = /^bench-(.+)-[a-z2-7]{26}$/

/** The id of a new session for a call of a tool of this agent. */
export function benchSessionId(agent: string): string {
  return `bench-${agent}-${newId()}`
}

/** The agent in the id of a session of the tool bench; undefined for other sessions. */
export function benchAgentOf(sessionId: string): string | undefined {
  return BENCH_SESSION.exec(sessionId)?.[1]
}
