// Replays recorded conversations of ADK: our agents get the same replies and must send the same requests. Small cases of our own
// are in `cases`; those of google/adk-conformance are read where a folder beside the repository has them.
import { InMemorySessionService, LlmAgent, Runner } from 'toolwright'
import { describe, expect, test } from 'vitest'
import { buildCase, partsOf } from './build-tree.ts'
import { comparedEvents, comparedRecording, comparedRequest, comparedSession } from './compared.ts'
import { type RecordedCase, recordedCases } from './recorded-case.ts'

/** Cases that differ on purpose, and the deviation that says so. */
const DIFFERENT = new Map([['tool/long_running_tool_001', 'D17']])

const sources = [
  { title: 'own cases', folder: 'test/conformance/adk/cases', least: 3 },
  { title: 'cases of Google', folder: process.env.ADK_CASES ?? '../shared/conformance/cases', least: 0 },
]

describe.each(sources)('$title:', ({ folder, least }) => {
  const cases = recordedCases(folder).filter(({ name }) => !DIFFERENT.has(name))

  test('no case is missing', () => {
    expect(cases.length).toBeGreaterThanOrEqual(least)
  })

  test.each(cases)(
    '$name sends the recorded requests, leaves the recorded session, and names the agents of a tree',
    async (recorded) => {
      const { agent, requests, session } = await replay(recorded)
      const expected = recorded.recordings.flatMap(({ agent_name, llm_recording: call }) =>
        call ? [comparedRecording(agent_name, call.llm_request)] : [],
      )
      expect(requests.map(({ agent, request }) => comparedRequest(agent, request))).toEqual(expected)
      expect(comparedEvents(session?.events ?? [])).toEqual(comparedSession(recorded.events))
      expect(session?.state).toEqual(recorded.state)
      const named = requests.filter(({ agent, request }) =>
        request.config.systemInstruction?.includes(`You are the agent "${agent}".`),
      )
      const isAlone = agent instanceof LlmAgent && agent.subAgents.length === 0
      expect(named).toHaveLength(isAlone ? 0 : requests.length)
    },
  )
})

async function replay(recorded: RecordedCase) {
  const built = buildCase(recorded)
  const sessionService = new InMemorySessionService()
  const runner = new Runner({ appName: 'app', agent: built.agent, sessionService })
  const key = { appName: 'app', userId: 'ada', sessionId: 's1' }
  for (const message of recorded.messages)
    await runner.complete({ userId: 'ada', sessionId: 's1', message: partsOf(message) })
  return { ...built, session: await sessionService.getSession(key) }
}
