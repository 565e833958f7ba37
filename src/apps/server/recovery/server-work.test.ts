import { approve, InMemoryScheduleService, InMemorySessionService, LlmAgent, Runner, tool } from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { expect, onTestFinished, test } from 'vitest'
import { silent, startServer } from '../edge.test-kit.ts'

function desk(sessionService: InMemorySessionService, scheduleService: InMemoryScheduleService): Runner {
  const charge = tool({ name: 'charge', description: 'Charges', requiresConfirmation: true, run: () => ({ ok: true }) })
  const model = scriptedModel(({ contents }) =>
    contents.at(-1)?.parts[0]?.text === 'Charge.' ? { calls: [{ name: 'charge', args: {} }] } : 'Done.',
  )
  const agent = new LlmAgent({ name: 'desk', model, tools: [charge] })
  const runner = new Runner({ appName: 'shop', agent, sessionService, scheduleService, logger: silent })
  onTestFinished(() => runner.close())
  return runner
}

/** How often a worker has looked for schedules that are due. */
function countLooks(service: InMemoryScheduleService): () => number {
  let looks = 0
  const { dueSchedules } = service
  service.dueSchedules = (filter) => {
    looks++
    return dueSchedules.call(service, filter)
  }
  return () => looks
}

test.each([
  ['can', new InMemorySessionService()],
  ['cannot', Object.assign(new InMemorySessionService(), { watch: undefined })],
])(
  'a server continues what another process has answered, and starts the runs of schedules, with a store that %s be watched',
  async (_, sessionService) => {
    const services = [sessionService, new InMemoryScheduleService()] as const
    const looks = countLooks(services[1])
    await startServer({ apps: { shop: desk(...services) } })
    await expect.poll(looks, { timeout: 5_000 }).toBeGreaterThan(0)
    const other = desk(...services)
    const textOf = async (sessionId: string): Promise<string> =>
      JSON.stringify(await services[0].getSession({ appName: 'shop', userId: 'ada', sessionId }))
    const { sessionId, pending } = await other.complete({ userId: 'ada', message: 'Charge.' })
    await other.answer({ userId: 'ada', sessionId, message: pending.map((request) => approve(request)) })
    await expect.poll(() => textOf(sessionId), { timeout: 5_000 }).toContain('Done.')
    await other.schedule({ userId: 'ada', message: 'Report.', at: new Date(), id: 'now' })
    const last = async () => (await other.schedules()).items[0]?.last?.sessionId ?? ''
    await expect.poll(async () => await textOf(await last()), { timeout: 10_000 }).toContain('Done.')
  },
)

test('a server with `recover: false` leaves answers and schedules to workers', async () => {
  const services = [new InMemorySessionService(), new InMemoryScheduleService()] as const
  const looks = countLooks(services[1])
  const runner = desk(...services)
  await startServer({ apps: { shop: runner }, recover: false })
  await runner.complete({ userId: 'ada', message: 'Hi.' })
  expect(looks()).toBe(0)
})
