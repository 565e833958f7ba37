// Tools that schedule runs through their context.
import {
  InMemoryScheduleService,
  LlmAgent,
  Runner,
  type SchedulingLimits,
  type ToolScheduleOptions,
  tool,
} from 'toolwright'
import { createToolContext, scriptedModel } from 'toolwright/testing'
import { expect, onTestFinished, test } from 'vitest'

const silent = { warn: () => {}, error: () => {} }

/** Runs a tool that schedules these, and returns what the model sees. */
async function callTool(
  schedules: readonly ToolScheduleOptions[],
  allowScheduling: boolean | SchedulingLimits | undefined,
  scheduleService = new InMemoryScheduleService(),
) {
  const remind = tool({
    name: 'remind',
    description: 'Reminds the user',
    run: async (_, context) => {
      const ids: string[] = []
      for (const options of schedules) ids.push((await context.schedule(options)).id)
      return { ids }
    },
  })
  const model = scriptedModel([{ calls: [{ name: 'remind', args: {} }] }, 'Done.'])
  const agent = new LlmAgent({ name: 'desk', model, tools: [remind], allowScheduling })
  const runner = new Runner({ appName: 'shop', agent, scheduleService, logger: silent })
  onTestFinished(() => runner.close())
  const { events, sessionId } = await runner.complete({ userId: 'ada', message: 'Remind me.' })
  const response = events.flatMap(({ content }) => content?.parts ?? []).find((part) => part.functionResponse)
  const { items } = await runner.schedules()
  return { runner, sessionId, items, response: response?.functionResponse?.response }
}

test('a tool schedules runs in its session, or in new ones, for its own user', async () => {
  const at = new Date(Date.now() + 3_600_000)
  const { items, response, sessionId } = await callTool(
    [
      { message: 'Check.', at },
      { message: 'Report.', every: 60_000, newSession: true },
    ],
    true,
  )
  expect(items).toMatchObject([
    { userId: 'ada', sessionId, nextAt: at },
    { userId: 'ada', sessionId: undefined },
  ])
  expect(response).toEqual({ ids: items.map(({ id }) => id) })
})

test.each([false, true])(
  'a tool that schedules after its session was deleted leaves no schedule; new sessions: %s',
  async (newSession) => {
    const started = Promise.withResolvers<void>()
    const deleted = Promise.withResolvers<void>()
    const refused = Promise.withResolvers<unknown>()
    const remind = tool({
      name: 'remind',
      description: 'Reminds the user',
      run: async (_, context) => {
        started.resolve()
        await deleted.promise
        await context.schedule({ message: 'Report.', every: 60_000, newSession }).then(refused.resolve, refused.resolve)
      },
    })
    const model = scriptedModel([{ calls: [{ name: 'remind', args: {} }] }, 'Done.'])
    const agent = new LlmAgent({ name: 'desk', model, tools: [remind], allowScheduling: true })
    const runner = new Runner({ appName: 'shop', agent, logger: silent })
    onTestFinished(() => runner.close())
    const run = runner.complete({ userId: 'ada', sessionId: 's1', message: 'Remind me.' })
    run.catch(() => {})
    await started.promise
    await runner.deleteUser({ userId: 'ada' })
    deleted.resolve()
    expect(await refused.promise).toMatchObject({ code: 'NOT_FOUND' })
    expect((await runner.schedules()).items).toEqual([])
    await expect(run).rejects.toMatchObject({ code: 'SESSION_GONE' })
  },
)

test('a tool of an agent without `allowScheduling` schedules nothing', async () => {
  for (const allowScheduling of [undefined, false]) {
    const { items, response } = await callTool([{ message: 'Check.', every: 60_000 }], allowScheduling)
    expect(items).toEqual([])
    expect(response?.error).toContain('Set its option `allowScheduling`')
  }
})

test('the number of schedules and the time between ticks are limited', async () => {
  const hour = { message: 'Check.', every: 3_600_000 }
  const many = await callTool([hour, hour, hour], { maxSchedules: 2 })
  expect(many.items).toHaveLength(2)
  expect(many.response?.error).toContain('The user has 2 schedules')
  for (const times of [{ every: 59_999 }, { cron: '0,30 0 8 * * *' }]) {
    const { items, response } = await callTool([{ message: 'Check.', ...times }], true)
    expect(items).toEqual([])
    expect(response?.error).toContain('at least 60000 ms apart')
  }
  const often = await callTool([{ message: 'Check.', every: 5_000 }], { minEveryMs: 5_000 })
  expect(often.items).toHaveLength(1)
})

test('calls at the same time create as many schedules as the agent may have', async () => {
  const remind = tool({
    name: 'remind',
    description: 'Reminds the user',
    run: async (_, context) => ({ id: (await context.schedule({ message: 'Check.', every: 3_600_000 })).id }),
  })
  const calls = Array.from({ length: 6 }, () => ({ name: 'remind', args: {} }))
  const model = scriptedModel([{ calls }, 'Done.'])
  const agent = new LlmAgent({ name: 'desk', model, tools: [remind], allowScheduling: { maxSchedules: 2 } })
  const runner = new Runner({ appName: 'shop', agent, scheduleService: new InMemoryScheduleService(), logger: silent })
  onTestFinished(() => runner.close())
  const { events } = await runner.complete({ userId: 'ada', message: 'Remind me.' })
  const created = events
    .flatMap(({ content }) => content?.parts ?? [])
    .flatMap(({ functionResponse }) => functionResponse?.response?.id ?? [])
  const { items } = await runner.schedules()
  expect(items).toHaveLength(2)
  expect(items.map(({ id }) => id)).toEqual(expect.arrayContaining(created))
  expect(created).toHaveLength(2)
})

test('a tool deletes only schedules that tools of its user have created', async () => {
  const services = new InMemoryScheduleService()
  const { runner, items } = await callTool([{ message: 'Check.', every: 60_000 }], true, services)
  await runner.schedule({ userId: 'ada', message: 'Report.', every: 60_000, id: 'report' })
  const own = items[0]?.id ?? ''
  const remove = tool({
    name: 'remove',
    description: 'Removes schedules',
    run: async (_, context) => ({
      removed: [
        await context.unschedule('report'),
        await context.unschedule('tool-none'),
        await context.unschedule(own),
      ],
    }),
  })
  for (const [userId, removed] of [
    ['bob', [false, false, false]],
    ['ada', [false, false, true]],
  ] as const) {
    const model = scriptedModel([{ calls: [{ name: 'remove', args: {} }] }, 'Done.'])
    const agent = new LlmAgent({ name: 'desk', model, tools: [remove], allowScheduling: true })
    const other = new Runner({ appName: 'shop', agent, scheduleService: services, logger: silent })
    const { events } = await other.complete({ userId, message: 'Remove.' })
    const response = events.flatMap(({ content }) => content?.parts ?? []).find((part) => part.functionResponse)
    expect(response?.functionResponse?.response).toEqual({ removed })
    await other.close()
  }
  expect((await runner.schedules()).items.map(({ id }) => id)).toEqual(['report'])
})

test('a context outside a conversation says that it cannot schedule, and wrong limits are refused', async () => {
  const schedule = createToolContext().schedule({ message: 'Check.', every: 60_000 })
  await expect(schedule).rejects.toThrow('Call runner.schedule() instead')
  const create = (allowScheduling: never) => () => new LlmAgent({ name: 'desk', allowScheduling })
  expect(create({ maxSchedules: 0 } as never)).toThrow('maxSchedules must be a whole number >= 1')
  expect(create('yes' as never)).toThrow('allowScheduling must be true, false or')
})
