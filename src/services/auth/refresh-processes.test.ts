import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test, vi } from 'vitest'
import { OtherProcess } from '../../apps/sqlite/other-process.test-kit.ts'
import { sqlite } from '../../apps/sqlite/sqlite.ts'
import { temporaryFile } from '../../apps/sqlite/temporary-file.test-kit.ts'
import { createTestServices, signIn } from './auth-services.test-kit.ts'
import { startAuthorizationServer } from './authorization-server.test-kit.ts'
import { type CredentialOutcome, resolveCredential } from './resolve-credential.ts'

vi.setConfig({ testTimeout: 60_000 }) // processes start slowly on a busy machine

const PROGRAM = fileURLToPath(new URL('../../apps/sqlite/refresh-process-program.test-kit.ts', import.meta.url))
const HOURS = 3600_000

async function startProcess(file: string): Promise<OtherProcess> {
  const child = fork(PROGRAM, { execArgv: ['--conditions=toolwright:source', '--disable-warning=ExperimentalWarning'] })
  const other = new OtherProcess(child)
  onTestFinished(() => other.kill())
  await other.do('open', file)
  return other
}

const accessTokenOf = (outcome: CredentialOutcome | undefined): string | undefined =>
  outcome?.status === 'ready' ? outcome.credential.oauth2?.accessToken : undefined

test('5 processes with 10 calls each and an expired token cause one refresh, and the token family stays alive', async () => {
  await using server = await startAuthorizationServer()
  const file = temporaryFile()
  using store = sqlite(file)
  const services = createTestServices({ credentialService: store.credentialService })
  const config = await signIn(services, server.openIdConfig(), 'mail')
  const processes = await Promise.all(Array.from({ length: 5 }, () => startProcess(file)))
  for (const hours of [2, 4]) {
    const options = { config, shift: hours * HOURS, calls: 10, dies: false }
    const results = await Promise.all(processes.map((one) => one.do<CredentialOutcome[]>('resolve', options)))
    const tokens = new Set(results.flat().map(accessTokenOf))
    expect([results.flat().length, tokens.size]).toEqual([50, 1])
    expect(await server.useToken([...tokens][0] ?? '')).toBe(200)
    expect(server.countTokenRequests('refresh_token')).toBe(hours / 2)
  }
  expect(server.tokenRequests.map(({ error }) => error)).toEqual([undefined, undefined, undefined])
})

test('a process that is killed during a refresh does not block the others: one retry, then consent is needed', async () => {
  await using server = await startAuthorizationServer()
  const file = temporaryFile()
  using store = sqlite(file)
  const services = createTestServices({ credentialService: store.credentialService })
  const config = await signIn(services, server.oauth2Config(), 'mail')
  const dying = await startProcess(file)
  const killed = dying.do('resolve', { config, shift: 2 * HOURS, calls: 3, dies: true })
  await expect(killed).rejects.toThrow('The process has ended')
  expect(await services.load('refresh:mail')).toMatchObject({ credential: { authType: 'refreshLock' } })
  services.advance(2 * 3600 + 31)
  for (let call = 0; call < 3; call++) {
    expect(await resolveCredential(services, 'mail', config)).toEqual({ status: 'needs-auth' })
  }
  const refreshes = server.tokenRequests.filter(({ grant }) => grant === 'refresh_token')
  expect(refreshes.map(({ error }) => error)).toEqual([undefined, 'invalid_grant'])
})
