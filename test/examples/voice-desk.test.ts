// Runs examples/voice-desk: a whole call against the local server, with an approved and with a denied payment.
import { spawnSync } from 'node:child_process'
import { on, once } from 'node:events'
import { globSync, readFileSync } from 'node:fs'
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { Child, type Ended, node, withoutKeys } from './child.ts'

vi.setConfig({ testTimeout: 30_000, hookTimeout: 30_000 }) // processes start slowly on a busy machine

const MAIN = 'examples/voice-desk/main.ts'
const linesOf = (out: string): string[] => out.split(/\r?\n/)
const paidIn = (out: string): string[] => linesOf(out).filter((line) => line.startsWith('[bank]'))

/** The lines that contain these texts, in this order. Fails if one is missing. */
function expectInOrder(out: string, texts: readonly string[]): void {
  let from = 0
  for (const text of texts) {
    const at = out.indexOf(text, from)
    expect(at, `"${text}" is missing, or out of order, in:\n${out}`).toBeGreaterThanOrEqual(from)
    from = at + text.length
  }
}

/** The call whose payment is approved. */
let approved: Ended
beforeAll(async () => {
  approved = await node([MAIN])
})

test('examples/voice-desk prints the conversation, pays once and only after the confirmation, and exits with 0', () => {
  const { code, out, errors } = approved
  expectInOrder(out, [
    'Caller: Hello, I would like to pay my bill.\nDesk:   Gladly.',
    'Caller: A-7, and 1815.\n',
    '  call verify_identity {"account":"A-7","birthYear":1815}\n',
    '  done verify_identity {"verified":true,',
    '  phase verify -> negotiate\n',
    '  call search_plans {}\n',
    '  call agree_plan {"months":6}\n',
    '  phase negotiate -> arrange\n',
    '  call take_payment {"amount":50}\n',
    '[confirmation] Charge 50 EUR now? yes\n',
    '[bank] 50 EUR from A-7, key ',
    '[ledger] 300 -> 250 EUR\n',
    '  done take_payment {"paid":50,"balance":250}\n',
    'Desk:   It is paid. You still owe 250 EUR.\n',
    'Caller: Thank you, goodbye.\n',
    '  done hang_up {"ended":true}\n',
  ])
  expect(paidIn(out)).toHaveLength(1)
  expect({ code, errors }).toEqual({ code: 0, errors: '' })
})

test('examples/voice-desk lets the model speak while the search runs, and then tells it the result', () => {
  const { out } = approved
  const call = '  call search_plans {}\n'
  expectInOrder(out, [call, '  ...  search_plans: reading the rules\n', '  done search_plans {"plans":[{"months":3,'])
  expectInOrder(out, [call, 'Desk:   Thank you, Ada. I am looking for plans.', 'Desk:   The search is completed.'])
})

test('examples/voice-desk refuses a payment in the phase that verifies the identity', () => {
  const { out } = approved
  expectInOrder(out, [
    '  call take_payment {"amount":300}\n',
    `  done take_payment {"error":"Tool 'take_payment' is not available in the current conversation phase."}\n`,
    '  call verify_identity',
  ])
  expect(out).not.toContain('Charge 300 EUR')
})

test('examples/voice-desk pays nothing after a denial, and the model says the reason', async () => {
  const { code, out } = await node([MAIN, '--deny', 'Not today.'])
  expectInOrder(out, [
    '[confirmation] Charge 50 EUR now? no\n',
    '  done take_payment {"error":"tool call was rejected by the user: Not today.","errorCode":"CANCELLED"}\n',
    'Desk:   I cannot charge it: tool call was rejected by the user: Not today.\n',
  ])
  expect(paidIn(out)).toEqual([])
  expect(out).not.toContain('[ledger] 300 -> 250')
  expect(code).toBe(0)
})

const hasTerminal = process.platform === 'linux' && spawnSync('script', ['--version']).status === 0
if (!hasTerminal)
  console.warn('NOT TESTED: the confirmation in a terminal, which needs Linux and the program "script".')

test.skipIf(!hasTerminal).each([
  ['y', 1],
  ['n', 0],
])('examples/voice-desk asks at the terminal, and "%s" leads to %i payments', async (answer, payments) => {
  const command = [process.execPath, '--conditions=toolwright:source', MAIN].join(' ')
  const child = new Child(['script', '-qec', command, '/dev/null'])
  onTestFinished(() => void child.process.kill('SIGKILL'))
  await child.until('? Charge 50 EUR now? (y/n) ')
  expect(paidIn(child.out)).toEqual([])
  child.process.stdin?.write(`${answer}\r`)
  const { code, out } = await child.ended
  expect(paidIn(out)).toHaveLength(payments)
  expect(out).toContain('Caller: Thank you, goodbye.')
  expect(code).toBe(0)
})

test.each(globSync('examples/voice-desk/*.ts'))(
  '%s has at most 80 lines and starts with a comment about its purpose',
  (file) => {
    const text = readFileSync(file, 'utf8')
    expect(text).toMatch(/^\/\/ .{20,}/)
    expect(text.split('\n').length).toBeLessThanOrEqual(80)
  },
)

test('examples/voice-desk in the workbench speaks, follows its phases and asks before it charges', async () => {
  const args = [
    '--conditions=toolwright:source',
    'src/apps/cli/index.ts',
    'serve',
    'examples/voice-desk',
    '--port',
    '0',
  ]
  const child = new Child([process.execPath, ...args], { ...withoutKeys(), TOOLWRIGHT_TOKEN: '' })
  onTestFinished(() => void child.process.kill('SIGKILL'))
  await child.until('Stop        Ctrl+C')
  const url = /^Serving +(\S+)$/m.exec(child.out)?.[1] ?? ''
  const headers = { authorization: `Bearer ${/^Token +(\S+)$/m.exec(child.out)?.[1]}` }
  await fetch(`${url}/apps/voice-desk/users/ada/sessions/s1`, { method: 'POST', headers })
  const query = 'app_name=voice-desk&user_id=ada&session_id=s1&frames=live'
  const socket = new WebSocket(`${url.replace('http', 'ws')}/run_live?${query}`, { headers })
  await once(socket, 'open')
  const seen: string[] = []
  let said = 0
  const caller = ['Hello.', 'A-7, and 1815.', 'About fifty.', 'Yes.']
  const speak = (): void => socket.send(JSON.stringify({ content: { parts: [{ text: caller[said++] ?? 'Bye.' }] } }))
  speak()
  for await (const [data] of on(socket, 'message', { close: ['close'] })) {
    const { type, to, request } = JSON.parse(String(data))
    seen.push(to ?? request?.tool ?? type)
    if (type === 'turnComplete') speak()
    if (type === 'request') break
  }
  socket.close()
  expect(seen).toEqual(expect.arrayContaining(['negotiate', 'arrange']))
  expect(seen.at(-1)).toBe('take_payment')
  expect(child.out).not.toContain('[bank]')
  child.process.kill('SIGTERM')
  expect((await child.ended).code).toBe(0)
})
