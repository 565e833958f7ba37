// A log that is copied byte for byte into another session: what was approved there is not approved here.
import { approve, respond, type SessionService, tool } from 'toolwright'
import type { Entry, LogRecord, NewEntry } from 'toolwright/store'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { refundReply, refundTool, requestFor, sendMessage, startProcess, stores, where } from './approvals-kit.ts'
import { collect } from './kit.ts'

const origin = { appName: 'app', ...where }

/** Copies the entries that `isCopied` accepts into another session, as a script over the database would. */
async function copyRows(
  store: SessionService,
  target: { userId: string; sessionId: string },
  edit: (entry: Entry) => NewEntry | undefined,
): Promise<void> {
  const page = await store.readLog?.(origin)
  await store.createSession({ appName: 'app', ...target })
  const lease = await store.claim({ appName: 'app', ...target })
  await store.append(lease, 0, page?.entries.flatMap((entry) => edit(entry) ?? []) ?? [])
  await store.release(lease, { interrupted: true })
}

/** The entries up to the approval: the call has been approved and has not run. */
const untilApproval = ({ event, record }: Entry): NewEntry | undefined => {
  if (record) return record.type === 'intent' ? undefined : { record }
  return event.content?.role === 'tool' || event.content?.parts.some(({ text }) => text === 'Done.')
    ? undefined
    : { event }
}

/** The entries as an earlier version has written them. */
const ofEarlierVersion = (entry: Entry): NewEntry | undefined => {
  if (entry.record?.type !== 'request') return untilApproval(entry)
  const { session: _, ...record } = entry.record
  return { record: record as LogRecord }
}

describe.each(stores)('an approval in another session, with sessions %s', (_, open) => {
  test.each([
    ['another session', { userId: 'ada', sessionId: 's2' }],
    ['another user', { userId: 'bob', sessionId: 's1' }],
  ])('does not count after its rows were copied to %s, and is requested again', async (_, target) => {
    const store = open()
    const { refund, run } = refundTool({ effect: 'none' })
    const { runner } = startProcess(store, { tools: [refund], steps: [refundReply(5), 'Done.', 'Done again.'] })
    const { pending } = await sendMessage(runner)
    await sendMessage(runner, [approve(requestFor(pending))])
    expect(run).toHaveBeenCalledTimes(1)

    await copyRows(store, target, untilApproval)
    for (const one of await runner.recover()) await collect(one)
    expect(run).toHaveBeenCalledTimes(1)
    const asked = requestFor(await runner.pending(target))
    expect(asked.hint).toContain('another session')
    const { text } = await runner.complete({ ...target, message: [approve(asked)] })
    expect([text, run.mock.calls.length]).toEqual(['Done again.', 2])
  })

  test('does not count for a request that was copied while it was open', async () => {
    const store = open()
    const { refund, run } = refundTool()
    const { runner } = startProcess(store, { tools: [refund], steps: [refundReply(5), 'Done.'] })
    const { pending } = await sendMessage(runner)
    const target = { userId: 'ada', sessionId: 's2' }
    await copyRows(store, target, untilApproval)
    const answered = await runner.complete({ ...target, message: [approve(requestFor(pending))] })
    expect(run).not.toHaveBeenCalled()
    expect(answered.pending).toHaveLength(1)
    await sendMessage(runner, [approve(requestFor(pending))])
    expect(run).toHaveBeenCalledTimes(1)
  })

  test('does not count if a body requested it, and input of another session is requested again', async () => {
    const store = open()
    const ran: unknown[] = []
    const pay = tool({
      name: 'pay',
      description: 'Pay',
      effect: 'none',
      run: (_args, context) => {
        const to = context.requestInput<string>({ key: 'to', message: 'To whom?', schema: z.string() })
        if (to === undefined) return {}
        if (!context.toolConfirmation) return void context.requestConfirmation({ hint: `Pay ${to}?` })
        ran.push(to)
        return { paid: to }
      },
    })
    const steps = [{ calls: [{ name: 'pay' }] }, 'Done.', 'Done again.']
    const { runner } = startProcess(store, { tools: [pay], steps })
    const answerAll = async (to: string, key: { userId: string; sessionId: string }) => {
      const [input] = await runner.pending(key)
      await runner.complete({ ...key, message: [respond(input as never, to)] })
      const [confirmation] = await runner.pending(key)
      return await runner.complete({ ...key, message: [approve(confirmation as never)] })
    }
    await sendMessage(runner)
    await answerAll('eve', where)
    expect(ran).toEqual(['eve'])

    const target = { userId: 'ada', sessionId: 's2' }
    await copyRows(store, target, untilApproval)
    for (const one of await runner.recover()) await collect(one)
    expect(ran).toEqual(['eve'])
    await answerAll('bob', target)
    expect(ran).toEqual(['eve', 'bob'])
  })

  test('counts in a log of an earlier version, whose requests name no session', async () => {
    const store = open()
    const { refund, run } = refundTool()
    const { runner } = startProcess(store, { tools: [refund], steps: [refundReply(5), 'Done.'] })
    const { pending } = await sendMessage(runner)
    const old = { userId: 'ada', sessionId: 'old' }
    await copyRows(store, old, ofEarlierVersion)
    const { text } = await runner.complete({ ...old, message: [approve(requestFor(pending))] })
    expect([text, run.mock.calls.length]).toEqual(['Done.', 1])
  })

  test('does not count in a fork of a log of an earlier version', async () => {
    const store = open()
    const { refund } = refundTool()
    const { runner } = startProcess(store, { tools: [refund], steps: [refundReply(5), 'Done.', 'Hello.'] })
    const { pending } = await sendMessage(runner)
    await sendMessage(runner, [approve(requestFor(pending))])
    const old = { userId: 'ada', sessionId: 'old' }
    await copyRows(store, old, ofEarlierVersion)
    await runner.cancel(old)
    const { invocationId } = await runner.complete({ ...old, message: 'Hi' })
    const { sessionId } = await runner.fork({ ...old, before: invocationId })
    const page = await store.readLog?.({ appName: 'app', userId: 'ada', sessionId })
    const requests = page?.entries.flatMap(({ record }) => (record?.type === 'request' ? record : [])) ?? []
    expect(requests.map(({ session }) => session?.sessionId)).toEqual(['old'])
  })
})
